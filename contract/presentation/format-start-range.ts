/** The range of a predicted start for people, in the console and on the command line. */
import { formatDuration } from './format-quantity.ts';

/** Times as text. */
interface StartRange {
  earliest: string;
  latest: string;
}

const SECOND_MS = 1_000;

/** Returns the range of a start from now, such as `in 20 s to 3 min 5 s`; in whole seconds, because it is an estimate. */
export function formatStartRange({ earliest, latest }: StartRange, now: number): string {
  const [from = 0, to = 0] = [earliest, latest].map(
    (time) => Math.round((Date.parse(time) - now) / SECOND_MS) * SECOND_MS,
  );
  if (to <= 0) return 'at any moment';
  if (from <= 0) return `within ${formatDuration(to)}`;
  return from === to ? `in ${formatDuration(to)}` : `in ${formatDuration(from)} to ${formatDuration(to)}`;
}
