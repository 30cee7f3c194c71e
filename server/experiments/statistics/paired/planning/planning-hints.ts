/** The number of additional units that would decide a comparison, and the smallest effect that it can find. */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import type { Verdict } from '../../comparison/verdict.ts';
import { chooseFinalAlpha, DIFFERING_MIN, findSizeAtOwnRate, VERDICT_UNITS_MIN } from '../../error-rates.ts';
import { computeVarianceFactor } from '../../planning/variance-limit.ts';
import {
  computeDetectableEffect,
  computeUnitsForEquivalence,
  computeUnitsToDetect,
} from '../../sample-size.ts';
import type { PairedMeasurement } from '../compare.ts';
import { computeDesignEffect, countDiffering, explainMissingSpread } from './pilot.ts';

/** Hints for the next experiment. Counts are units beyond those seen. */
export interface PlanningHints {
  /** For the observed effect; null for a decided comparison, and when the number is unknown. */
  more_inputs: number | null;
  /** For effects half a standard error above and below the observed one; `high` null: more than a hundred thousand. */
  more_inputs_range: { low: number; high: number | null } | null;
  /**
   * Smallest effect found in 80 % of experiments of this size, by the upper limit of the variance (pilot.ts): a
   * share for the relative measure, else a difference. Null where the units show no spread.
   */
  detectable_difference: number | null;
}

const POWER = 0.8;
const MORE_MAX = 100_000;

/**
 * Computes the hints of a measurement; `weight` is the indicator's share of the error rate. Dependent units say less than
 * their number. Where the spread of values says that these units are enough, something else withholds the verdict, and no
 * number of units is known. Nor is it for a blocked comparison, such as one of times on different hosts. More units neither
 * repair few clusters that differ, nor a side that is better only where it does not fail.
 */
export function hintPlan(
  measurement: PairedMeasurement,
  { verdict, weight, isBlocked }: { verdict: Verdict; weight: number; isBlocked: boolean },
): PlanningHints {
  const { effect, spread, margin, complete } = measurement;
  // The spread of so few differences is no estimate for the next units.
  if (effect === null || countDiffering(measurement) < DIFFERING_MIN)
    return { more_inputs: null, more_inputs_range: null, detectable_difference: null };
  const count = complete.length;
  const designEffect = computeDesignEffect(measurement);
  const variance = spread * spread;
  const detectable_difference = computeDetectable(measurement, weight);
  if (verdict !== 'undecided' || isBlocked || isOpenWithMore(measurement, effect))
    return { more_inputs: null, more_inputs_range: null, detectable_difference };
  // Larger experiments have no higher error rate than this one.
  const chooseRate = (units: number) => Math.min(measurement.final_alpha, chooseFinalAlpha(units));
  const countMore = (assumed: number): number => {
    const slack = margin - Math.abs(assumed);
    const toFit = slack > 0 ? computeUnitsForEquivalence(slack, variance, POWER) : Number.POSITIVE_INFINITY;
    const countAt = (rate: number) => {
      const toDetect = computeUnitsToDetect(assumed, variance, { power: POWER, error_rate: rate * weight });
      return Math.ceil(Math.min(toDetect, toFit) * designEffect);
    };
    return findSizeAtOwnRate(countAt, chooseRate) - count;
  };
  const more = countMore(effect);
  if (more <= 0) return { more_inputs: null, more_inputs_range: null, detectable_difference };
  const half = spread / Math.sqrt(count) / 2;
  const ends = [countMore(effect - half), more, countMore(effect + half)];
  const [low, high] = [Math.max(1, Math.min(...ends)), Math.max(...ends)];
  return {
    more_inputs: more <= MORE_MAX ? more : null,
    more_inputs_range: low <= MORE_MAX ? { low, high: high <= MORE_MAX ? high : null } : null,
    detectable_difference,
  };
}

function computeDetectable(measurement: PairedMeasurement, weight: number): number | null {
  if (explainMissingSpread(measurement, '') !== null) return null;
  const { spread, complete, measure, scale } = measurement;
  const independent = complete.length / computeDesignEffect(measurement);
  const variance = spread * spread * computeVarianceFactor(Math.max(1, independent - 1));
  const detectable = computeDetectableEffect(independent, variance, {
    power: POWER,
    error_rate: measurement.final_alpha * weight,
  });
  const readable = measure === 'relative' ? Math.expm1(detectable) : detectable / scale.factor;
  return Number.isFinite(readable) ? readable : null;
}

/** Returns true for what more units do not repair: few clusters that differ, or failures of the side with the better values. */
function isOpenWithMore(
  { dependence, relation, failures, orientation }: PairedMeasurement,
  effect: number,
): boolean {
  const excess = failures.candidate_only - failures.control_only;
  if (relation?.action === 'withheld') return true;
  return dependence.clusterings.some(({ use }) => use === 'different') || excess * effect * orientation < 0;
}

/**
 * Says what a repetition with more units means. In simulations, up to four repetitions with `more_inputs` made 8 % of verdicts
 * wrong. A threshold of 0.04 / k for the k-th experiment left 6.5 %, because the first one takes most of the error rate.
 */
export function explainRepetition(
  { more_inputs }: PlanningHints,
  { complete }: PairedMeasurement,
  unit: string,
): string[] {
  if (more_inputs === null || complete.length < VERDICT_UNITS_MIN) return [];
  return [
    `About ${formatCount(more_inputs, `more ${unit}`)} would decide it in 80 % of experiments. Another experiment on the same question is another look: its error rate of 5 % adds to that of this one.`,
  ];
}
