/**
 * Units that look like versions of a few inputs: no field names them, and a time stamp makes each content another one.
 * Counted as independent, inputs in two to five versions made 11 to 41 % of verdicts on equal candidates wrong.
 *
 * Contents that are mostly equal form groups when a batch is created (input-properties/group-contents.ts), and the groups are
 * tested as clusters. Otherwise the results show a relation.
 *
 * Versions of an input have control values close to each other. Where units of like control values have like effects
 * (like-neighbours.ts), the units are grouped by the control's value, and the groups are tested as clusters. Groups have two
 * units first, then more, until groups next to each other show no likeness. Below ten groups there is no verdict.
 *
 * A group ends at the widest gap of control values near its nominal end, so that equal values stay together. Values that a
 * unit shares with others by chance hide the relation: a p-value above the threshold does not show independent units.
 */
import { RandomGenerator } from '../../../../platform/random-generator.ts';
import { VERDICT_UNITS_MIN } from '../../error-rates.ts';
import { mean } from '../../numbers.ts';
import { computePermutationPValue, describeClustering } from '../dependence.ts';
import { findLoser } from '../signed-rank.ts';
import type { PairedUnit } from '../units.ts';
import { measureGap, rankCentred, testLikeNeighbours } from './like-neighbours.ts';

/** The name in results of the clustering by like control values. */
const LIKE_VALUES = 'like values';
/** The name in results of the clustering of inputs with mostly equal contents. */
export const SIMILAR_CONTENT = 'similar content';
/** Fewest groups of like values that are tested as clusters. */
export const RELATED_GROUPS_MIN = 10;
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
