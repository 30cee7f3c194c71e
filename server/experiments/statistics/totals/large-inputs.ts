/**
 * The bound of a mean difference for inputs of very different sizes.
 *
 * Where differences grow with the size of an input, the largest inputs decide the mean, and a sample often has none of
 * them. Mean and spread of the sample are too small then. With sizes over two orders of magnitude, Student's t and the
 * bootstrap left 10 to 15 % of true means above the bound of 5 %.
 *
 * The differences follow a power of the size, as in variance models (Park, Econometrica 1966; Carroll and Ruppert,
 * Transformation and Weighting in Regression, 1988). The power is 0 where size makes no difference, and 1 for a constant
 * share. The bound is the product of two. The first is the 95 % bound of the ratio of the differences to these powers. The
 * second is the 97.5 % bound of the mean power, for lognormal sizes (modified Cox method; Olsson, Journal of Statistics
 * Education 2005). At most 5.3 % of the means were above the product in 6,000 experiments. With 95 % for the second bound,
 * there were 6.0 %. Differences that do not depend on the size lose no power.
 *
 * An interval has both bounds. With sizes over two orders of magnitude, at most 3.5 % of 1,900 intervals missed the mean, in
 * place of 12 to 17 %. A size that no input of the sample has is not seen.
 */
import { estimateRatioInterval, type Interval, type Resampler } from '../bootstrap.ts';
import { computeStudentTQuantile } from '../distributions.ts';
import { clamp, mean, sumSquaredDeviations } from '../numbers.ts';

/** An input with its size and the difference of the sides on it. */
export interface SizedDifference {
  size: number;
  difference: number;
}

/** With fewer differences, their growth with the size is unknown, and they count as shares of it. */
const GROWTH_INPUTS_MIN = 3;

/** Keeps a ratio to the smallest power finite. */
const POWER_MIN = 1e-150;

/**
 * Returns the interval of the mean difference with its ends moved away from 0 as far as sizes ask for. An end next to 0
 * stays: larger inputs elsewhere would only increase the difference.
 */
export function widenForLargeInputs(
  { low, high }: Interval,
  inputs: readonly SizedDifference[],
  { resampler, confidence }: { resampler: Resampler; confidence: number },
): Interval {
  const findEnd = (sign: 1 | -1): number => {
    const end = sign > 0 ? high : -low;
    if (end <= 0) return end;
    const oriented = inputs.map(({ size, difference }) => ({ size, difference: difference * sign }));
    return Math.max(end, boundMeanDifference(oriented, resampler, confidence) ?? end);
  };
  return { low: -findEnd(-1), high: findEnd(1) };
}

/**
 * Returns the upper bound of the mean difference over inputs of such sizes. It is null below five inputs, and when a size is
 * not above 0. `confidence` is that of a two-sided interval: 0.9 for a one-sided bound of 95 %.
 */
export function boundMeanDifference(
  inputs: readonly SizedDifference[],
  resampler: Resampler,
  confidence: number,
): number | null {
  if (inputs.some(({ size }) => !(size > 0))) return null;
  const logarithms = inputs.map(({ size }) => Math.log(size));
  const growth = estimateGrowth(inputs);
  const largest = Math.max(...logarithms);
  const exponents = logarithms.map((logarithm) => growth * (logarithm - largest));
  const powers = Float64Array.from(exponents, (exponent) => Math.max(POWER_MIN, Math.exp(exponent)));
  const differences = Float64Array.from(inputs, ({ difference }) => difference);
  const share = estimateRatioInterval(powers, differences, resampler, confidence)?.high ?? null;
  if (share === null) return null;
  const observed = mean(powers);
  if (share <= 0) return share * observed;
  return share * Math.max(observed, boundLognormalMean(exponents, (3 + confidence) / 4));
}

/** Returns the power of the size by which the differences grow, from 0 to 1: a slope of logarithms by least squares. */
function estimateGrowth(inputs: readonly SizedDifference[]): number {
  const known = inputs.filter(({ difference }) => difference !== 0);
  if (known.length < GROWTH_INPUTS_MIN) return 1;
  const x = known.map(({ size }) => Math.log(size));
  const y = known.map(({ difference }) => Math.log(Math.abs(difference)));
  const centre = mean(x);
  const spread = sumSquaredDeviations(x, centre);
  if (spread === 0) return 0;
  const height = mean(y);
  const products = x.map((value, index) => (value - centre) * ((y[index] ?? 0) - height));
  return clamp(products.reduce((total, product) => total + product, 0) / spread, 0, 1);
}

/** Returns the upper bound of the mean of a lognormal distribution from the logarithms of a sample. */
function boundLognormalMean(logarithms: readonly number[], probability: number): number {
  const count = logarithms.length;
  const centre = mean(logarithms);
  const variance = sumSquaredDeviations(logarithms, centre) / (count - 1);
  const error = Math.sqrt(variance / count + variance ** 2 / (2 * (count - 1)));
  return Math.exp(centre + variance / 2 + computeStudentTQuantile(probability, count - 1) * error);
}
