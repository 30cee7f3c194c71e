/**
 * Failures compared between two sides: McNemar's exact test, extended to repetitions and clusters.
 *
 * Each unit has the difference of its failed pairs, candidate minus control. For equal sides, each difference is as likely
 * to have the opposite sign. The p-value is the share of sign assignments whose sum is at least as far from 0. For one pair in
 * each unit this is McNemar's exact test (Psychometrika 1947).
 */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import type { UnitDependence } from '../dependence.ts';
import { computeBinomialUpperTail, computeClopperPearson } from '../distributions.ts';
import { OTHERS_CONFIDENCE } from '../error-rates.ts';
import { findLoser } from './signed-rank.ts';
import type { PairedUnit } from './units.ts';

/** Failures of both sides over the units in which both sides ended. */
export type FailureComparison = Comparison['failures'];

/** Weights beyond this total are tested by their signs alone, so that the exact test stays fast. */
const EXACT_TOTAL_MAX = 20_000;

/** Compares the failures of both sides; `clusters` names the cluster of each unit where units depend on each other. */
export function compareFailures(
  units: readonly PairedUnit[],
  clusters?: readonly string[],
): FailureComparison {
  const differences = new Map<string, number>();
  units.forEach((unit, index) => {
    const cluster = clusters?.[index] ?? `${index}`;
    const difference = unit.candidate_failed - unit.control_failed;
    differences.set(cluster, (differences.get(cluster) ?? 0) + difference);
  });
  const candidate_only = units.filter((unit) => findLoser(unit) > 0).length;
  const control_only = units.filter((unit) => findLoser(unit) < 0).length;
  return {
    candidate_only,
    control_only,
    both: units.filter((unit) => unit.effect === null && findLoser(unit) === 0).length,
    control_failed: units.reduce((total, unit) => total + unit.control_failed, 0),
    candidate_failed: units.reduce((total, unit) => total + unit.candidate_failed, 0),
    p_value: testBySignFlips([...differences.values()]),
    excess_upper: boundExcess(candidate_only, control_only, units.length, differences.size),
  };
}

/** Returns the exact two-sided p-value of the sum of whole numbers whose signs are coin flips under the null hypothesis. */
function testBySignFlips(differences: readonly number[]): number {
  let nonzero = differences.filter((difference) => difference !== 0);
  if (nonzero.reduce((total, difference) => total + Math.abs(difference), 0) > EXACT_TOTAL_MAX)
    nonzero = nonzero.map(Math.sign);
  if (nonzero.length === 0) return 1;
  if (nonzero.every((difference) => Math.abs(difference) === 1)) {
    const positive = nonzero.filter((difference) => difference > 0).length;
    const larger = Math.max(positive, nonzero.length - positive);
    return Math.min(1, 2 * computeBinomialUpperTail(larger, nonzero.length));
  }
  const total = nonzero.reduce((sum, difference) => sum + Math.abs(difference), 0);
  const negative = nonzero.reduce((sum, difference) => sum + Math.max(0, -difference), 0);
  return Math.min(1, 2 * countSubsetSumTail(nonzero.map(Math.abs), Math.min(negative, total - negative)));
}

/** Returns the probability that the sum of weights, each selected by a fair coin, is at most `limit`. */
function countSubsetSumTail(weights: readonly number[], limit: number): number {
  const probability = new Float64Array(limit + 1);
  probability[0] = 1;
  for (const weight of weights)
    for (let sum = limit; sum >= 0; sum -= 1)
      probability[sum] =
        ((probability[sum] ?? 0) + (sum >= weight ? (probability[sum - weight] ?? 0) : 0)) / 2;
  return probability.reduce((sum, part) => sum + part, 0);
}

/**
 * Returns a conservative bound: the upper 97.5 % bound of one share minus the lower 97.5 % bound of the other (Bonferroni).
 * Units of one cluster can be lost together, so the shares are those of as many units as there are clusters.
 */
function boundExcess(candidateOnly: number, controlOnly: number, units: number, clusters: number): number {
  if (units === 0) return 1;
  const scale = (lost: number) => (lost * clusters) / units;
  return (
    computeClopperPearson(scale(candidateOnly), clusters, 0.975).high -
    computeClopperPearson(scale(controlOnly), clusters, 0.975).low
  );
}

type IndependentUnits = Pick<UnitDependence, 'effective_sample_size' | 'clusterings'>;

/** Returns the number of units that are independent: the fewest groups, where units depend on each other. */
export function countIndependent(
  units: number,
  { effective_sample_size, clusterings }: IndependentUnits,
): number {
  return Math.min(units, effective_sample_size, ...clusterings.map(({ effective }) => effective));
}

/**
 * Returns the upper 95 % bound of the share of other units with the property. A group with one such unit counts as one that
 * has it, by its size: nothing shows that its units are independent. The bound of effective numbers is that of surveys (Korn
 * and Graubard, Survey Methodology 1998).
 *
 * Bounds of the share of other units that have a property. Units that depend on each other are fewer observations. With no
 * loss among 24 inputs of 6 depots, up to 39 % of the inputs of other depots may be worse, and not 12 %.
 */
export function boundOthers(
  units: readonly PairedUnit[],
  dependence: IndependentUnits,
  hasProperty: (unit: PairedUnit) => boolean,
): number {
  if (units.length === 0) return 1;
  const found = units.filter(hasProperty);
  const bound = (count: number, independent: number) => {
    const trials = Math.min(units.length, independent);
    return computeClopperPearson((count * trials) / units.length, trials, OTHERS_CONFIDENCE).high;
  };
  const bounds = dependence.clusterings.map(({ by, effective }) => {
    const groups = new Set(found.map(({ clusters }) => clusters[by]));
    return bound(units.filter(({ clusters }) => groups.has(clusters[by])).length, effective);
  });
  return Math.max(bound(found.length, dependence.effective_sample_size), ...bounds);
}

/**
 * Returns true for a unit on which the candidate loses, with the side 1, or the control, with the side -1: in values or by
 * failures. A unit whose values and failures disagree is a loss of both, because each says what may happen elsewhere.
 */
export function hasLoss(side: 1 | -1, unit: PairedUnit, orientation: 1 | -1): boolean {
  return findLoser(unit) * side > 0 || (unit.effect ?? 0) * orientation * side > 0;
}
