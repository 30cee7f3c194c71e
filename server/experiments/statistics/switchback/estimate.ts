/**
 * The effect of the candidate in a switchback test and its randomisation tests.
 *
 * The statistic is the difference of the mean residuals of the settled units of both sides (Hájek), divided by its standard
 * error, so that sides of unequal spread do not break the level (Wu and Ding, JASA 2021). The p-value is the share of
 * reference plans whose statistic is at least as far from 0. The interval has every effect whose distance from the
 * estimate, in standard errors, at least 5 % of the reference plans reach.
 */
import type { Interval } from '../bootstrap.ts';
import type { AdjustmentModel } from './covariates.ts';
import { SIDE_UNITS_MIN } from './design.ts';
import { CANDIDATE, GROUPS, type ReferencePlans, SETTLED, SETTLED_LONGER } from './reference.ts';

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
  model: AdjustmentModel,
  reference: ReferencePlans,
): SwitchbackEstimate | null {
  const residuals = model.residuals(outcomes);
  const observed = contrast(sumGroups(units, residuals, reference.real), SETTLED);
  if (observed === null) return null;
  const sides = model.residuals(Float64Array.from(units, (unit) => (reference.real[unit] ?? 0) & CANDIDATE));
  // Adjustment takes a part of the effect away where the sides are not balanced over the covariates.
  const kept = contrast(sumGroups(units, sides, reference.real), SETTLED)?.difference ?? 0;
  if (kept <= 0) return null;
  const distances = mapPlans(units, residuals, reference, (sums) => {
    const found = contrast(sums, SETTLED);
    return found === null ? null : Math.abs(studentise(found));
  });
  const effect = observed.difference / kept;
  const limit = distances.sort((a, b) => b - a)[Math.floor(LEVEL * distances.length)];
  const half = ((limit ?? Number.POSITIVE_INFINITY) * observed.error) / kept;
  return {
    effect,
    interval: Number.isFinite(half) ? { low: effect - half, high: effect + half } : null,
    p_value: shareAtLeast(distances, Math.abs(studentise(observed))),
    control_units: observed.counts[0],
    candidate_units: observed.counts[1],
    spread: spreadOf(observed),
  };
}

/** The p-value of equal means of all units, settled or not; null when a side has fewer than two units. */
export function testEqualUnits(values: readonly number[], reference: ReferencePlans): number | null {
  const units = values.map((_, unit) => unit);
  // Without the first value equal values are exactly 0, so that rounding makes no difference of them.
  const outcomes = Float64Array.from(values, (value) => value - (values[0] ?? 0));
  const observed = contrast(sumGroups(units, outcomes, reference.real), 0);
  if (observed === null) return null;
  const distances = mapPlans(units, outcomes, reference, (sums) => {
    const found = contrast(sums, 0);
    return found === null ? null : Math.abs(studentise(found));
  });
  return shareAtLeast(distances, Math.abs(studentise(observed)));
}

/**
 * Tests whether the effect in units that have just settled differs from the effect in units settled for longer, which it
 * does when the influence of a switch lasts more than `carryOverUnits` units (after Bojinov et al.). The estimated effect is
 * taken away first. Null when a group has fewer than two units.
 */
export function testCarryOver(
  { units, outcomes }: UnitOutcomes,
  model: AdjustmentModel,
  reference: ReferencePlans,
  effect: number,
): number | null {
  const values = model.residuals(
    outcomes.map((value, index) => value - effect * ((reference.real[units[index] ?? 0] ?? 0) & CANDIDATE)),
  );
  const observed = freshContrast(sumGroups(units, values, reference.real));
  if (observed === null) return null;
  return shareAtLeast(
    mapPlans(units, values, reference, (sums) => {
      const found = freshContrast(sums);
      return found === null ? null : Math.abs(found);
    }),
    Math.abs(observed),
  );
}

/** Effect in units settled for exactly `carryOverUnits` units minus the effect in units settled for longer. */
function freshContrast({ counts, sums }: GroupSums): number | null {
  const longer = SETTLED + SETTLED_LONGER;
  const groups = [SETTLED, SETTLED + CANDIDATE, longer, longer + CANDIDATE];
  if (groups.some((group) => (counts[group] ?? 0) < SIDE_UNITS_MIN)) return null;
  const average = (group: number) => (sums[group] ?? 0) / (counts[group] ?? 1);
  return average(SETTLED + CANDIDATE) - average(SETTLED) - (average(longer + CANDIDATE) - average(longer));
}

function shareAtLeast(distances: Float64Array, observed: number): number {
  const limit = observed * (1 - ROUNDING);
  return distances.reduce((count, distance) => count + Number(distance >= limit), 0) / distances.length;
}

/** Sums of the values by group of their units. */
interface GroupSums {
  counts: Float64Array;
  sums: Float64Array;
  squares: Float64Array;
}

function emptySums(): GroupSums {
  return {
    counts: new Float64Array(GROUPS),
    sums: new Float64Array(GROUPS),
    squares: new Float64Array(GROUPS),
  };
}

function sumGroups(units: readonly number[], values: Float64Array, groups: Uint8Array): GroupSums {
  const total = emptySums();
  addGroups(Uint32Array.from(units), values, { groups, offset: 0 }, total);
  return total;
}

/** The hot loop: 10,000 plans of 1,000 units for each of 50 indicators. */
function addGroups(
  units: Uint32Array,
  values: Float64Array,
  { groups, offset }: { groups: Uint8Array; offset: number },
  { counts, sums, squares }: GroupSums,
): void {
  counts.fill(0);
  sums.fill(0);
  squares.fill(0);
  for (let index = 0; index < units.length; index += 1) {
    const group = groups[offset + (units[index] ?? 0)] ?? 0;
    const value = values[index] ?? 0;
    counts[group] = (counts[group] ?? 0) + 1;
    sums[group] = (sums[group] ?? 0) + value;
    squares[group] = (squares[group] ?? 0) + value * value;
  }
}

/** The statistic of every reference plan that has one. */
function mapPlans(
  units: readonly number[],
  values: Float64Array,
  { count, groups, real }: ReferencePlans,
  statisticOf: (sums: GroupSums) => number | null,
): Float64Array {
  const indexes = Uint32Array.from(units);
  const total = emptySums();
  const statistics = new Float64Array(count);
  let length = 0;
  for (let plan = 0; plan < count; plan += 1) {
    addGroups(indexes, values, { groups, offset: plan * real.length }, total);
    const statistic = statisticOf(total);
    if (statistic === null) continue;
    statistics[length] = statistic;
    length += 1;
  }
  return statistics.slice(0, length);
}

/** The difference of the sides over the groups that have all of `flags`; null when a side has fewer than two units. */
function contrast({ counts, sums, squares }: GroupSums, flags: number): Contrast | null {
  const number: [number, number] = [0, 0];
  const sum: [number, number] = [0, 0];
  const square: [number, number] = [0, 0];
  for (let group = 0; group < GROUPS; group += 1) {
    if ((group & flags) !== flags) continue;
    const side = group & CANDIDATE ? 1 : 0;
    number[side] += counts[group] ?? 0;
    sum[side] += sums[group] ?? 0;
    square[side] += squares[group] ?? 0;
  }
  if (Math.min(...number) < SIDE_UNITS_MIN) return null;
  const variance = (side: 0 | 1) =>
    Math.max(0, square[side] - sum[side] ** 2 / number[side]) / (number[side] - 1) / number[side];
  return {
    difference: sum[1] / number[1] - sum[0] / number[0],
    error: Math.sqrt(variance(0) + variance(1)),
    counts: number,
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
