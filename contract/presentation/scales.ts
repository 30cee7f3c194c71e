/** Positions of values in a picture, and round values for its axes. */
import { escapeInvisible } from './escape-invisible.ts';

/** Returns the position of a value in the range. A domain without width stands in the middle. */
export type Scale = (value: number) => number;

/** Returns the scale that maps the domain to the range in proportion. */
export function buildScale(
  [low, high]: readonly [number, number],
  [start, end]: readonly [number, number],
): Scale {
  const span = high - low;
  return (value) => (span === 0 ? (start + end) / 2 : start + ((value - low) / span) * (end - start));
}

/** Returns the round values (1, 2 or 5 times a power of ten) from low to high, about `count` of them. */
export function listTicks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // A product of whole numbers has no rounding errors that add up, and no -0.
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step + 0).toPrecision(12)),
  );
}

/** Returns the range of the numbers; `[0, 0]` without any. */
export function findExtent(values: Iterable<number>): [low: number, high: number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? [0, 0] : [low, high];
}

/** Shortens a label to about the width in pixels, for text of 12 px. */
export function truncateLabel(text: string, width: number): string {
  const label = escapeInvisible(text);
  const chars = Math.max(Math.floor(width / CHAR_PX), 4);
  return label.length <= chars ? label : `${label.slice(0, chars - 1).toWellFormed()}…`;
}

/** Mean width of a character of 12 px in the fonts of the console. */
const CHAR_PX = 6.6;
