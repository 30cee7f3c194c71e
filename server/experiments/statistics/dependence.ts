/**
 * How many of the units of a comparison are independent.
 *
 * Consecutive or related inputs carry the same information several times. Counted as independent they made 10 to 65 % of
 * verdicts on equal candidates wrong, and more data did not help. Two corrections apply:
 * - Units in time order, such as the originals of a shadow test, are tested several times, and the largest p-value counts.
 *   The tests are over single units, then over blocks of 2, 4, 8, ... consecutive units, down to 10 blocks. Each has an
 *   effective sample size from the lag-1 correlation r: n (1 - r) / (1 + r). The estimate of r is biased towards 0 in short
 *   series, so (1 + 4 r) / n is added (Marriott and Pope, Biometrika 1954). Single units add half a standard error too. On
 *   normal AR(1) series of 20 to 300 units with r from 0 to 0.97, at most 2.5 % of tests at 4 % were wrong. Blocks find
 *   dependence that noise hides from the estimate. For AR(1) 0.9 plus noise of the same size, 28 % of tests on 300 units were
 *   wrong without blocks, and 2.5 % with them. The price is power: 88 % becomes 69 % for independent units.
 *   In a short series an effect that changes slowly looks like a difference, where noise hides the change. No test repairs
 *   that: those with fixed smoothing left 7.5 of 8.4 % wrong with 50 units (Kiefer and Vogelsang 2005; Lazarus, Lewis, Stock
 *   and Watson 2018). So a series of fewer than `LONG_SERIES_MIN` units has no verdict when its neighbours resemble each
 *   other, by a permutation test. That leaves 3.5 %.
 * - An effect that changes more slowly than the test lasts is described by the means of 20 blocks of a long series. When
 *   neighbouring blocks resemble each other (p at most 0.1), the comparison has a warning. It has no verdict when the mean
 *   effect is below three standard deviations of the slow change, because then another time may have another sign. With 300
 *   units this leaves 9 instead of 15 % of wrong verdicts for AR(1) 0.99 with noise, and costs 4 of 99 % of power for
 *   independent units. Without the second condition it cost 12. Tests over four to eight blocks left 12 to 18 %.
 * - Some units are only possibly in time order, such as inputs made from the runs of a period. They count as serial when that
 *   test has a p-value of at most 0.2.
 * - Units in clusters (callers, days, a field of the input) are tested by cluster from `TESTED_CLUSTERS_MIN` clusters on.
 *   Fewer clusters cannot be tested. A permutation test then decides whether they may differ; if they may, there is no
 *   verdict.
 */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatEvidence } from '@switchyard/contract/presentation/format-quantity.ts';
import { RandomGenerator } from '../../platform/random-generator.ts';
import { mean, standardDeviation, sumSquaredDeviations } from './numbers.ts';

/** Units in one clustering. */
interface Clustering {
  by: string;
  /** The cluster of each unit. */
  labels: readonly string[];
  count: number;
  /** Number of equally large clusters with the same weight: (sum of sizes)^2 / sum of squared sizes. */
  effective: number;
  /** Share of the variance between units that lies between clusters (one-way analysis of variance), at least 0. */
  intraclass_correlation: number | null;
  /**
   * The value `tested` means that test and interval are by cluster. The others have too few clusters for that: `similar`
   * ones show no difference, and `different` ones may differ, so there is no verdict.
   */
  use: 'tested' | 'similar' | 'different';
}

/** The dependence of the units of a comparison. */
export interface UnitDependence {
  /** Null for units that do not count as serial. */
  serial_correlation: number | null;
  /** The p-value of unrelated neighbours; null for units in no order, and for a long series. */
  neighbours_p_value: number | null;
  /** Null for units that are not in time order, and for a short series. */
  slow_change: SlowChange | null;
  effective_sample_size: number;
  clusterings: Clustering[];
}

/** Student's t over cluster sums is conservative from five clusters on at 5 %. */
export const TESTED_CLUSTERS_MIN = 5;
/** Above this p-value of the permutation test, few clusters count as similar. At 0.1 twice as many verdicts were wrong. */
const SIMILAR_P_VALUE_MIN = 0.4;
const PERMUTATIONS = 999;
/** Keeps the effective sample size above 0 where the units hardly change. */
const CORRELATION_MAX = 0.99;

/**
 * Returns the lag-1 correlation of values in time order, at least 0, with the corrections of the head of this file. It is 0
 * for fewer than 4 values. `safety` is the number of standard errors added.
 */
export function estimateSerialCorrelation(values: ArrayLike<number>, safety = 0.5): number {
  const centre = mean(values);
  const squares = sumSquaredDeviations(values, centre);
  let products = 0;
  for (let index = 1; index < values.length; index += 1)
    products += ((values[index] ?? 0) - centre) * ((values[index - 1] ?? 0) - centre);
  return correctCorrelation(products, squares, { count: values.length, safety });
}

