/**
 * Units that look like versions of a few inputs: no field names them, and a time stamp makes each content another one.
 * Counted as independent, inputs in two to five versions made 11 to 41 % of verdicts on equal candidates wrong.
 *
 * Contents that are mostly equal form groups when a batch is created (input-properties/group-contents.ts), and the groups are
 * tested as clusters. Otherwise the results show a relation.
 *
 * Versions of an input have control values close to each other. Where units of like control values have like effects
 *, the units are grouped by the control's value, and the groups are tested as clusters. Groups have two
 * units first, then more, until groups next to each other show no likeness. Below ten groups there is no verdict.
 *
 * A group ends at the widest gap of control values near its nominal end, so that equal values stay together. Values that a
 * unit shares with others by chance hide the relation: a p-value above the threshold does not show independent units.
 */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { capitalise } from '@switchyard/contract/presentation/format-count.ts';
import { formatEvidence } from '@switchyard/contract/presentation/format-quantity.ts';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { computePermutationPValue, describeClustering, shuffleValues } from '../dependence.ts';
import { VERDICT_UNITS_MIN } from '../error-rates.ts';
import { interpolatePercentile, mean } from '../numbers.ts';
import { rankTied, TIE_SHARE } from '../wilcoxon.ts';
import { findLoser } from './signed-rank.ts';
import type { PairedUnit } from './units.ts';

/** The name in results of the clustering by like control values. */
const LIKE_VALUES = 'like values';
/** The name in results of the clustering of inputs with mostly equal contents. */
export const SIMILAR_CONTENT = 'similar content';
/** Fewest groups of like values that are tested as clusters. */
const RELATED_GROUPS_MIN = 10;
/** Up to this p-value, units count as related. */
const RELATED_P_VALUE_MAX = 0.05;
/** Fewer units than for ten groups of three: a relation mostly withholds the verdict, and needs more evidence. */
const SMALL_SET_UNITS = 3 * RELATED_GROUPS_MIN;
const SMALL_SET_P_VALUE_MAX = 0.02;
/** Up to this p-value, groups must show hardly any likeness: independent units rarely get there. */
const CLEARLY_RELATED_P_VALUE_MAX = 0.01;
/** Above these p-values, groups next to each other are alike no more than by chance. */
const SEPARATE_P_VALUE_MIN = 0.2;
const CLEARLY_SEPARATE_P_VALUE_MIN = 0.5;
/** Each size of groups is about 1.3 times the one before. */
const GROUP_SIZE_STEP = 1.3;

/** The relation of the units of a comparison, and its effect on the verdict. */
export interface Relation {
  /** p-value that units of one group, or of like control values, have no more like effects than others. */
  p_value: number;
  /** Groups of related units; null without groups. */
  clusters: number | null;
  /** `grouped`: the groups are tested as clusters. `withheld`: there is no verdict. */
  action: 'none' | 'grouped' | 'withheld';
  /** The clustering of the groups; null where groups of like values are not tested. */
  by: typeof LIKE_VALUES | typeof SIMILAR_CONTENT | null;
  /** The group of each unit, for groups of like values. */
  labels: readonly string[] | null;
}

/**
 * Returns the relation of units with these scores; null below ten units with a value, and where most units share one. Such a
 * value tells no versions apart, and the few others have like effects because the control's value is a part of them.
 */
export function describeRelation(
  units: readonly PairedUnit[],
  scores: Float64Array,
  seed: string,
): Relation | null {
  if (units.some(({ clusters }) => Object.hasOwn(clusters, SIMILAR_CONTENT)))
    return describeContentGroups(units, scores, seed);
  const order = orderByControl(units);
  const valued = order.filter(({ key }) => key !== null);
  if (valued.length < VERDICT_UNITS_MIN) return null;
  const effects = Float64Array.from(valued, ({ index }) => scores[index] ?? 0);
  const keys = valued.map(({ key }) => key ?? 0);
  if (isMostlyOneValue(keys)) return null;
  const p_value = testLikeNeighbours(effects, keys);
  const found = { p_value, clusters: null, by: null, labels: null };
  const threshold = valued.length < SMALL_SET_UNITS ? SMALL_SET_P_VALUE_MAX : RELATED_P_VALUE_MAX;
  if (p_value > threshold) return { ...found, action: 'none' };
  const separateMin =
    p_value <= CLEARLY_RELATED_P_VALUE_MAX ? CLEARLY_SEPARATE_P_VALUE_MIN : SEPARATE_P_VALUE_MIN;
  const places = findGroups(keys, effects, separateMin);
  if (places === null) return { ...found, action: 'withheld' };
  const labels = units.map(() => 'no value');
  for (const [place, { index }] of valued.entries()) labels[index] = `${places[place]}`;
  return { p_value, clusters: new Set(places).size, action: 'grouped', by: LIKE_VALUES, labels };
}

