/** The number of additional units that would decide a comparison, and the smallest effect that it can find. */
import { computeDetectableEffect, computeUnitsForEquivalence, computeUnitsToDetect } from '../sample-size.ts';
import type { PairedMeasurement } from './compare.ts';
import type { Verdict } from './verdict.ts';

/** Hints for the next experiment. Counts are units beyond those seen. */
export interface PlanningHints {
  /** For the observed effect; null for a decided comparison, and when the number is unknown. */
  more_inputs: number | null;
  /** For effects half a standard error above and below the observed one; `high` null: more than a hundred thousand. */
  more_inputs_range: { low: number; high: number | null } | null;
  /** Smallest effect found in 80 % of experiments of this size: a share for the relative measure, else a difference. */
  detectable_difference: number | null;
}

const POWER = 0.8;
const MORE_MAX = 100_000;
/** The spread of fewer units is no estimate for the next ones. */
const SPREAD_UNITS_MIN = 3;

/** Computes the hints of a measurement; `weight` is the indicator's share of the error rate. */
export function hintPlan(
  { effect, spread, margin, complete, measure, scale }: PairedMeasurement,
  verdict: Verdict,
  weight: number,
): PlanningHints {
  const count = complete.length;
  if (effect === null || count < SPREAD_UNITS_MIN)
    return { more_inputs: null, more_inputs_range: null, detectable_difference: null };
  const target = { power: POWER, weight };
  const variance = spread * spread;
  const detectable = computeDetectableEffect(count, variance, target);
  const readable = measure === 'relative' ? Math.expm1(detectable) : detectable / scale.factor;
  const detectable_difference = Number.isFinite(readable) ? readable : null;
  if (verdict !== 'undecided') return { more_inputs: null, more_inputs_range: null, detectable_difference };
  const moreFor = (assumed: number): number | null => {
    const slack = margin - Math.abs(assumed);
    const toFit = slack > 0 ? computeUnitsForEquivalence(slack, variance, POWER) : Number.POSITIVE_INFINITY;
    const more = Math.max(1, Math.min(computeUnitsToDetect(assumed, variance, target), toFit) - count);
    return more <= MORE_MAX ? more : null;
  };
  const half = spread / Math.sqrt(count) / 2;
  const ends = [moreFor(effect - half), moreFor(effect), moreFor(effect + half)];
  const known = ends.filter((more) => more !== null);
  return {
    more_inputs: moreFor(effect),
    more_inputs_range:
      known.length === 0
        ? null
        : { low: Math.min(...known), high: known.length < ends.length ? null : Math.max(...known) },
    detectable_difference,
  };
}
