/**
 * Bounds how much larger a percentile of the candidate may be than the control's, over inputs of the same kind.
 *
 * The bound is the 95 % point of the percentile bootstrap over inputs, which keeps the pairs of both sides together. Of
 * candidates at the bound, 0 to 3 % pass on continuous values. Bounds by order statistics of each side alone are exact, but
 * ignore the pairs: for sizes over one order of magnitude they are 100 % away. The percentile bootstrap needs three things,
 * and there is no bound without them:
 * - enough inputs that one of them is beyond the percentile with 95 %: 59 for p95 (Hahn and Meeker, Statistical Intervals,
 *   1991, section 5). `countPercentileInputs` has the number for each percentile;
 * - inputs near the percentile that differ. With 5 % of inputs 25 % worse and the others equal, 60 inputs passed in 58 % of
 *   simulated tests;
 * - different values there. Where many runs end at a time limit, both percentiles are that limit by chance: with limits just
 *   above the percentile, 5 to 25 % passed wrongly.
 */
import { type Resampler, showsSpread } from '../bootstrap.ts';
import { interpolate } from '../numbers.ts';
import type { NumberPair } from '../paired/units.ts';
import type { UpperBound } from './geometric-mean-bound.ts';

const CONFIDENCE = 0.95;
/** The tail on each side of the ranks that may be those of the percentile. */
const RANK_TAIL = 0.025;
/** Values within this share of the spread of the largest one count as equal to it: runs end a little after a time limit. */
const LIMIT_SHARE = 0.01;
/** A value is shared if so many inputs have it, and if it takes this share of the ranks near the percentile. */
const SHARED_INPUTS_MIN = 3;
const SHARED_RANKS_MIN = 0.25;

/** Returns the number of inputs of which one is beyond the percentile, on its rarer side, with 95 %: 59 for 0.95 or 0.05. */
export function countPercentileInputs(probability: number): number {
  return Math.ceil(Math.log(1 - CONFIDENCE) / Math.log(Math.max(probability, 1 - probability)));
}

/** Returns the effect, candidate over control or candidate minus control, with its bound. Groups are resampled as a whole. */
export function boundPercentile(
  groups: readonly (readonly NumberPair[])[],
  measure: 'ratio' | 'difference',
  { probability, resampler }: { probability: number; resampler: Resampler },
): UpperBound {
  const sides = { control: sortSide(groups, 'control'), candidate: sortSide(groups, 'candidate') };
  const sizes = groups.map(({ length }) => length);
  const compare = (times: ArrayLike<number> | null): number => {
    const control = readPercentile(sides.control, sizes, times, probability);
    const candidate = readPercentile(sides.candidate, sizes, times, probability);
    return measure === 'ratio' ? candidate / control : candidate - control;
  };
  const counts = resampler.countInputs(groups.length);
  const drawn = Float64Array.from({ length: resampler.resamples }, (_, draw) =>
    compare(counts.subarray(draw * groups.length, (draw + 1) * groups.length)),
  ).sort();
  const effect = compare(null);
  const point = drawn[Math.round((resampler.resamples + 1) * CONFIDENCE) - 1] ?? Number.NaN;
  return { effect, bound: Math.max(effect, point) };
}

/** The values of a side in ascending order, with the group of each. */
interface SortedSide {
  values: Float64Array;
  groups: Uint32Array;
}

function sortSide(groups: readonly (readonly NumberPair[])[], side: 'control' | 'candidate'): SortedSide {
  const entries = groups
    .flatMap((pairs, group) => pairs.map((pair) => ({ value: pair[side], group })))
    .sort((a, b) => a.value - b.value);
  return {
    values: Float64Array.from(entries, ({ value }) => value),
    groups: Uint32Array.from(entries, ({ group }) => group),
  };
}

/** Returns the type 7 percentile of the values, each as often as its group is drawn; once for null. */
function readPercentile(
  { values, groups }: SortedSide,
  sizes: readonly number[],
  times: ArrayLike<number> | null,
  probability: number,
): number {
  let count = 0;
  for (let group = 0; group < sizes.length; group += 1)
    count += (sizes[group] ?? 0) * (times === null ? 1 : (times[group] ?? 0));
  const position = (count - 1) * probability;
  const below = Math.floor(position);
  let seen = 0;
  let low: number | null = null;
  for (let index = 0; index < values.length; index += 1) {
    seen += times === null ? 1 : (times[groups[index] ?? 0] ?? 0);
    if (low === null && seen > below) low = values[index] ?? 0;
    if (low !== null && seen > below + 1) return interpolate(low, values[index] ?? 0, position - below);
  }
  return low ?? Number.NaN;
}

