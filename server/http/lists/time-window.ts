/** The time that a list is asked for. */
import { LIST_WINDOW_DEFAULT_MS } from '@switchyard/contract/limits.ts';
import { badRequest, quoteValue } from '../errors/problem.ts';

export interface WindowQueryValues {
  start?: string;
  end?: string;
}

/**
 * From its start on and before its end, in milliseconds; throws the 400 for one that ends before it begins. `lengthMs` is how
 * long it is before its end when no start is given; `now` is the end when none is given.
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
      `start is ${quoteValue(query.start)}, which is not before end, ${quoteValue(query.end)}.`,
    );
  return { start, end };
}
