/**
 * Tests whether the effect of a candidate is the same in groups of inputs.
 *
 * The statistic is Welch's, of the ranks of the effects: the weighted sum of squares between the groups, with the inverse
 * variance of each group mean as its weight. Ranks resist single large effects, and a failure has the worst rank. Its
 * distribution comes from permutations of the ranks. The test is exact if the feature has no influence at all. Dividing by
 * the variances keeps its level if only the spread differs: small inputs have noisier ratios (Pauly, Brunner and
 * Konietschke, Journal of the Royal Statistical Society B 2015).
 *
 * Inputs in clusters are not exchangeable. If no cluster has inputs of two groups, the means of the clusters are permuted.
 * Otherwise the ranks are permuted within the clusters, relative to the cluster's mean.
 */

import { RandomGenerator } from '../../../random-generator.ts';
import { mean, sumSquaredDeviations } from '../numbers.ts';
import { GROUP_UNITS_MIN } from './feature-groups.ts';

/** A test of values by group. */
export interface InteractionTest {
  statistic: number;
  p_value: number;
  permutations: number;
}

/** The effects of units, the number of the group of each, and its cluster; null without clusters. */
export interface GroupedScores {
  scores: readonly number[];
  groups: readonly number[];
  clusters: readonly string[] | null;
}

/** Draws of permutations. */
export interface PermutationSettings {
  seed: string;
  permutationsMax: number;
}

/** The smallest variance of a group as a share of the variance of all: ties leave a group without any. */
const VARIANCE_SHARE_MIN = 0.04;
/** After this many permutations that are at least as extreme, the p-value is known well enough. */
const EXTREMES_MAX = 100;
/** Permutations with equal values differ by rounding alone. */
const ROUNDING = 1e-9;

/** Returns the test; null with fewer than two groups of at least five units, or of five clusters that lie within groups. */
export function testInteraction(
  grouped: GroupedScores,
  settings: PermutationSettings,
): InteractionTest | null {
  const sample = buildSample(grouped);
  const sizes = countSizes(sample.groups);
  if (sizes.length < 2 || sizes.some((size) => size < GROUP_UNITS_MIN)) return null;
  const computeStatistic = createWelchStatistic(sample.groups, sample.values);
  const statistic = computeStatistic(sample.values);
  const generator = new RandomGenerator(`interaction ${settings.seed}`);
  const shuffled = sample.values.slice();
  let extremes = 0;
  let permutations = 0;
  // Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 1991.
  while (permutations < settings.permutationsMax && extremes < EXTREMES_MAX) {
    for (const block of sample.blocks) shuffleWithin(shuffled, block, generator);
    permutations += 1;
    if (computeStatistic(shuffled) >= statistic * (1 - ROUNDING)) extremes += 1;
  }
  const p_value = extremes === EXTREMES_MAX ? extremes / permutations : (extremes + 1) / (permutations + 1);
  return { statistic, p_value: Math.min(1, p_value), permutations };
}

/** Values that are exchangeable within each block of indices, with the group of each. */
interface Sample {
  values: Float64Array;
  groups: readonly number[];
  blocks: readonly (readonly number[])[];
}

function buildSample({ scores, groups, clusters }: GroupedScores): Sample {
  const values = rankValues(scores);
  if (clusters === null) return { values, groups, blocks: [[...values.keys()]] };
  const members = new Map<string, number[]>();
  for (const [index, cluster] of clusters.entries()) {
    const indices = members.get(cluster) ?? [];
    indices.push(index);
    members.set(cluster, indices);
  }
  const blocks = [...members.values()];
  const averages = blocks.map((block) => mean(block.map((index) => values[index] ?? 0)));
  const isNested = blocks.every((block) => new Set(block.map((index) => groups[index])).size === 1);
  if (isNested)
    return {
      values: Float64Array.from(averages),
      groups: blocks.map((block) => groups[block[0] ?? 0] ?? 0),
      blocks: [[...averages.keys()]],
    };
  const centred = values.slice();
  for (const [place, block] of blocks.entries())
    for (const index of block) centred[index] = (values[index] ?? 0) - (averages[place] ?? 0);
  return { values: centred, groups, blocks };
}

/** Returns the mid-ranks of the values. */
function rankValues(values: readonly number[]): Float64Array {
  const order = [...values.keys()].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const ranks = new Float64Array(values.length);
  for (let start = 0; start < order.length; ) {
    const value = values[order[start] ?? 0];
    let end = start + 1;
    while (end < order.length && values[order[end] ?? 0] === value) end += 1;
    for (const index of order.slice(start, end)) ranks[index] = (start + 1 + end) / 2;
    start = end;
  }
  return ranks;
}

function countSizes(groups: readonly number[]): number[] {
  const sizes = new Map<number, number>();
  for (const group of groups) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return [...sizes.values()];
}

/** Returns the function that computes Welch's statistic of values with these groups; 0 where no value differs. */
function createWelchStatistic(
  groups: readonly number[],
  all: Float64Array,
): (values: Float64Array) => number {
  const count = Math.max(...groups) + 1;
  const sizes = new Float64Array(count);
  for (const group of groups) sizes[group] = (sizes[group] ?? 0) + 1;
  const least = (VARIANCE_SHARE_MIN * sumSquaredDeviations(all, mean(all))) / (all.length - 1);
  const centre = mean(all);
  const sums = new Float64Array(count);
  const squares = new Float64Array(count);
  return (values) => {
    sums.fill(0);
    squares.fill(0);
    for (let index = 0; index < values.length; index += 1) {
      const group = groups[index] ?? 0;
      const deviation = (values[index] ?? 0) - centre;
      sums[group] = (sums[group] ?? 0) + deviation;
      squares[group] = (squares[group] ?? 0) + deviation * deviation;
    }
    return sumBetweenGroups(sizes, sums, squares, least);
  };
}

function sumBetweenGroups(
  sizes: Float64Array,
  sums: Float64Array,
  squares: Float64Array,
  leastVariance: number,
): number {
  if (leastVariance === 0) return 0;
  let weights = 0;
  let weighted = 0;
  let total = 0;
  for (const [group, size] of sizes.entries()) {
    if (size === 0) continue;
    const average = (sums[group] ?? 0) / size;
    const variance = ((squares[group] ?? 0) - size * average * average) / (size - 1);
    const weight = size / Math.max(variance, leastVariance);
    weights += weight;
    weighted += weight * average;
    total += weight * average * average;
  }
  return Math.max(0, total - (weighted * weighted) / weights);
}

/** Permutes the values at the indices of the block. */
function shuffleWithin(values: Float64Array, block: readonly number[], generator: RandomGenerator): void {
  for (let place = block.length - 1; place > 0; place -= 1) {
    const index = block[place] ?? 0;
    const other = block[generator.integerBelow(place + 1)] ?? 0;
    const value = values[index] ?? 0;
    values[index] = values[other] ?? 0;
    values[other] = value;
  }
}