/**
 * Groups of mostly equal contents are tested like declared clusters. A single group has no verdict: it says nothing of other
 * inputs. Null for groups of one unit each.
 */
function describeContentGroups(
  units: readonly PairedUnit[],
  scores: Float64Array,
  seed: string,
): Relation | null {
  const labels = units.map(({ clusters }) => clusters[SIMILAR_CONTENT] ?? '');
  if (units.length > 1 && new Set(labels).size === 1)
    return { p_value: 1, clusters: 1, action: 'withheld', by: SIMILAR_CONTENT, labels: null };
  const losses = Float64Array.from(units, findLoser);
  const found = describeClustering(SIMILAR_CONTENT, labels, { values: scores, losses, seed });
  if (found === null) return null;
  const actions = { tested: 'grouped', similar: 'none', different: 'withheld' } as const;
  return {
    p_value: computePermutationPValue(scores, labels, seed),
    clusters: found.count,
    action: actions[found.use],
    by: SIMILAR_CONTENT,
    labels: null,
  };
}

/** Returns the units with their groups as clusters, for a relation with groups. */
export function labelRelatedUnits(
  units: readonly PairedUnit[],
  relation: Relation | null,
): readonly PairedUnit[] {
  const labels = relation?.labels;
  if (!labels) return units;
  return units.map((unit, index) => ({
    ...unit,
    clusters: { ...unit.clusters, [LIKE_VALUES]: labels[index] ?? '' },
  }));
}

interface OrderedUnit {
  index: number;
  /** The control's value, or the candidate's where the control has none. */
  key: number | null;
}

/** Orders units by their keys, equal ones at random; units without a key come last. */
function orderByControl(units: readonly PairedUnit[]): OrderedUnit[] {
  const generator = new RandomGenerator('order of equal values');
  return units
    .map(({ control, candidate }, index) => ({ index, key: control ?? candidate, tie: generator.uniform() }))
    .sort((a, b) => compareKeys(a.key, b.key) || a.tie - b.tie);
}

function compareKeys(a: number | null, b: number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a - b;
}

/** Returns true when more than half of the ascending values are equal, because the one in the middle is then among them. */
function isMostlyOneValue(ascending: readonly number[]): boolean {
  const middle = ascending[Math.floor(ascending.length / 2)];
  return ascending.filter((value) => value === middle).length > ascending.length / 2;
}

/** Returns the group of each place in the order: the smallest groups that are not alike; null below ten groups. */
function findGroups(keys: readonly number[], effects: Float64Array, separateMin: number): number[] | null {
  const ranks = Array.from(rankCentred(effects));
  for (let size = 2; ; size = Math.max(size + 1, Math.floor(size * GROUP_SIZE_STEP))) {
    const count = Math.floor(keys.length / size);
    if (count < RELATED_GROUPS_MIN) return null;
    const starts = placeGroups(keys, count);
    const average = (values: readonly number[]) =>
      starts.map((start, group) => mean(values.slice(start, starts[group + 1])));
    const means = Float64Array.from(average(ranks));
    if (testLikeNeighbours(means, average(keys)) > separateMin)
      return keys.map((_, place) => starts.findLastIndex((start) => start <= place));
  }
}

