/**
 * Arithmetic of all statistics. Values may be as large as 1e308 or as small as 5e-324, and their sums must not overflow.
 * So callers multiply values by a power of two that brings the largest near 1, which changes no digit, and multiply
 * results by its inverse. A result beyond the largest double becomes that double, because JSON has no infinity.
 */

/** A power of two that brings the largest magnitude of the values near 1, and its inverse. Both are 1 for no values. */
interface Scale {
  factor: number;
  inverse: number;
}

/** The largest relative change that statistics use: it keeps sums and products of changes finite. */
export const CHANGE_MAX = 1e100;

/** The largest exponent for which a power of two and its inverse are both exact doubles. */
const EXPONENT_MAX = 1022;

/** Returns the scale of the values; see the head of this file. */
export function computeScale(...lists: ArrayLike<number>[]): Scale {
  let largest = 0;
  for (const list of lists) {
    for (let index = 0; index < list.length; index += 1) {
      largest = Math.max(largest, Math.abs(list[index] ?? 0));
    }
  }
  if (largest === 0) return { factor: 1, inverse: 1 };
  const exponent = Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, Math.floor(Math.log2(largest))));
  return { factor: 2 ** -exponent, inverse: 2 ** exponent };
}

/** Returns the number, or the largest double of its sign for an infinity; never minus zero. */
export function clampToFinite(value: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value)) + 0;
}

/** Returns the value, or the nearest end of the range. */
export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

/**
 * Halves the distance between a number that is inside of a range and one that is outside, so many times. Returns the nearest
 * of both kinds.
 */
export function bisect(
  ends: { inside: number; outside: number },
  isOutside: (value: number) => boolean,
  steps: number,
): { inside: number; outside: number } {
  let { inside, outside } = ends;
  for (let step = 0; step < steps; step += 1) {
    const middle = (inside + outside) / 2;
    if (isOutside(middle)) outside = middle;
    else inside = middle;
  }
  return { inside, outside };
}

/** Returns ln(value + shift) of two numbers whose sum may exceed the largest double. */
export function logOfSum(value: number, shift: number): number {
  const total = value + shift;
  return Number.isFinite(total) ? Math.log(total) : Math.log(value / 2 + shift / 2) + Math.LN2;
}

/** Returns the compensated sum: it adds the rounding errors (Neumaier, 1974). */
export function sum(values: ArrayLike<number>): number {
  let total = 0;
  let compensation = 0;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? 0;
    const next = total + value;
    compensation += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + compensation;
}

/** Returns the arithmetic mean; NaN for no values. */
export function mean(values: ArrayLike<number>): number {
  return sum(values) / values.length;
}

/** Returns the mean of numbers whose sum may exceed the largest double. */
export function computeBoundedMean(values: readonly number[]): number {
  const { factor, inverse } = computeScale(values);
  return clampToFinite(mean(values.map((value) => value * factor)) * inverse);
}

/** Returns `computeBoundedMean`, added in ascending order, so that it does not depend on the order of the values. */
export function computeSortedMean(values: readonly number[]): number {
  return computeBoundedMean(values.toSorted((a, b) => a - b));
}

/** Returns the sum of squares about a centre, corrected for its rounding (Chan, Golub and LeVeque, 1983). */
export function sumSquaredDeviations(values: ArrayLike<number>, centre: number): number {
  const squares = new Float64Array(values.length);
  const deviations = new Float64Array(values.length);
  for (let index = 0; index < values.length; index += 1) {
    const deviation = (values[index] ?? 0) - centre;
    deviations[index] = deviation;
    squares[index] = deviation * deviation;
  }
  return Math.max(0, sum(squares) - sum(deviations) ** 2 / values.length);
}

/** Returns the sample standard deviation (n - 1); 0 for one value. */
export function standardDeviation(values: ArrayLike<number>): number {
  if (values.length < 2) return 0;
  return Math.sqrt(sumSquaredDeviations(values, mean(values)) / (values.length - 1));
}

/** Returns the linearly interpolated percentile of ascending values: type 7 of Hyndman and Fan, as in R and numpy. */
export function interpolatePercentile(ascending: ArrayLike<number>, percent: number): number {
  const position = ((ascending.length - 1) * percent) / 100;
  const below = Math.floor(position);
  const low = ascending[below] ?? Number.NaN;
  const high = ascending[Math.min(below + 1, ascending.length - 1)] ?? Number.NaN;
  return interpolate(low, high, position - below);
}

/** Returns the number at this share of the way from `low` to `high`; never outside of both. */
export function interpolate(low: number, high: number, share: number): number {
  if (low === high) return low;
  const gap = high - low;
  // The lower value plus one product is monotonic in the share even after rounding; a weighted sum of both is not. The
  // gap between two finite numbers may be infinite, half of it is not.
  const value = Number.isFinite(gap) ? low + gap * share : 2 * (low / 2 + (high / 2 - low / 2) * share);
  return clamp(value, low, high);
}

/** Returns the probability that a standard normal number is above `z`. */
export function normalUpperTail(z: number): number {
  return z < 0 ? 1 - positiveUpperTail(-z) : positiveUpperTail(z);
}

/** For z >= 0. Uses the series of the distribution below 3, and Laplace's continued fraction from there. */
function positiveUpperTail(z: number): number {
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z < 3) {
    let term = z;
    let series = z;
    for (let odd = 3; Math.abs(term) > 1e-17 * series; odd += 2) {
      term *= (z * z) / odd;
      series += term;
    }
    return 0.5 - density * series;
  }
  let fraction = 0;
  for (let level = 100; level > 0; level -= 1) fraction = level / (z + fraction);
  return density / (z + fraction);
}
