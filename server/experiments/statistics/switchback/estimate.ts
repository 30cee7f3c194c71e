/**
 * The effect of the candidate in a switchback test and its randomisation tests.
 *
 * The statistic is the difference of the mean residuals of the counted units of both sides (Hájek), in standard errors. So
 * sides of unequal spread do not break the level (Wu and Ding, JASA 2021). The p-value is the share of reference plans whose
 * statistic is at least as far from 0. The interval ends at the distance that 5 % of the reference plans exceed.
 */
import type { Interval } from '../bootstrap.ts';
import { DIFFERING_MIN } from '../error-rates.ts';
import { type AdjustmentModel, type Covariate, chooseModel, listModels, removeFit } from './covariates.ts';
import { CANDIDATE, COUNTED, type CoinGroup, FOLLOWS_COUNTED, GROUPS, SIDE_UNITS_MIN } from './design.ts';
import { type PlanSums, type ReferencePlans, sumPlans } from './reference.ts';

/** Outcomes of the units that have one; the indexes are those of the plan. */
interface UnitOutcomes {
  units: readonly number[];
  outcomes: Float64Array;
  /** Two outcomes tie when they differ by at most this much. */
  tolerance: number;
}

/** The estimate of a switchback test. */
export interface SwitchbackEstimate {
  /** Adjusted difference of the counted units: candidate - control. */
  effect: number;
  /** Null also where most units tie, so that too few show how much others may differ. */
  interval: Interval | null;
  /** Settled units outside the largest tie, before or after the adjustment. */
  differing: number;
  p_value: number;
  /** The p-value of no influence of a unit beyond `carryOverUnits`; null with too few units. */
  carry_over_p_value: number | null;
  covariates: readonly Covariate[];
  /** Settled units of each side. */
  control_units: number;
  candidate_units: number;
  /** Standard deviation of a unit's residual within its side, and its degrees of freedom. */
  spread: number;
  degrees: number;
}

const LEVEL = 0.05;
/** Sums of the same values in another order differ by rounding, at most by this share. */
const ROUNDING = 1e-9;
const SQUARES_ROUNDING = 1e-12;

interface Contrast {
  difference: number;
  error: number;
  counts: [number, number];
}

/** Counts of every plan and models, shared by all indicators with outcomes in the same units. */
interface SharedByUnits {
  counts: Float64Array;
  models: readonly AdjustmentModel[];
  /** Sums of what a model leaves of the sides, which the effect is a multiple of. */
  sides: Map<AdjustmentModel, PlanSums>;
}

/** Randomisation tests by the same reference plans. */
export class RandomizationTests {
  readonly #reference: ReferencePlans;
  readonly #plan: { unitMinutes: number; coins: readonly CoinGroup[] };
  readonly #shared = new Map<string, SharedByUnits>();

  constructor(reference: ReferencePlans, plan: { unitMinutes: number; coins: readonly CoinGroup[] }) {
    this.#reference = reference;
    this.#plan = plan;
  }

  /** Estimates the effect; null when a side has too few counted units with an outcome. */
  estimateEffect({ units, outcomes, tolerance }: UnitOutcomes): SwitchbackEstimate | null {
    const { realPlan } = this.#reference;
    const shared = this.#shareByUnits(units);
    const model = chooseModel(shared.models, outcomes);
    if (!model) return null;
    const residuals = removeFit(outcomes, model);
    const sums = this.#sum(units, residuals, COUNTED);
    const compareSides = (plan: number) => compareSums(shared.counts, sums, plan, COUNTED);
    const observed = compareSides(realPlan);
    const sides = this.#sumSides(units, shared, model);
    // Adjustment takes a part of the effect away where the sides are not balanced over the covariates.
    const share = compareSums(shared.counts, sides, realPlan, COUNTED)?.difference ?? 0;
    if (observed === null || share <= 0) return null;
    const distances = this.#measureDistances((plan) => studentise(compareSides(plan)));
    const effect = observed.difference / share;
    const { counts } = shared;
    const ties = [outcomes, residuals].map((values) => this.#findTie({ units, outcomes: values, tolerance }));
    const isSpread = ties.every((tie) => tie.differing >= DIFFERING_MIN || tie.isSide);
    return {
      effect,
      interval: isSpread ? computeInterval(effect, observed.error / share, distances, LEVEL) : null,
      differing: Math.min(...ties.map(({ differing }) => differing)),
      p_value: shareAtLeast(distances, studentise(observed)),
      carry_over_p_value: this.#testCarryOver((plan) =>
        compareFirstUnits({ counts, sums, sides, effect }, plan),
      ),
      covariates: model.covariates,
      control_units: observed.counts[0],
      candidate_units: observed.counts[1],
      spread: computeSpread(observed),
      // The parameters of the model, its mean among them, and the effect.
      degrees: Math.max(1, observed.counts[0] + observed.counts[1] - model.basis.length - 1),
    };
  }