/** Returns the first place of each group: the one after the widest gap within half a group of the nominal place. */
export function placeGroups(keys: readonly number[], count: number): number[] {
  const reach = Math.floor((keys.length / count - 1) / 2);
  return Array.from({ length: count }, (_, group) => {
    const nominal = Math.round((group * keys.length) / count);
    if (group === 0) return 0;
    let best = nominal;
    for (let place = nominal - reach; place <= nominal + reach; place += 1)
      if (measureGapBefore(keys, place) > measureGapBefore(keys, best)) best = place;
    return best;
  });
}

function measureGapBefore(keys: readonly number[], place: number): number {
  return measureGap(keys[place - 1] ?? 0, keys[place] ?? 0);
}

const PERMUTATIONS = 999;
/** A p-value above 0.1 decides nothing more. */
const EXTREME_MAX = 100;
const DISTANCE_MAX = 8;
/** Units for each distance, so that distances are short beside the series. */
const UNITS_PER_DISTANCE = 5;

/**
 * Returns the one-sided p-value of effects in the order of their ascending keys; 1 for fewer than five.
 *
 * The effects are in the order of the control's values. Their ranks lose their mean and their linear trend. A run of the
 * control that is high by chance makes the effect low, and large inputs may have larger effects without being related. The
 * statistic is the sum of products of neighbours at up to 8 places (Moran, Biometrika 1950). Near values weigh more, which
 * finds 79 instead of 52 % of sets of ten pairs. Random orders of the effects, of which each loses its own trend, give the
 * p-value. A test that has found more than a tenth of a full set of larger statistics stops early (Besag and Clifford,
 * Biometrika 1991). The orders are always the same, so that equal runs have equal p-values in every experiment.
 */
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
function measureGap(low: number, high: number): number {
  const scale = Math.max(Math.abs(low), Math.abs(high));
  return scale === 0 ? 0 : (high / scale - low / scale) / (Math.abs(low) / scale + Math.abs(high) / scale);
}

/** Returns the ranks about their mean. Effects tie by their share of the largest magnitude, so that rounding has no ranks. */
function rankCentred(values: Float64Array): Float64Array {
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

/** The part of a measurement that the sentences describe. */
interface RelatedMeasurement {
  relation: Relation | null;
  complete: readonly unknown[];
}

/** Warns that related units are tested by group. */
export function warnOfRelation({ relation, complete }: RelatedMeasurement, unit: string): string[] {
  if (relation?.action !== 'grouped') return [];
  if (relation.by === SIMILAR_CONTENT)
    return [
      `${capitalise(unit)}s share most of their content with others: ${complete.length} ${unit}s count as ${relation.clusters} groups. ${ADVICE}`,
    ];
  return [
    `${describeLikeness(relation, unit)}, as versions of one ${unit} have, or ${unit}s whose size decides: ${complete.length} ${unit}s count as ${relation.clusters} groups. ${ADVICE}`,
  ];
}

/** Returns the reason without a verdict where related units leave too few groups. */
export function listRelationBlockers({ relation, complete }: RelatedMeasurement, unit: string): string[] {
  if (relation?.action !== 'withheld') return [];
  if (relation.clusters === 1)
    return [
      `All ${complete.length} ${unit}s share most of their content and count as versions of one ${unit}, so there is no verdict. If they are independent, declare cluster_by: ["content"].`,
    ];
  // Several groups of similar contents are a clustering, which has a reason of its own.
  if (relation.by === SIMILAR_CONTENT) return [];
  return [
    `The ${unit}s look like versions of a few. ${describeLikeness(relation, unit)}, and fewer than ${RELATED_GROUPS_MIN} separate groups are left, so there is no verdict. ${ADVICE}`,
  ];
}

const ADVICE =
  'Name the field they come from in cluster_by; with cluster_by: ["content"], different contents count as independent.';

function describeLikeness({ p_value }: Relation, unit: string): string {
  return `${capitalise(unit)}s of like control values have like effects (p = ${formatEvidence(p_value)})`;
}

/** Returns the relation in the form of the API; null where none was looked for. */
export function formatRelation({ relation }: RelatedMeasurement): Comparison['related_inputs'] {
  return relation && { p: relation.p_value, clusters: relation.clusters, action: relation.action };
}