/**
 * `estimateSerialCorrelation` of a growing series in constant time for each value: 10,000 originals have 10,000 prefixes.
 * Values are taken relative to the first one, so that the sums do not cancel.
 */
export class RunningCorrelation {
  count = 0;
  last = 0;
  #first = 0;
  #sum = 0;
  #squares = 0;
  #products = 0;

  /** Appends a value. */
  add(value: number): void {
    if (this.count === 0) this.#first = value;
    const relative = value - this.#first;
    this.#products += relative * (this.last - this.#first) * Number(this.count > 0);
    this.#sum += relative;
    this.#squares += relative * relative;
    this.last = value;
    this.count += 1;
  }

  /** Returns the correlation of the values so far. */
  estimate(): number {
    const centre = this.#sum / Math.max(1, this.count);
    const deviations = this.#squares - this.count * centre * centre;
    // The first value is 0 here, so the sum without the last one and the sum without the first one follow from the sum.
    const ends = 2 * this.#sum - (this.last - this.#first);
    const products = this.#products - centre * ends + (this.count - 1) * centre * centre;
    const isConstant = deviations <= 1e-12 * this.#squares;
    return correctCorrelation(products, isConstant ? 0 : deviations, { count: this.count, safety: 0.5 });
  }
}

function correctCorrelation(
  products: number,
  squares: number,
  { count, safety }: { count: number; safety: number },
): number {
  if (count < 4 || squares === 0) return 0;
  const raw = products / squares;
  const corrected = raw + (1 + 4 * raw) / count;
  const error = Math.sqrt(Math.max(0, 1 - Math.min(1, corrected * corrected)) / count);
  return Math.max(0, Math.min(CORRELATION_MAX, corrected + safety * error));
}

/** From this many units in time order on, blocks find dependence that noise hides. */
export const LONG_SERIES_MIN = 100;
/** Up to this p-value, neighbours in a shorter series resemble each other too much for a verdict. */
export const RELATED_P_VALUE_MAX = 0.1;
/** Up to this p-value, units that are possibly in time order count as serial. */
export const POSSIBLY_RELATED_P_VALUE_MAX = 0.2;

/**
 * Tests that neighbours resemble each other no more than in another order of the values. Returns the share of drawn orders
 * with at least as large a sum of products of neighbours about the mean; 1 for equal values.
 */
export function testNeighbours(values: Float64Array, seed: string): number {
  const centre = mean(values);
  const deviations = values.map((value) => value - centre);
  const observed = multiplyNeighbours(deviations);
  const limit = observed - 1e-9 * sumSquaredDeviations(values, centre);
  const generator = new RandomGenerator(`neighbours ${seed}`);
  let extreme = 1;
  for (let permutation = 0; permutation < PERMUTATIONS; permutation += 1) {
    shuffleValues(deviations, generator);
    if (multiplyNeighbours(deviations) >= limit) extreme += 1;
  }
  return extreme / (PERMUTATIONS + 1);
}

function multiplyNeighbours(values: Float64Array): number {
  let products = 0;
  for (let index = 1; index < values.length; index += 1)
    products += (values[index] ?? 0) * (values[index - 1] ?? 0);
  return products;
}

/** Puts the values in a random order, in place (Fisher and Yates). */
export function shuffleValues(values: Float64Array, generator: RandomGenerator): void {
  for (let index = values.length - 1; index > 0; index -= 1) {
    const other = generator.integerBelow(index + 1);
    const value = values[index] ?? 0;
    values[index] = values[other] ?? 0;
    values[other] = value;
  }
}

/** Fewest blocks of consecutive units whose means are tested. */
const BLOCKS_MIN = 10;

/** Returns the means of blocks of consecutive values, for block lengths 2, 4, 8, ... that leave at least ten blocks. */
export function computeBlockMeans(values: Float64Array): Float64Array[] {
  const levels: Float64Array[] = [];
  for (let length = 2; Math.floor(values.length / length) >= BLOCKS_MIN; length *= 2)
    levels.push(averageBlocks(values, Math.floor(values.length / length)));
  return levels;
}

function averageBlocks(values: Float64Array, count: number): Float64Array {
  const start = (block: number) => Math.floor((block * values.length) / count);
  return Float64Array.from({ length: count }, (_, block) =>
    mean(values.subarray(start(block), start(block + 1))),
  );
}

/** A change of the effect that lasts longer than a twentieth of the series: its p-value, and the deviation of its slow part. */
export type SlowChange = NonNullable<Comparison['dependence']['slow_change']>;

const SLOW_BLOCKS = 20;
/** A mean effect of so many deviations of its slow change has the same sign at other times. */
const SLOW_DEVIATIONS_MAX = 3;

/** Describes the slow change of a series; null for fewer than `LONG_SERIES_MIN` values. */
export function describeSlowChange(values: Float64Array, seed: string): SlowChange | null {
  if (values.length < LONG_SERIES_MIN) return null;
  const blocks = averageBlocks(values, SLOW_BLOCKS);
  const centre = mean(blocks);
  const products = multiplyNeighbours(blocks.map((value) => value - centre));
  return {
    p_value: testNeighbours(blocks, `slow ${seed}`),
    deviation: Math.sqrt(Math.max(0, products / SLOW_BLOCKS)),
  };
}

