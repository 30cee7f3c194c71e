/**
 * The roster as a mixed-integer model. It has a 0/1 column for each possible combination of employee, shift and skill, and
 * a whole-number column for the missing people of each demand. Each employee has a column for the overtime.
 */
import { type Employee, isAvailable, type Problem, startDay } from './input.ts';
import { MipBuilder, type MipModel, type Term } from './mip.ts';
import { type Assignment, computeOvertime, type Weights } from './roster.ts';

export interface RosterModel {
  mip: MipModel;
  /** Returns the roster of column values. */
  toRoster(columns: Float64Array): Assignment[];
  /** Returns column values for a roster that satisfies every rule. */
  toColumns(roster: readonly Assignment[]): Float64Array;
  /** Returns the hours of each employee below the minimum; all zero unless the model has `shortfall`. */
  computeShortfalls(columns: Float64Array): { employee: Employee; hours: number }[];
}

interface SeatColumn extends Assignment {
  column: number;
}

/** Computes the value of a column for a given roster. */
type Valuation = (roster: readonly Assignment[]) => number;

/**
 * Builds the model. With `shortfall` the minimum hours are optional, and the objective is only the total of missing hours.
 * That model always has a solution, which shows the employees that cannot reach the minimum.
 */
export function buildModel(problem: Problem, weights: Weights, shortfall = false): RosterModel {
  const builder = new MipBuilder();
  const valuations = new Map<number, Valuation>();
  const priced = shortfall ? 0 : 1;

  const seats: SeatColumn[] = [];
  for (const employee of problem.employees) {
    for (const shift of problem.shifts) {
      if (!isAvailable(employee, shift)) continue;
      for (const { skill, count } of shift.demand) {
        if (count === 0 || !employee.skills.includes(skill)) continue;
        const column = builder.addBinaryColumn(
          priced * weights.preference * (employee.preferences.get(shift.id) ?? 0),
        );
        seats.push({ employee, shift, skill, column });
        valuations.set(column, (roster) =>
          roster.some((s) => s.employee === employee && s.shift === shift && s.skill === skill) ? 1 : 0,
        );
      }
    }
  }

  for (const shift of problem.shifts) {
    for (const { skill, count, penalty } of shift.demand) {
      const missing = builder.addColumn(priced * weights.uncovered * penalty, 0, count);
      const filled = seats.filter((seat) => seat.shift === shift && seat.skill === skill);
      builder.addRow(count, count, [[missing, 1], ...filled.map((seat): Term => [seat.column, 1])]);
      valuations.set(
        missing,
        (roster) => count - roster.filter((s) => s.shift === shift && s.skill === skill).length,
      );
    }
  }

  const shortfallColumns = new Map<Employee, number>();
  for (const employee of problem.employees) {
    const own = seats.filter((seat) => seat.employee === employee);
    const hours = own.map((seat): Term => [seat.column, seat.shift.hours]);
    const overtimeMaximum = Math.max(0, employee.hoursMaximum - employee.hoursContract);
    const overtimeCost = priced * weights.overtime * problem.overtimePerHour;
    const overtime = builder.addColumn(overtimeCost, 0, overtimeMaximum, false);
    builder.addRow(Number.NEGATIVE_INFINITY, employee.hoursContract, [...hours, [overtime, -1]]);
    valuations.set(overtime, (roster) => computeOvertime(employee, roster));

    builder.addRow(Number.NEGATIVE_INFINITY, employee.hoursMaximum, hours);
    if (employee.hoursMinimum > 0) {
      const below = builder.addColumn(1, 0, shortfall ? employee.hoursMinimum : 0, false);
      shortfallColumns.set(employee, below);
      builder.addRow(employee.hoursMinimum, Number.POSITIVE_INFINITY, [...hours, [below, 1]]);
    }
    addRestRows(builder, own, problem.restMinutes);
    for (const [day, column] of addConsecutiveDayRows(builder, own, problem.consecutiveDaysMaximum)) {
      valuations.set(column, (roster) =>
        roster.some((s) => s.employee === employee && startDay(s.shift) === day) ? 1 : 0,
      );
    }
  }

  const mip = builder.build();
  return {
    mip,
    toRoster: (columns) => seats.filter((seat) => (columns[seat.column] ?? 0) > 0.5),
    toColumns: (roster) => Float64Array.from(mip.cost, (_, column) => valuations.get(column)?.(roster) ?? 0),
    computeShortfalls: (columns) =>
      [...shortfallColumns].map(([employee, column]) => ({ employee, hours: columns[column] ?? 0 })),
  };
}

/**
 * Two shifts exclude each other when one starts before the other has ended and the rest has passed. These times are
 * intervals on a line, so "at most one of all shifts whose interval covers this start" implies all pairs, with a tighter
 * relaxation.
 */
function addRestRows(builder: MipBuilder, own: readonly SeatColumn[], restMinutes: number): void {
  const starts = new Set(own.map((seat) => seat.shift.start));
  for (const start of starts) {
    const together = own.filter(({ shift }) => shift.start <= start && start < shift.end + restMinutes);
    if (together.length > 1) {
      const terms = together.map((seat): Term => [seat.column, 1]);
      builder.addRow(Number.NEGATIVE_INFINITY, 1, terms);
    }
  }
}

/** Adds a column for each day, 1 when a shift that starts on it is worked, and limits every window of days. Returns the columns by day. */
function addConsecutiveDayRows(
  builder: MipBuilder,
  own: readonly SeatColumn[],
  maximum: number,
): Map<number, number> {
  const columns = new Map<number, number>();
  const days = new Set(own.map((seat) => startDay(seat.shift)));
  if (days.size <= maximum) return columns;
  for (const day of days) {
    const worked = builder.addColumn(0, 0, 1, false);
    columns.set(day, worked);
    for (const { shift, column } of own) {
      if (startDay(shift) !== day) continue;
      builder.addRow(Number.NEGATIVE_INFINITY, 0, [
        [column, 1],
        [worked, -1],
      ]);
    }
  }
  for (const first of days) {
    const window = Array.from({ length: maximum + 1 }, (_, index) => columns.get(first + index));
    const terms = window.flatMap((column): Term[] => (column === undefined ? [] : [[column, 1]]));
    if (terms.length > maximum) builder.addRow(Number.NEGATIVE_INFINITY, maximum, terms);
  }
  return columns;
}
