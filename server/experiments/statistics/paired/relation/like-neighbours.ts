/**
 * A test that units of like control values have like effects, as versions of one input do.
 *
 * The effects are in the order of the control's values. Their ranks lose their mean and their linear trend. A run of the
 * control that is high by chance makes the effect low, and large inputs may have larger effects without being related. The
 * statistic is the sum of products of neighbours at up to 8 places (Moran, Biometrika 1950). Near values weigh more, which
 * finds 79 instead of 52 % of sets of ten pairs. Random orders of the effects, of which each loses its own trend, give the
 * p-value. A test that has found more than a tenth of a full set of larger statistics stops early (Besag and Clifford,
 * Biometrika 1991). The orders are always the same, so that equal runs have equal p-values in every experiment.
 */
import { RandomGenerator } from '../../../../platform/random-generator.ts';
import { interpolatePercentile, mean } from '../../numbers.ts';
import { rankTied, TIE_SHARE } from '../../wilcoxon.ts';
import { shuffleValues } from '../dependence.ts';

const PERMUTATIONS = 999;
/** A p-value above 0.1 decides nothing more. */
const EXTREME_MAX = 100;
const DISTANCE_MAX = 8;
/** Units for each distance, so that distances are short beside the series. */
const UNITS_PER_DISTANCE = 5;

/** Returns the one-sided p-value of effects in the order of their ascending keys; 1 for fewer than five. */
export function testLikeNeighbours(effects: Float64Array, keys: readonly number[]): number {
  const ranks = rankCentred(effects);
  const squares = ranks.reduce((total, rank) => total + rank * rank, 0);
  if (effects.length < UNITS_PER_DISTANCE || squares === 0) return 1;
  const weights = weighNeighbours(keys);
  const limit = measureLikeness(ranks, weights) - 1e-9 * squares;
  const generator = new RandomGenerator('like neighbours');
  let extreme = 1;
  for (let permutation = 1; permutation <= PERMUTATIONS; permutation += 1) {
    shuffleValues(ranks, generator);
    if (measureLikeness(ranks, weights) >= limit) extreme += 1;
    if (extreme > EXTREME_MAX) return extreme / (permutation + 1);
  }
  return extreme / (PERMUTATIONS + 1);
}

/**
 * Returns, for each distance from 1 on, the weight of each place and the one so far before it. A weight is 1 over the
 * distance, and less for keys further apart than most neighbours are.
 */
function weighNeighbours(keys: readonly number[]): Float64Array[] {
  const gaps = keys.slice(1).map((key, index) => measureGap(keys[index] ?? 0, key));
  const scale =
    interpolatePercentile(
      gaps.toSorted((a, b) => a - b),
      50,
    ) ||
    mean(gaps) ||
    1;
  const distances = Math.max(1, Math.min(DISTANCE_MAX, Math.floor(keys.length / UNITS_PER_DISTANCE)));
  return Array.from({ length: distances }, (_, index) => {
    const distance = index + 1;
    return Float64Array.from(keys, (key, place) =>
      place < distance ? 0 : 1 / (distance * (1 + measureGap(keys[place - distance] ?? 0, key) / scale)),
    );
  });
}

/** Returns the difference of two keys, relative to their magnitudes, so that it does not depend on the size of an input. */
export function measureGap(low: number, high: number): number {
  const scale = Math.max(Math.abs(low), Math.abs(high));
  return scale === 0 ? 0 : (high / scale - low / scale) / (Math.abs(low) / scale + Math.abs(high) / scale);
}

/** Returns the ranks about their mean. Effects tie by their share of the largest magnitude, so that rounding has no ranks. */
export function rankCentred(values: Float64Array): Float64Array {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const { ranks } = rankTied(values, (least, other) => other - least <= TIE_SHARE * largest);
  return ranks.map((rank) => rank - (values.length + 1) / 2);
}

/** Returns the weighted sum of products of neighbours about the linear trend of the values, whose mean is 0. */
function measureLikeness(values: Float64Array, weights: readonly Float64Array[]): number {
  const count = values.length;
  const middle = (count - 1) / 2;
  let slope = 0;
  for (let index = 0; index < count; index += 1) slope += (index - middle) * (values[index] ?? 0);
  slope /= (count * (count * count - 1)) / 12;
  const rest = values.map((value, index) => value - slope * (index - middle));
  let total = 0;
  for (const [index, weight] of weights.entries())
    for (let place = index + 1; place < count; place += 1)
      total += (weight[place] ?? 0) * (rest[place] ?? 0) * (rest[place - index - 1] ?? 0);
  return total;
}