/** Returns true when the sign or the equivalence of the mean effect may differ at other times. */
export function isSlowChangeLarge(
  { p_value, deviation }: SlowChange,
  { effect, margin }: { effect: number | null; margin: number },
): boolean {
  if (p_value > RELATED_P_VALUE_MAX) return false;
  const magnitude = Math.abs(effect ?? 0);
  const change = SLOW_DEVIATIONS_MAX * deviation;
  return magnitude < change && magnitude + change > margin;
}

/** Returns the mean of a series, its standard error under serial correlation, and the effective number of values. */
export function estimateSerialMean(
  values: Float64Array,
  safety: number,
): { mean: number; error: number; effective: number } {
  const effective = computeEffectiveSampleSize(values.length, estimateSerialCorrelation(values, safety));
  return {
    mean: mean(values),
    error: standardDeviation(values) / Math.sqrt(effective),
    effective,
  };
}

/** Returns the number of independent values whose mean is as exact as that of a series with this correlation. */
export function computeEffectiveSampleSize(count: number, correlation: number): number {
  return (count * (1 - correlation)) / (1 + correlation);
}

/**
 * Describes the clustering of units by labels. Each unit has a value, and a loss of +1, 0 or -1 for the side that failed. The
 * losses count because callers may differ only by failures: with equal values, two to five such callers made 20 to 39 % of
 * verdicts on equal sides wrong. Returns null if there is only one cluster, or if every
 * cluster has one unit.
 */
export function describeClustering(
  by: string,
  labels: readonly string[],
  { values, losses, seed }: { values: Float64Array; losses: Float64Array; seed: string },
): Clustering | null {
  const sizes = new Map<string, number>();
  for (const label of labels) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  if (sizes.size < 2 || sizes.size === labels.length) return null;
  const squares = [...sizes.values()].reduce((total, size) => total + size * size, 0);
  const effective = labels.length ** 2 / squares;
  const between = measureBetweenClusters(values, labels);
  const isSimilar = [values, losses].every(
    (one) => computePermutationPValue(one, labels, seed) >= SIMILAR_P_VALUE_MIN,
  );
  return {
    by,
    labels,
    count: sizes.size,
    effective,
    intraclass_correlation: estimateIntraclassCorrelation(values, labels, between),
    use: effective >= TESTED_CLUSTERS_MIN ? 'tested' : isSimilar ? 'similar' : 'different',
  };
}

/** Returns the sum of squares between clusters about the mean of all. */
function measureBetweenClusters(values: Float64Array, labels: readonly string[]): number {
  const centre = mean(values);
  const sums = new Map<string, { sum: number; size: number }>();
  values.forEach((value, index) => {
    const label = labels[index] ?? '';
    const entry = sums.get(label) ?? { sum: 0, size: 0 };
    entry.sum += value - centre;
    entry.size += 1;
    sums.set(label, entry);
  });
  return [...sums.values()].reduce((total, { sum, size }) => total + (sum * sum) / size, 0);
}

/** Returns the analysis-of-variance estimate (Donner, International Statistical Review 1986). */
function estimateIntraclassCorrelation(
  values: Float64Array,
  labels: readonly string[],
  between: number,
): number | null {
  const sizes = new Map<string, number>();
  for (const label of labels) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  const count = values.length;
  const clusters = sizes.size;
  if (clusters < 2 || count <= clusters) return null;
  const within = (sumSquaredDeviations(values, mean(values)) - between) / (count - clusters);
  const squares = [...sizes.values()].reduce((total, size) => total + size * size, 0);
  const typical = (count - squares / count) / (clusters - 1);
  const variance = (between / (clusters - 1) - within) / typical;
  return variance + within <= 0 ? 0 : Math.max(0, Math.min(1, variance / (variance + within)));
}

/** Returns the share of permutations of the values whose clusters differ at least as much. */
export function computePermutationPValue(
  values: Float64Array,
  labels: readonly string[],
  seed: string,
): number {
  const observed = measureBetweenClusters(values, labels);
  if (observed === 0) return 1;
  const generator = new RandomGenerator(`clusters ${seed}`);
  const shuffled = values.slice();
  let extreme = 1;
  for (let permutation = 0; permutation < PERMUTATIONS; permutation += 1) {
    shuffleValues(shuffled, generator);
    if (measureBetweenClusters(shuffled, labels) >= observed * (1 - 1e-12)) extreme += 1;
  }
  return extreme / (PERMUTATIONS + 1);
}

/** Says that units count as fewer independent ones; empty where they are independent. */
export function explainIndependent(units: number, independent: number, unit: string): string {
  return independent < units
    ? ` The ${units} ${unit}s count as ${formatEvidence(independent)} independent ones.`
    : '';
}