/** Values near the percentile that allow no bound: too few inputs differ, or too many share a value. */
export interface PercentileObstacle {
  kind: 'ties' | 'shared';
  /** Inputs that differ, or that share the value. */
  inputs: number;
  /** Inputs near the percentile. */
  near: number;
}

/**
 * Returns what prevents a bound; null for nothing. Inputs are near the percentile when the value of a side has one of the
 * ranks that hold the percentile with 95 %.
 */
export function findPercentileObstacle(
  inputs: readonly (readonly NumberPair[])[],
  probability: number,
  isTie: (pair: NumberPair) => boolean,
): PercentileObstacle | null {
  const ranks = findRanks(inputs.length, probability);
  const sides = (['control', 'candidate'] as const).map((side) => {
    const values = inputs.flatMap((pairs) => pairs.map((pair) => pair[side])).sort((a, b) => a - b);
    const share = values.length / inputs.length;
    const near = values.slice(Math.floor(ranks.low * share), Math.ceil((ranks.high + 1) * share));
    return { side, values, near };
  });
  const isNear = (pair: NumberPair) =>
    sides.some(({ side, near }) => pair[side] >= (near[0] ?? 0) && pair[side] <= (near.at(-1) ?? 0));
  const nearInputs = inputs.filter((pairs) => pairs.some(isNear));
  const differences = nearInputs.map((pairs) => (pairs.every(isTie) ? 0 : 1));
  if (!showsSpread(differences))
    return {
      kind: 'ties',
      inputs: differences.reduce<number>((total, one) => total + one, 0),
      near: nearInputs.length,
    };
  const { largest, limit } = findLimit(inputs);
  const simplify = (value: number) => (value >= limit ? largest : value);
  for (const { near } of sides) {
    const counts = new Map<number, number>();
    for (const value of near.map(simplify)) counts.set(value, (counts.get(value) ?? 0) + 1);
    for (const [value, count] of counts) {
      if (count < Math.max(2, SHARED_RANKS_MIN * near.length)) continue;
      const shared = inputs.filter((pairs) =>
        pairs.some(({ control, candidate }) => simplify(control) === value || simplify(candidate) === value),
      ).length;
      if (shared >= SHARED_INPUTS_MIN) return { kind: 'shared', inputs: shared, near: nearInputs.length };
    }
  }
  return null;
}

/** Returns the largest value of both sides, and the value from which others count as equal to it. */
function findLimit(inputs: readonly (readonly NumberPair[])[]): { largest: number; limit: number } {
  let largest = Number.NEGATIVE_INFINITY;
  let smallest = Number.POSITIVE_INFINITY;
  for (const { control, candidate } of inputs.flat()) {
    largest = Math.max(largest, control, candidate);
    smallest = Math.min(smallest, control, candidate);
  }
  return { largest, limit: largest - LIMIT_SHARE * (largest - smallest) };
}

/** Counts the inputs on which all runs of both sides have the largest value, such as a time limit. */
export function countInputsAtLimit(inputs: readonly (readonly NumberPair[])[]): number {
  const { limit } = findLimit(inputs);
  return inputs.filter((pairs) =>
    pairs.every(({ control, candidate }) => control >= limit && candidate >= limit),
  ).length;
}

/** Returns the ranks, from 0, of the lowest and the highest value that may be the percentile. */
function findRanks(count: number, probability: number): { low: number; high: number } {
  const odds = Math.log(probability) - Math.log1p(-probability);
  let logarithm = count * Math.log1p(-probability);
  let below = 0;
  let low = 0;
  let high = count - 1;
  for (let rank = 0; rank < count; rank += 1) {
    below += Math.exp(logarithm);
    logarithm += Math.log((count - rank) / (rank + 1)) + odds;
    if (below <= RANK_TAIL) low = rank + 1;
    if (below >= 1 - RANK_TAIL) {
      high = rank;
      break;
    }
  }
  return { low: Math.min(low, count - 1), high: Math.min(high, count - 1) };
}
