/**
 * A first roster in no time: the seats with the fewest candidates first, each given to whoever lacks minimum hours and
 * has the fewest skills to get them with, then costs least, then has the most contract hours left. It never breaks a
 * rule except, possibly, the minimum hours.
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
        .map((employee) => ({ employee, rank: rankOf(problem, roster, employee, shift) }))
        .filter(({ rank }) => rank.cost <= penalty || rank.lacking > 0)
        .sort(
          (a, b) =>
            Number(b.rank.lacking > 0) - Number(a.rank.lacking > 0) ||
            (a.rank.lacking > 0 ? a.employee.skills.length - b.employee.skills.length : 0) ||
            b.rank.lacking - a.rank.lacking ||
            a.rank.cost - b.rank.cost ||
            b.rank.hoursLeft - a.rank.hoursLeft,
        );
      const chosen = ranked[0];
      if (!chosen) break;
      roster.push({ employee: chosen.employee, shift, skill });
    }
  }
  return roster;
}

/** Whether every employee reaches the minimum hours, the one rule that greedyRoster does not promise. */
export function reachesMinimumHours(problem: Problem, roster: readonly Assignment[]): boolean {
  return problem.employees.every((employee) => sumHours(employee, roster) >= employee.hoursMinimum);
}

function rankOf(problem: Problem, roster: readonly Assignment[], employee: Employee, shift: Shift) {
  const hours = sumHours(employee, roster);
  const hoursLeft = employee.hoursContract - hours;
  const overtimeHours = Math.max(0, shift.hours - Math.max(0, hoursLeft));
  const cost = (employee.preferences.get(shift.id) ?? 0) + overtimeHours * problem.overtimePerHour;
  return { cost, hoursLeft, lacking: Math.max(0, employee.hoursMinimum - hours) };
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
