/**
 * Makes the interval of a mean effect agree with the test of sign flips, so that the interval that is shown decides.
 *
 * The interval of bootstrap.ts knows skewed effects, and the test heavy tails. They disagree about 0 in a few per cent of
 * experiments. Then the end next to 0 becomes that of the test: the shift that it just does not reject. There is one
 * exception. Effects with a long tail against their mean may come from a population of mean 0, where the long tail was
 * seldom seen, and the test assumes symmetry. For such effects the interval stays, and there is no verdict.
 *
 * With more than 20 effects, the tail is long when the mean is nearer to 0 than the median, by more than 80 % of normal
 * samples have by chance. That is the test of Miao, Gel and Gastwirth (Random Walk, Sequential Analysis and Related Topics
 * 2006). It is over the effects that are not 0, because with many ties the median is 0.
 *
 * Up to 20 effects, the farthest ones say more than that: the tail is long when it reaches `REACH_RATIO_MAX` times as far from
 * the median as the other one. At equal shares of wrong verdicts on skewed effects, the power is up to 3 points higher.
 */
import { estimateMeanInterval, type Interval, type Resampler } from '../bootstrap.ts';
import { computeNormalQuantile } from '../distributions.ts';
import { SMALL_UNITS_MAX } from '../error-rates.ts';
import { interpolatePercentile, mean, standardDeviation } from '../numbers.ts';
import { findNearEnd, testSignFlips } from '../sign-flips.ts';

/** Share of symmetric samples whose tail counts as long. */
const LONG_TAIL_SHARE = 0.2;
const LONG_TAIL_SCORE = computeNormalQuantile(1 - LONG_TAIL_SHARE);
/** Standard deviation of the root of n times (mean − median) / J in normal samples. */
const ASYMMETRY_DEVIATION = Math.sqrt(Math.PI / 2 - 1);

/** Up to 20 effects: the farthest effect on one side is so many times as far from the median as that on the other. */
const REACH_RATIO_MAX = 2.3;
/** Up to 20 changes: their mean is nearer to 0 than their median by more than this share of its standard error. */
const SHIFT_MAX = 0.65;
/** Up to 20 changes: their mean is at least this share of the typical change. */
const MEAN_SHARE_MIN = 0.95;

/** Returns true when the effects of the mean's sign have a longer tail on the other side. */
function hasOpposingTail(effects: Float64Array, sign: number): boolean {
  const differing = effects.filter((effect) => effect !== 0).sort();
  if (differing.length === 0) return false;
  const median = interpolatePercentile(differing, 50);
  const deviations = differing.map((effect) => (effect - median) * sign);
  if (effects.length <= SMALL_UNITS_MAX)
    return -Math.min(...deviations) > REACH_RATIO_MAX * Math.max(...deviations);
  const spread = Math.sqrt(Math.PI / 2) * mean(deviations.map(Math.abs));
  if (spread === 0) return false;
  const score = (Math.sqrt(differing.length) * mean(deviations)) / spread / ASYMMETRY_DEVIATION;
  return score < -LONG_TAIL_SCORE;
}

/**
 * Returns true when the mean of few changes is nearer to 0 than the typical change, which the logarithms have, and nearer than
 * the median. Changes that spread much are so, because the gain of one and the loss of another are no equal logarithms.
 */
function isMeanReduced(changes: Float64Array, sign: number): boolean {
  if (changes.length > SMALL_UNITS_MAX) return false;
  const typical = mean(changes.map(Math.log1p));
  if (Math.log1p(mean(changes)) * sign > MEAN_SHARE_MIN * typical * sign) return false;
  const differing = changes.filter((change) => change !== 0).sort();
  const error = standardDeviation(differing) / Math.sqrt(differing.length);
  return (mean(differing) - interpolatePercentile(differing, 50)) * sign < -SHIFT_MAX * error;
}

/** Returns the interval of independent effects whose end next to 0 agrees with the test of sign flips. */
export function reconcileInterval(
  interval: Interval,
  effects: Float64Array,
  { resampler, errorRate }: { resampler: Resampler; errorRate: number },
): Interval {
  const { p_value, sign } = testSignFlips(effects, resampler.flips);
  const excludesZero = interval.low > 0 || interval.high < 0;
  if (sign === 0 || p_value <= errorRate === excludesZero) return interval;
  if (!excludesZero && hasOpposingTail(effects, sign)) return interval;
  const end =
    findNearEnd(effects, errorRate, resampler.flips) ?? approximateNearEnd(effects, p_value, errorRate);
  if (end === null) return interval;
  return sign > 0 ? { ...interval, low: end } : { ...interval, high: end };
}

/**
 * Returns the end next to 0 where the test rejects the mean too, because most effects are equal and others are far from them.
 * It is the test-based one of Miettinen (American Journal of Epidemiology 1976), which agrees with the test about 0. Null
 * where the test does not reject 0.
 */
function approximateNearEnd(effects: Float64Array, p_value: number, errorRate: number): number | null {
  if (p_value > errorRate) return null;
  return mean(effects) * (1 - computeNormalQuantile(errorRate / 2) / computeNormalQuantile(p_value / 2));
}

/** Returns true for changes with a mean of this sign whose interval excludes 0, or that no losses put in doubt. */
export function isMeanConclusive(changes: Float64Array, sign: number, resampler: Resampler): boolean {
  const found = estimateMeanInterval(changes, resampler);
  if (found === null || (sign > 0 ? found.low > 0 : found.high < 0)) return true;
  return mean(changes) * sign > 0 && !hasOpposingTail(changes, sign) && !isMeanReduced(changes, sign);
}
