/**
 * The number of additional units that would decide a comparison, and the smallest effect that it can find.
 *
 * They need the spread of a pilot. A plan for a population needs values that differ and units that are independent. Five of ten inputs that tie leave the
 * spread of the others unknown: 95 % of inputs identical and 5 % a quarter worse often show no spread at all among ten. The
 * plan was then the smallest possible one, and its power 0.
 */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatEvidence } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Verdict } from '../comparison/verdict.ts';
import { chooseFinalAlpha, DIFFERING_MIN, findSizeAtOwnRate, VERDICT_UNITS_MIN } from '../error-rates.ts';
import { computeVarianceFactor } from '../planning/variances.ts';
import { computeDetectableEffect, computeUnitsForEquivalence, computeUnitsToDetect } from '../sample-size.ts';
import type { PairedMeasurement } from './compare.ts';
import { listRelationBlockers } from './relation.ts';
import type { PairedUnit } from './units.ts';

/** Hints for the next experiment. Counts are units beyond those seen; null for a decided comparison, and where unknown. */
type PlanningHints = Pick<Comparison, 'more_inputs' | 'more_inputs_range' | 'detectable_difference'>;

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

/** The advice of every refusal. */
const ENOUGH = `A plan needs ${DIFFERING_MIN} that do: fewer do not show how much others differ.`;
/** Effects that agree to so many decimals differ only by rounding; they are at most near 1. */
const EFFECT_DECIMALS = 12;

/** Returns the variance of the mean of dependent units, relative to independent ones (Kish, Survey Sampling, 1965). */
export function computeDesignEffect({ complete, dependence }: PairedMeasurement): number {
  const { effective_sample_size, clusterings } = dependence;
  const effects = clusterings.map(
    ({ effective, intraclass_correlation }) =>
      1 + (complete.length / effective - 1) * (intraclass_correlation ?? 0),
  );
  return Math.max(1, complete.length / effective_sample_size, ...effects);
}

/** Counts the units with different values on both sides. */
export function countDiffering({ complete }: PairedMeasurement): number {
  return complete.filter(isDiffering).length;
}

function isDiffering({ effect }: PairedUnit): boolean {
  return effect !== null && effect !== 0;
}

/** Returns the reason for which the units show no spread to plan from, in sentences; null where they show it. */
export function explainMissingSpread(measurement: PairedMeasurement, unit: string): string | null {
  const differing = countDiffering(measurement);
  const valued = measurement.complete.filter(({ effect }) => effect !== null);
  if (differing < DIFFERING_MIN) return explainFewDiffering(differing, valued.length, unit);
  const effects = new Set(valued.map(({ effect }) => (effect ?? 0).toFixed(EFFECT_DECIMALS)));
  if (effects.size === 1)
    return `All ${valued.length} ${unit}s differ by the same amount, which shows nothing of the spread of others.`;
  return explainDependence(measurement, unit);
}

/** Says how many of the units differ. */
export function explainFewDiffering(differing: number, total: number, unit: string): string {
  const count = differing === 0 ? 'None' : `Only ${differing}`;
  return `${count} of ${formatCount(total, unit)} ${differing > 1 ? 'differ' : 'differs'}. ${ENOUGH}`;
}

/** Returns the reason for which dependent units count as too few; null for enough of them. */
function explainDependence(measurement: PairedMeasurement, unit: string): string | null {
  const { complete, dependence } = measurement;
  const [related] = listRelationBlockers(measurement, unit);
  if (related !== undefined) return related;
  for (const { by, count, use, effective } of dependence.clusterings) {
    if (use === 'similar') continue;
    const clusters = complete.filter(isDiffering).map(({ clusters: own }) => own[by] ?? '');
    const differing = new Set(clusters).size;
    if (use === 'different' || differing < DIFFERING_MIN)
      return `The ${complete.length} ${unit}s are ${formatCount(count, 'group')} by ${by}, ${formatEvidence(effective)} of equal size, and ${differing} of them ${differing === 1 ? 'differs' : 'differ'}. ${ENOUGH}`;
  }
  const independent = (countDiffering(measurement) * dependence.effective_sample_size) / complete.length;
  return independent < DIFFERING_MIN
    ? `Neighbouring ${unit}s resemble each other: those that differ count as ${formatEvidence(independent)}. ${ENOUGH}`
    : null;
}
