/**
 * The effect of the candidate on a percentile or on the shifted geometric mean, with its one-sided 95 % bound.
 *
 * The statistic is that of all pairs of runs, as for a rule that compares numbers. Resampling draws whole inputs, and whole
 * clusters where inputs count by cluster; the furthest bound counts. A rule that says that more is better swaps the sides.
 */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { type Resampler, showsSpread } from '../bootstrap.ts';
import { DIFFERING_MIN, VERDICT_UNITS_MIN } from '../error-rates.ts';
import { clampToFinite, interpolate } from '../numbers.ts';
import type { PairedMeasurement } from '../paired/compare.ts';
import type { NumberPair } from '../paired/units.ts';
import { GEOMETRIC_MEAN_SHIFT, type LowerPercentile, PERCENTILE_KEYS } from '../summaries.ts';
import { boundGeometricMean, type UpperBound } from './geometric-mean-bound.ts';

/** Statistics whose effect has a bound, beside the mean. */
type BoundedStatistic = 'shifted_geometric_mean' | LowerPercentile;

/** Returns true for a statistic other than the mean that has a bound. */
export function isBoundedStatistic(statistic: string): statistic is BoundedStatistic {
  return statistic === 'shifted_geometric_mean' || readProbability(statistic) !== null;
}

/** Returns the number of inputs without which non-inferiority has no bound of the statistic: 59 for p95, at least 10. */
export function countInputsNeeded(statistic: string): number {
  const probability = readProbability(statistic);
  return probability === null
    ? VERDICT_UNITS_MIN
    : Math.max(VERDICT_UNITS_MIN, countPercentileInputs(probability));
}

function readProbability(statistic: string): number | null {
  return PERCENTILE_KEYS.some((key) => key === statistic) ? Number(statistic.slice(1)) / 100 : null;
}

/** An effect and its bound; the obstacle says why there is no bound. */
interface StatisticEffect {
  /** Null where the values have no such effect. */
  effect: number | null;
  bound: number | null;
  obstacle: string | null;
}

/** The scale of an effect, and the direction in which it is bounded. */
interface EffectScale {
  measure: 'ratio' | 'difference';
  isMaximized: boolean;
  tie_tolerance: number;
  resampler: Resampler;
}

/** Returns the effect with the furthest of its bounds; null without an input that both sides solved. */
export function boundStatistic(
  statistic: BoundedStatistic,
  { complete, dependence }: Pick<PairedMeasurement, 'complete' | 'dependence'>,
  { measure, isMaximized, tie_tolerance, resampler }: EffectScale,
): StatisticEffect | null {
  const units = complete.map(({ pair_values }) => (isMaximized ? pair_values.map(swapSides) : pair_values));
  const inputs = units.filter((pairs) => pairs.length > 0);
  if (inputs.length === 0) return null;
  const isTie = ({ control, candidate }: NumberPair) =>
    Math.abs(candidate - control) <= tie_tolerance * Math.max(Math.abs(control), Math.abs(candidate));
  const refused = explainValues(statistic, inputs.flat(), measure);
  if (refused !== null) return { effect: null, bound: null, obstacle: refused };
  const tested = dependence.clusterings.filter(({ use }) => use === 'tested');
  const clustered = tested.map(({ by, labels }) => ({ by, groups: groupByLabel(units, labels) }));
  const obstacle = findObstacle(statistic, inputs, isTie) ?? findClusterObstacle(statistic, clustered);
  const boundGroups = (groups: readonly (readonly NumberPair[])[]) =>
    statistic === 'shifted_geometric_mean'
      ? boundGeometricMean(groups, measure, { resampler, differing: countDiffering(groups, isTie) })
      : boundPercentile(groups, measure, { probability: readProbability(statistic) ?? 0.5, resampler });
  const plain = boundGroups(inputs);
  if (plain === null) return { effect: null, bound: null, obstacle: null };
  const turn = (value: number) => (measure === 'ratio' ? 1 / value : -value);
  const orient = (value: number) => clampToFinite(isMaximized ? turn(value) : value);
  const effect = orient(plain.effect);
  if (obstacle !== null) return { effect, bound: null, obstacle };
  const serial = widen(plain, { measure, share: dependence.effective_sample_size / complete.length });
  const bounds = [serial, ...clustered.map(({ groups }) => boundGroups(groups)?.bound ?? null)];
  const known = bounds.filter((bound) => bound !== null);
  return {
    effect,
    bound: known.length < bounds.length ? null : orient(Math.max(...known)),
    obstacle: null,
  };
}

