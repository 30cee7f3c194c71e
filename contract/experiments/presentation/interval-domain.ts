/** The range of the axis of intervals. */
import { findExtent } from '../../presentation/scales.ts';
import type { Effect } from './effects.ts';

/** An interval this many times as far from 0 as the median one would hide the others. */
const FAR_FACTOR = 8;
const PADDING = 0.06;

/**
 * Returns the range that shows 0, the margins and the intervals. An interval that reaches much further than the others is
 * cut off.
 */
export function findDomain(effects: readonly Effect[]): [low: number, high: number] {
  const reaches = effects.map(findReach);
  const known = reaches.filter((reach) => reach > 0).toSorted((one, other) => one - other);
  const limit = (known[Math.floor((known.length - 1) / 2)] ?? 0) * FAR_FACTOR || Number.POSITIVE_INFINITY;
  const clamp = (value: number): number => Math.min(Math.max(value, -limit), limit);
  const [low, high] = findExtent(
    effects.flatMap(({ value, low, high, margin }) =>
      [0, value, low, high, margin?.low, margin?.high].flatMap((one) =>
        typeof one === 'number' ? [clamp(one)] : [],
      ),
    ),
  );
  const padding = (high - low || 1) * PADDING;
  return [low - padding, high + padding];
}

/** Returns the largest distance of the interval, or of the estimate alone, from 0. */
function findReach({ value, low, high }: Effect): number {
  return Math.max(...[value, low, high].map((one) => Math.abs(one ?? 0)));
}