  /** Returns the number of counted units outside the largest tie. `isSide` is true where every unit of a side is outside. */
  #findTie({ units, outcomes, tolerance }: UnitOutcomes): { differing: number; isSide: boolean } {
    const { real } = this.#reference;
    const counted = units
      .map((unit, index) => ({ flags: real[unit] ?? 0, value: outcomes[index] ?? 0 }))
      .filter(({ flags }) => (flags & COUNTED) !== 0)
      .sort((a, b) => a.value - b.value);
    let [start, largest, size] = [0, 0, 0];
    for (const [end, { value }] of counted.entries()) {
      while (value - (counted[start]?.value ?? 0) > tolerance) start += 1;
      if (end - start + 1 > size) [largest, size] = [start, end - start + 1];
    }
    const sides = new Set(counted.slice(largest, largest + size).map(({ flags }) => flags & CANDIDATE));
    return { differing: counted.length - size, isSide: sides.size === 1 };
  }

  /**
   * Tests equal means of the units of both sides, counted or not. Returns the p-value and the 95 % upper bound of the difference; null when
   * a side has fewer than two units.
   */
  testEqualUnits(
    units: readonly number[],
    values: readonly number[],
  ): { p_value: number; upper: number } | null {
    // Without the first value equal values are exactly 0, so that rounding makes no difference of them.
    const centred = Float64Array.from(values, (value) => value - (values[0] ?? 0));
    const sums = this.#sum(units, centred, 0);
    const { counts } = this.#shareByUnits(units);
    const compareSides = (plan: number) => compareSums(counts, sums, plan, 0);
    const observed = compareSides(this.#reference.realPlan);
    if (observed === null) return null;
    // Mostly every unit has as many runs and no failure: no plan shows a difference.
    if (centred.every((value) => value === 0)) return { p_value: 1, upper: 0 };
    const distances = this.#measureDistances((plan) => studentise(compareSides(plan)));
    const { difference, error } = observed;
    return {
      p_value: shareAtLeast(distances, studentise(observed)),
      upper: computeInterval(difference, error, distances, 2 * LEVEL)?.high ?? 1,
    };
  }

  /**
   * Tests that the first counted units after a switch have the same effect as later ones. They differ when the influence of
   * a switch lasts more than `carryOverUnits` units (after Bojinov et al.). Returns null when a group has fewer than two
   * units.
   */
  #testCarryOver(computeStatistic: (plan: number) => number | null): number | null {
    const observed = computeStatistic(this.#reference.realPlan);
    return observed === null ? null : shareAtLeast(this.#measureDistances(computeStatistic), observed);
  }

  #shareByUnits(units: readonly number[]): SharedByUnits {
    const key = units.join();
    const known = this.#shared.get(key);
    if (known) return known;
    const shared = {
      counts: this.#sum(units, new Float64Array(units.length).fill(1), 0).sums,
      models: listModels(units, this.#plan),
      sides: new Map<AdjustmentModel, PlanSums>(),
    };
    this.#shared.set(key, shared);
    return shared;
  }

  #sumSides(units: readonly number[], { sides }: SharedByUnits, model: AdjustmentModel): PlanSums {
    const known = sides.get(model);
    if (known) return known;
    const values = Float64Array.from(units, (unit) => (this.#reference.real[unit] ?? 0) & CANDIDATE);
    const sums = this.#sum(units, removeFit(values, model), COUNTED);
    sides.set(model, sums);
    return sums;
  }

  #sum(units: readonly number[], values: Float64Array, firstGroup: number): PlanSums {
    const byUnit = new Float64Array(this.#reference.plans.units);
    units.forEach((unit, index) => {
      byUnit[unit] = values[index] ?? 0;
    });
    return sumPlans(this.#reference.plans, byUnit, firstGroup);
  }

  /** Distances from 0 of the statistics of the reference plans that have one. */
  #measureDistances(computeStatistic: (plan: number) => number | null): Float64Array {
    const { count } = this.#reference.plans;
    const distances = new Float64Array(count);
    let length = 0;
    for (let plan = 0; plan < count; plan += 1) {
      const statistic = computeStatistic(plan);
      if (statistic === null) continue;
      distances[length] = Math.abs(statistic);
      length += 1;
    }
    return distances.subarray(0, length);
  }
}

/** Returns the interval of the effect; sorts the distances. */
function computeInterval(
  effect: number,
  error: number,
  distances: Float64Array,
  level: number,
): Interval | null {
  distances.sort();
  const limit = distances[distances.length - 1 - Math.floor(level * distances.length)];
  const half = (limit ?? Number.POSITIVE_INFINITY) * error;
  return Number.isFinite(half) ? { low: effect - half, high: effect + half } : null;
}

function shareAtLeast(distances: Float64Array, observed: number | null): number {
  const limit = Math.abs(observed ?? 0) * (1 - ROUNDING);
  return distances.reduce((count, distance) => count + Number(distance >= limit), 0) / distances.length;
}

/** Compares the sides over the groups that have all of `flags`; returns null when a side has fewer than two units. */
function compareSums(
  counts: Float64Array,
  { sums, squares }: PlanSums,
  plan: number,
  flags: number,
): Contrast | null {
  const number: [number, number] = [0, 0];
  const sum: [number, number] = [0, 0];
  const square: [number, number] = [0, 0];
  for (let group = 0; group < GROUPS; group += 1) {
    if ((group & flags) !== flags) continue;
    const side = group & CANDIDATE ? 1 : 0;
    const entry = plan * GROUPS + group;
    number[side] += counts[entry] ?? 0;
    sum[side] += sums[entry] ?? 0;
    square[side] += squares[entry] ?? 0;
  }
  if (Math.min(...number) < SIDE_UNITS_MIN) return null;
  const variance = (side: 0 | 1) => {
    const squaredDeviations = square[side] - sum[side] ** 2 / number[side];
    // Equal values leave a rounding error, which must not become a spread.
    return squaredDeviations <= SQUARES_ROUNDING * square[side]
      ? 0
      : squaredDeviations / (number[side] - 1) / number[side];
  };
  return {
    difference: sum[1] / number[1] - sum[0] / number[0],
    error: Math.sqrt(variance(0) + variance(1)),
    counts: number,
  };
}

function studentise(found: Contrast | null): number | null {
  if (found === null) return null;
  const { difference, error } = found;
  if (error > 0) return difference / error;
  return difference === 0 ? 0 : Number.POSITIVE_INFINITY * Math.sign(difference);
}

interface EffectSums {
  counts: Float64Array;
  sums: PlanSums;
  sides: PlanSums;
  effect: number;
}

/**
 * Returns the effect in the first counted units after a switch minus the effect in later ones. It subtracts the estimated
 * effect first: the model is linear, so the sums of the effect are a multiple of those of the sides.
 */
function compareFirstUnits({ counts, sums, sides, effect }: EffectSums, plan: number): number | null {
  const average = (group: number) => {
    const entry = plan * GROUPS + group;
    const value = (sums.sums[entry] ?? 0) - effect * (sides.sums[entry] ?? 0);
    const count = counts[entry] ?? 0;
    return count < SIDE_UNITS_MIN ? Number.NaN : value / count;
  };
  const longer = COUNTED + FOLLOWS_COUNTED;
  const found =
    average(COUNTED + CANDIDATE) - average(COUNTED) - (average(longer + CANDIDATE) - average(longer));
  if (Number.isNaN(found)) return null;
  // Without other influences only the rounding of the effect is left.
  return Math.abs(found) <= ROUNDING * Math.abs(effect) ? 0 : found;
}

/** Returns the spread of one unit that gives the contrast's standard error. */
function computeSpread({ error, counts: [controls, candidates] }: Contrast): number {
  return error / Math.sqrt(1 / controls + 1 / candidates);
}
