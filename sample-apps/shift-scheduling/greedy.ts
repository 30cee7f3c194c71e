/**
 * Builds a first roster quickly. Seats with the fewest candidates come first. Each goes to an employee below the minimum
 * hours with the fewest skills, then to the cheapest one, then to the one with the most contract hours left. The roster
 * satisfies every rule except, possibly, the minimum hours.
 */
import { type Employee, isAvailable, type Problem, type Shift, startDay } from './input.ts';
import { type Assignment, sumHours } from './roster.ts';

export function buildGreedyRoster(problem: Problem): Assignment[] {
  const roster: Assignment[] = [];
  const open = problem.shifts.flatMap((shift) =>
    shift.demand.map(({ skill, count, penalty }) => {
      const able = problem.employees.filter((e) => e.skills.includes(skill) && isAvailable(e, shift));
      return { shift, skill, count, penalty, able };
    }),
  );
  open.sort((a, b) => a.able.length - a.count - (b.able.length - b.count));
  for (const { shift, skill, count, penalty, able } of open) {
    for (let seat = 0; seat < count; seat += 1) {
      const ranked = able
        .filter((employee) => mayWork(problem, roster, employee, shift))
        .map((employee) => ({ employee, rank: computeRank(problem, roster, employee, shift) }))
        .filter(({ rank }) => rank.cost <= penalty || rank.lacking > 0)
        .sort(
          (a, b) =>
            Number(b.rank.lacking > 0) - Number(a.rank.lacking > 0) ||
            (a.rank.lacking > 0 ? a.employee.skills.length - b.employee.skills.length : 0) ||
            b.rank.lacking - a.rank.lacking ||
            a.rank.cost - b.rank.cost ||
            b.rank.remainingHours - a.rank.remainingHours,
        );
      const chosen = ranked[0];
      if (!chosen) break;
      roster.push({ employee: chosen.employee, shift, skill });
    }
  }
  return roster;
}

/** Returns whether every employee reaches the minimum hours, the only rule that buildGreedyRoster may violate. */
export function reachesMinimumHours(problem: Problem, roster: readonly Assignment[]): boolean {
  return problem.employees.every((employee) => sumHours(employee, roster) >= employee.hoursMinimum);
}

function computeRank(problem: Problem, roster: readonly Assignment[], employee: Employee, shift: Shift) {
  const hours = sumHours(employee, roster);
  const remainingHours = employee.hoursContract - hours;
  const overtimeHours = Math.max(0, shift.hours - Math.max(0, remainingHours));
  const cost = (employee.preferences.get(shift.id) ?? 0) + overtimeHours * problem.overtimePerHour;
  return { cost, remainingHours, lacking: Math.max(0, employee.hoursMinimum - hours) };
}

function mayWork(problem: Problem, roster: readonly Assignment[], employee: Employee, shift: Shift): boolean {
  const own = roster.filter((seat) => seat.employee === employee).map((seat) => seat.shift);
  if (sumHours(employee, roster) + shift.hours > employee.hoursMaximum) return false;
  const rested = own.every(
    (other) =>
      other.start >= shift.end + problem.restMinutes || shift.start >= other.end + problem.restMinutes,
  );
  return rested && longestRunOfDays([...own, shift]) <= problem.consecutiveDaysMaximum;
}

function longestRunOfDays(shifts: readonly Shift[]): number {
  const days = [...new Set(shifts.map(startDay))].sort((a, b) => a - b);
  let longest = 0;
  let run = 0;
  days.forEach((day, index) => {
    run = days[index - 1] === day - 1 ? run + 1 : 1;
    longest = Math.max(longest, run);
  });
  return longest;
}
