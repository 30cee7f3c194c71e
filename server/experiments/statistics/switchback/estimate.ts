/**
 * The effect of the candidate in a switchback test and its randomisation test.
 *
 * The statistic is the difference of the mean residuals of the settled units of both sides (Hájek), divided by its standard
 * error, so that sides of unequal spread do not break the level (Wu and Ding, JASA 2021). The p-value is the share of
 * reference plans whose statistic is at least as far from 0. The interval has every effect whose distance from the
 * estimate, in standard errors, 95 % of the reference plans exceed not.
 */
import type { Interval } from '../bootstrap.ts';
import type { AdjustmentModel } from './covariates.ts';
import type { ReferencePlans } from './reference.ts';

/** Outcomes of the units that have one; the indexes are those of the plan. */
export interface UnitOutcomes {
  units: readonly number[];
  outcomes: Float64Array;
}

/** The estimate of a switchback test. */
export interface SwitchbackEstimate {
  /** Adjusted difference of the settled units: candidate - control. */
  effect: number;
  interval: Interval | null;
  p_value: number;
  /** Settled units of each side. */
  control_units: number;
  candidate_units: number;
  /** Standard deviation of a unit's residual within its side. */
  spread: number;
}

/** Fewest settled units of a side for a standard error. */
const SIDE_UNITS_MIN = 2;
const LEVEL = 0.05;
/** Sums of the same values in another order differ by rounding, at most by this share. */
const ROUNDING = 1e-9;

interface Contrast {
  difference: number;
  error: number;
  counts: [number, number];
}

/** Estimates the effect; null when a side has too few settled units with an outcome. */
export function estimateEffect(
  { units, outcomes }: UnitOutcomes,
  real: { assignment: Uint8Array; settled: Uint8Array },
  model: AdjustmentModel,
  { plans }: ReferencePlans,
): SwitchbackEstimate | null {
  const residuals = model.residuals(outcomes);
  const observed = contrast(units, residuals, real);
  if (observed === null) return null;
  const sides = model.residuals(Float64Array.from(units, (unit) => real.assignment[unit] ?? 0));
  // Adjustment takes a part of the effect away where the sides are not balanced over the covariates.
  const kept = contrast(units, sides, real)?.difference ?? 0;
  if (kept <= 0) return null;
  const statistic = studentise(observed);
  const reference = plans.flatMap((plan) => {
    const found = contrast(units, residuals, plan);
    return found === null ? [] : [Math.abs(studentise(found))];
  });
  const extreme = reference.filter((value) => value >= Math.abs(statistic) * (1 - ROUNDING)).length;
  const effect = observed.difference / kept;
  const limit =
    reference.sort((a, b) => b - a)[Math.floor(LEVEL * reference.length)] ?? Number.POSITIVE_INFINITY;
  const half = (limit * observed.error) / kept;
  return {
    effect,
    interval: Number.isFinite(half) ? { low: effect - half, high: effect + half } : null,
    p_value: extreme / reference.length,
    control_units: observed.counts[0],
    candidate_units: observed.counts[1],
    spread: spreadOf(observed),
  };
}

function contrast(
  units: readonly number[],
  values: Float64Array,
  { assignment, settled }: { assignment: Uint8Array; settled: Uint8Array },
): Contrast | null {
  const counts: [number, number] = [0, 0];
  const sums: [number, number] = [0, 0];
  const squares: [number, number] = [0, 0];
  for (let index = 0; index < units.length; index += 1) {
    const unit = units[index] ?? 0;
    if (!settled[unit]) continue;
    const side = assignment[unit] ? 1 : 0;
    const value = values[index] ?? 0;
    counts[side] += 1;
    sums[side] += value;
    squares[side] += value * value;
  }
  if (Math.min(...counts) < SIDE_UNITS_MIN) return null;
  const variance = (side: 0 | 1) =>
    Math.max(0, squares[side] - sums[side] ** 2 / counts[side]) / (counts[side] - 1) / counts[side];
  return {
    difference: sums[1] / counts[1] - sums[0] / counts[0],
    error: Math.sqrt(variance(0) + variance(1)),
    counts,
  };
}

function studentise({ difference, error }: Contrast): number {
  if (error > 0) return difference / error;
  return difference === 0 ? 0 : Number.POSITIVE_INFINITY * Math.sign(difference);
}

/** The spread of one unit that gives the contrast's standard error. */
function spreadOf({ error, counts: [controls, candidates] }: Contrast): number {
  return error / Math.sqrt(1 / controls + 1 / candidates);
}
