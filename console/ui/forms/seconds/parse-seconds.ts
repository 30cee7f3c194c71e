/** Durations of runs in seconds, as forms have them: a text, empty for none. */
import { MAX_DURATION_SECONDS_MAX } from '@switchyard/contract/limits.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';

/** Returns the number of seconds in the text; NaN for a text that `findSecondsError` refuses. */
export function parseSeconds(text: string): number {
  return findSecondsError(text) === null ? Number(text) : Number.NaN;
}

/** Returns the error of a maximum duration in seconds; null for a valid or an empty one. */
export function findSecondsError(text: string): string | null {
  const trimmed = text.trim();
  const seconds = /^\d{1,9}$/.test(trimmed) ? Number(trimmed) : 0;
  if (trimmed === '' || (seconds >= 1 && seconds <= MAX_DURATION_SECONDS_MAX)) return null;
  return `"${trimmed}" is no duration in seconds. Enter a whole number from 1 to ${formatNumber(MAX_DURATION_SECONDS_MAX)}, such as 300 for 5 minutes.`;
}
