/**
 * Checks a verdict on ratios against the mean of the relative changes.
 *
 * The mean log ratio is the change on a typical input. A candidate that is a little better on most inputs and much worse on
 * a few is better on the typical one, and not better on average. Of such candidates whose changes have the mean 0, up to
 * 28 % of 100 inputs were better by the logarithm alone.
 */
import type { Resampler } from '../bootstrap.ts';
import { CHANGE_MAX } from '../numbers.ts';
import type { PairedMeasurement } from './compare.ts';
import { isMeanConclusive } from './sign-flips/decisive-interval.ts';

/** Returns true if the typical change differs from 0 and the mean change is not shown to differ in the same direction. */
export function isMeanChangeOpen(
  {
    complete,
    effect,
    interval,
    measure,
  }: Pick<PairedMeasurement, 'complete' | 'effect' | 'interval' | 'measure'>,
  resampler: Resampler,
): boolean {
  if (measure === 'absolute' || effect === null || interval === null) return false;
  const sign = interval.low > 0 ? 1 : interval.high < 0 ? -1 : 0;
  const changes = complete.flatMap((unit) => (unit.effect === null ? [] : [Math.expm1(unit.effect)]));
  const bounded = Float64Array.from(changes, (change) => Math.min(change, CHANGE_MAX));
  return sign !== 0 && !isMeanConclusive(bounded, sign, resampler);
}
