/** The units of a switchback plan as rows of time, each with its part of the units. */
export interface PlannedUnit {
  index: number;
  duration_minutes: number;
  instance_id: string;
}

/** A part of a unit in one row. */
export interface Segment {
  unit: PlannedUnit;
  start: number;
  end: number;
  /** true where the unit starts here, and another instance served before it. */
  isSwitch: boolean;
  /** true where the unit starts here. */
  isStart: boolean;
}

export interface PlanRow {
  start: number;
  segments: readonly Segment[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Days of a row: a day, a week, and whole weeks for longer plans. */
const ROW_DAYS = [1, 7, 28, 91, 364];
const ROWS_MAX = 8;

/** Returns the rows from the start of the plan in milliseconds, and the length of each. A plan of less than a day fills one. */
export function listRows(
  units: readonly PlannedUnit[],
  start: number,
): { rows: PlanRow[]; length: number; days: number } {
  const total = units.reduce((sum, { duration_minutes }) => sum + duration_minutes * MINUTE_MS, 0);
  const days =
    ROW_DAYS.find((one) => Math.ceil(total / (one * DAY_MS)) <= ROWS_MAX) ?? Number(ROW_DAYS.at(-1));
  const length = total < DAY_MS ? Math.max(total, MINUTE_MS) : days * DAY_MS;
  const rows = Array.from({ length: Math.max(1, Math.ceil(total / length)) }, (_, index) => ({
    start: start + index * length,
    segments: [] as Segment[],
  }));
  let time = start;
  for (const [place, unit] of units.entries()) {
    const end = time + unit.duration_minutes * MINUTE_MS;
    for (const row of rows) {
      const from = Math.max(time, row.start);
      const to = Math.min(end, row.start + length);
      if (from >= to) continue;
      const isStart = from === time;
      const before = units[place - 1]?.instance_id ?? unit.instance_id;
      row.segments.push({
        ...{ unit, start: from, end: to, isStart },
        isSwitch: isStart && before !== unit.instance_id,
      });
    }
    time = end;
  }
  return { rows, length, days };
}