function swapSides({ control, candidate }: NumberPair): NumberPair {
  return { control: candidate, candidate: control };
}

function groupByLabel(units: readonly (readonly NumberPair[])[], labels: readonly string[]): NumberPair[][] {
  const groups = Map.groupBy(units.keys(), (index) => labels[index] ?? '');
  return [...groups.values()]
    .map((own) => own.flatMap((index) => units[index] ?? []))
    .filter((pairs) => pairs.length > 0);
}

function countDiffering(
  groups: readonly (readonly NumberPair[])[],
  isTie: (pair: NumberPair) => boolean,
): number {
  return groups.filter((pairs) => !pairs.every(isTie)).length;
}

/** Returns the bound of inputs that say as much as a share of independent ones: further away by the root of it. */
function widen(
  { effect, bound }: UpperBound,
  { measure, share }: { measure: EffectScale['measure']; share: number },
): number | null {
  if (bound === null || share >= 1) return bound;
  const factor = 1 / Math.sqrt(share);
  return measure === 'ratio' ? effect * (bound / effect) ** factor : effect + (bound - effect) * factor;
}

/** Returns why the values have no such effect; null when they have one. */
function explainValues(
  statistic: BoundedStatistic,
  pairs: readonly NumberPair[],
  measure: EffectScale['measure'],
): string | null {
  const isMean = statistic === 'shifted_geometric_mean';
  const smallest = pairs.reduce(
    (least, { control, candidate }) => Math.min(least, control, candidate),
    Number.POSITIVE_INFINITY,
  );
  if (measure === 'ratio' && (isMean ? smallest < 0 : smallest <= 0))
    return `A relative tolerance of ${statistic} needs values ${isMean ? 'of 0 or more' : 'above 0'}, and there are others; give an absolute tolerance.`;
  if (isMean && smallest <= -GEOMETRIC_MEAN_SHIFT)
    return `Non-inferiority in ${statistic} needs values above −${GEOMETRIC_MEAN_SHIFT}, and there are others; use "mean".`;
  return null;
}

/** Returns why these inputs give no bound for others, where enough of them ran; null for no reason. */
function findObstacle(
  statistic: BoundedStatistic,
  inputs: readonly (readonly NumberPair[])[],
  isTie: (pair: NumberPair) => boolean,
): string | null {
  const needed = countInputsNeeded(statistic);
  if (inputs.length < needed)
    return `Both sides solved ${formatCount(inputs.length, 'input')}; non-inferiority in ${statistic} needs at least ${needed}.`;
  const probability = readProbability(statistic);
  if (probability === null) {
    if (showsSpread(inputs.map((pairs) => (pairs.every(isTie) ? 0 : 1)))) return null;
    return `The sides differ on ${countDiffering(inputs, isTie)} of ${inputs.length} inputs; fewer than ${DIFFERING_MIN} do not show how much others may differ.`;
  }
  const found = findPercentileObstacle(inputs, probability, isTie);
  if (found === null) return null;
  return found.kind === 'ties'
    ? `The sides differ on ${found.inputs} of the ${found.near} inputs near ${statistic}; fewer than ${DIFFERING_MIN} do not show how much others may differ.`
    : `${found.inputs} inputs share one value near ${statistic}, such as a time limit, so ${statistic} of other inputs has no bound. Raise the limit, or use shifted_geometric_mean.`;
}

/** The percentile bootstrap of few clusters is too narrow. */
function findClusterObstacle(
  statistic: BoundedStatistic,
  clustered: readonly { by: string; groups: readonly unknown[] }[],
): string | null {
  const few = clustered.find(({ groups }) => groups.length < VERDICT_UNITS_MIN);
  if (few === undefined || statistic === 'shifted_geometric_mean') return null;
  return `The inputs form ${few.groups.length} clusters (${few.by}); non-inferiority in ${statistic} needs at least ${VERDICT_UNITS_MIN}.`;
}

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

/**
 * Returns the effect, candidate over control or candidate minus control, with its bound. Groups are resampled as a whole.
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
interface PercentileObstacle {
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
