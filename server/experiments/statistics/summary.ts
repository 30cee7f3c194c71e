/**
 * The distribution of an indicator's values. All its numbers are finite and do not depend on the order of the values.
 *
 * - Only finite numbers count (`toUsableNumber`); without one there is no distribution.
 * - `std` is the sample standard deviation (n - 1), 0 for one value.
 * - Percentiles use linear interpolation (type 7); for one value each is that value.
 * - The shifted geometric mean is exp(mean of ln(x + shift)) - shift. The shift is 10, which is defined for values above
 *   -10. With a smaller value the shift is 1 - smallest, and the result states it. Rounding loses that 1 for magnitudes
 *   beyond 2^53: then smallest + shift is 0 and the mean is the smallest value.
 */
import type { GroupedSummary } from '@switchyard/contract/experiments/grouped-summaries.ts';
import {
  clamp,
  clampToFinite,
  computeScale,
  interpolatePercentile,
  mean,
  standardDeviation,
} from './numbers.ts';
import { toUsableNumber } from './observations.ts';

/** Clients read percentiles in both spellings. */
const PERCENTS = [1, 5, 10, 25, 50, 75, 90, 95, 99] as const;
const LOWER = ['p01', 'p05', 'p10', 'p25', 'p50', 'p75', 'p90', 'p95', 'p99'] as const;
const UPPER = ['P01', 'P05', 'P10', 'P25', 'P50', 'P75', 'P90', 'P95', 'P99'] as const;
/** The keys of percentiles in lower case, in ascending order. */
export const PERCENTILE_KEYS = LOWER;

/** The key of a percentile in lower case. */
export type LowerPercentile = (typeof LOWER)[number];
type Percentiles = Distribution['percentiles'];

/** The distribution of at least one value. */
export type Distribution = GroupedSummary['indicator_distributions'][string];

/** The shift for values that are all above -10. */
export const GEOMETRIC_MEAN_SHIFT = 10;

/** Returns the usable numbers of the values, ascending. */
function sortUsableNumbers(values: readonly unknown[]): Float64Array {
  const numbers = values.map(toUsableNumber).filter((number) => number !== null);
  return Float64Array.from(numbers).sort();
}

/** Returns the distribution of the usable values; null without one. */
export function summarize(values: readonly unknown[]): Distribution | null {
  const ascending = sortUsableNumbers(values);
  const count = ascending.length;
  const min = ascending[0];
  const max = ascending[count - 1];
  if (min === undefined || max === undefined) return null;
  const scale = computeScale(ascending);
  const scaled = ascending.map((value) => value * scale.factor);
  return {
    min,
    max,
    count,
    mean: clamp(clampToFinite(mean(scaled) * scale.inverse), min, max),
    std: clampToFinite(standardDeviation(scaled) * scale.inverse),
    shifted_geometric_mean: computeShiftedGeometricMean(ascending, min, max),
    percentiles: computePercentiles(ascending),
  };
}

function computePercentiles(ascending: Float64Array): Percentiles {
  const found: Partial<Percentiles> = {};
  PERCENTS.forEach((percent, index) => {
    const value = interpolatePercentile(ascending, percent);
    found[LOWER[index] ?? 'p50'] = value;
    found[UPPER[index] ?? 'P50'] = value;
  });
  return found as Percentiles;
}

function computeShiftedGeometricMean(ascending: Float64Array, min: number, max: number) {
  const shift = min > -GEOMETRIC_MEAN_SHIFT ? GEOMETRIC_MEAN_SHIFT : clampToFinite(1 - min);
  // With log1p and expm1 a mean of small values keeps its digits beside the shift, and x + shift cannot overflow.
  const logs = ascending.map((value) => Math.log1p(value / shift));
  const value = logs[0] === Number.NEGATIVE_INFINITY ? min : shift * Math.expm1(mean(logs));
  return { value: clamp(clampToFinite(value), min, max), shift };
}
