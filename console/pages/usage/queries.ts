import { operationQuery } from '../../client/queries.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Days in UTC, both included, such as `2026-11-20`. */
interface Days {
  from: string;
  to: string;
}

/** A range of the page, the one before it that is compared with it, and the end of its chart. */
interface UsageRange extends Days {
  chartEnd: string;
  before: Days;
}

const formatDay = (at: number): string => new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length);

/** Returns the last days, today included, and as many before them; without a number this month, and the same days of the last. */
export function findRange(days: number | undefined, now = Date.now()): UsageRange {
  const today = formatDay(now);
  if (days !== undefined) {
    const from = now - (days - 1) * DAY_MS;
    const before = { from: formatDay(from - days * DAY_MS), to: formatDay(from - DAY_MS) };
    return { from: formatDay(from), to: today, chartEnd: today, before };
  }
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const lastOfBefore = Date.UTC(year, month, 0);
  const sameDay = Math.min(day, new Date(lastOfBefore).getUTCDate());
  return {
    from: formatDay(Date.UTC(year, month, 1)),
    to: today,
    chartEnd: formatDay(Date.UTC(year, month + 1, 0)),
    before: {
      from: formatDay(Date.UTC(year, month - 1, 1)),
      to: formatDay(Date.UTC(year, month - 1, sameDay)),
    },
  };
}

/** The usage of the days by the group. */
export const usageQuery = ({ from, to }: Days, group_by: string) =>
  operationQuery('getUsage', { query: { from, to, group_by } });
