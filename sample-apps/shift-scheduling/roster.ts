/** A roster is a list of filled seats; its cost is computed from it alone, never from the solver. */
import type { Employee, Problem, Shift } from './input.ts';

/** One employee working one shift in one of the skills it needs. */
export interface Assignment {
  employee: Employee;
  shift: Shift;
  skill: string;
}

/** Factors on the three parts of the cost, from the options. */
export interface Weights {
  uncovered: number;
  preference: number;
  overtime: number;
}

export interface Cost {
  total: number;
  uncovered: number;
  preference: number;
  overtime: number;
  missing: { shift: Shift; skill: string; count: number; penalty: number }[];
}

export function sumHours(employee: Employee, roster: readonly Assignment[]): number {
  return roster.reduce((sum, seat) => (seat.employee === employee ? sum + seat.shift.hours : sum), 0);
}

export function computeOvertime(employee: Employee, roster: readonly Assignment[]): number {
  return Math.max(0, sumHours(employee, roster) - employee.hoursContract);
}

/** Returns the weighted cost of a roster and its parts. */
export function rosterCost(problem: Problem, roster: readonly Assignment[], weights: Weights): Cost {
  const missing: Cost['missing'] = [];
  for (const shift of problem.shifts) {
    for (const { skill, count, penalty } of shift.demand) {
      const filled = roster.filter((seat) => seat.shift === shift && seat.skill === skill).length;
      if (filled < count) missing.push({ shift, skill, count: count - filled, penalty });
    }
  }
  const uncovered = weights.uncovered * missing.reduce((sum, gap) => sum + gap.count * gap.penalty, 0);
  const liking = roster.reduce((sum, seat) => sum + (seat.employee.preferences.get(seat.shift.id) ?? 0), 0);
  const overtimeHours = problem.employees.reduce(
    (sum, employee) => sum + computeOvertime(employee, roster),
    0,
  );
  const preference = weights.preference * liking;
  const overtime = weights.overtime * overtimeHours * problem.overtimePerHour;
  return { total: uncovered + preference + overtime, uncovered, preference, overtime, missing };
}
