/** The time window of a list: the query parameters `start` and `end`. */
import { LIST_WINDOW_DEFAULT_MS } from '@switchyard/contract/limits.ts';
import { badRequest, quoteValue } from '../errors/problem.ts';

/** The query parameters of the window, as RFC 3339. */
export interface WindowQueryValues {
  start?: string;
  end?: string;
}

/**
 * Returns the window in milliseconds since the epoch: `start` belongs to it, `end` does not. Without an end the window is
 * open. Without a start it begins `lengthMs` before its end, or before `now`. Throws a 400 unless start is before end.
 */
export function parseTimeWindow(
  query: WindowQueryValues,
  now: number,
  lengthMs = LIST_WINDOW_DEFAULT_MS,
): { start: number; end: number } {
  const end = query.end === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(query.end);
  const start =
    query.start === undefined
      ? Math.max(Number.MIN_SAFE_INTEGER, (query.end === undefined ? now : end) - lengthMs)
      : Date.parse(query.start);
  if (start >= end)
    throw badRequest(
      `start is ${quoteValue(query.start)}, which is not before end, ${quoteValue(query.end)}; give a start before the end.`,
    );
  return { start, end };
}
