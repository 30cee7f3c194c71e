/**
 * The effect of the candidate on a percentile or on the shifted geometric mean, with its one-sided 95 % bound.
 *
 * The statistic is that of all pairs of runs, as for a rule that compares numbers. Resampling draws whole inputs, and whole
 * clusters where inputs count by cluster; the furthest bound counts. A rule that says that more is better swaps the sides.
 */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { type Resampler, showsSpread } from '../bootstrap.ts';
import { DIFFERING_MIN, VERDICT_UNITS_MIN } from '../error-rates.ts';
import { clampToFinite } from '../numbers.ts';
import type { PairedMeasurement } from '../paired/compare.ts';
import type { NumberPair } from '../paired/units.ts';
import { GEOMETRIC_MEAN_SHIFT, type LowerPercentile, PERCENTILE_KEYS } from '../summary.ts';
import { boundGeometricMean, type UpperBound } from './geometric-mean-bound.ts';
import { boundPercentile, countPercentileInputs, findPercentileObstacle } from './percentile-bound.ts';

/** Statistics whose effect has a bound, beside the mean. */
export type BoundedStatistic = 'shifted_geometric_mean' | LowerPercentile;

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
export interface StatisticEffect {
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
  const groups = new Map<string, NumberPair[]>();
  units.forEach((pairs, index) => {
    const label = labels[index] ?? '';
    groups.set(label, [...(groups.get(label) ?? []), ...pairs]);
  });
  return [...groups.values()].filter((pairs) => pairs.length > 0);
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
