/**
 * The randomization test of a switchback test. The plan drew the instance of each unit independently and with equal
 * chances. So the units are independent, and the same drawing defines the distribution under the null hypothesis. The
 * p-value is the share of all assignments whose difference of means is at least as far from 0 as the observed one.
 *
 * - A unit's value is the mean over its runs that succeeded with a usable number. The analysis omits a unit without one,
 *   and a warning says so.
 * - An assignment of all units to one side has no difference of means, so the distribution excludes it. Without a unit on
 *   both sides there is no estimate.
 * - Up to 16 units the test visits all assignments; above, 20,000 seeded draws and the observed assignment.
 * - The interval is the set of constant effects that the test does not reject. Each assignment counts as extreme outside
 *   two effects with a closed form, so sorting them finds the ends exactly. Without a finite end there is no interval
 *   (below 6 units always).
 * - A verdict needs ten units, two of them on each side; the other rules are those of verdict.ts.
 */
import { Assignments } from './assignments.ts';
import type { Interval } from './bootstrap.ts';
import {
  computeMargin,
  DEFAULT_TOLERANCE,
  type Estimate,
  formatMargin,
  type Tolerance,
} from './comparison.ts';
import { clampToFinite, computeScale, mean, type Scale, standardDeviation } from './numbers.ts';
import {
  countMissing,
  countRuns,
  findReportedValue,
  type Observation,
  type RunCounts,
  toUsableNumber,
} from './observations.ts';
import {
  decideVerdict,
  estimateMoreUnits,
  formatCount,
  type Objective,
  type ObservedEffect,
  type Verdict,
} from './verdict.ts';

/** One unit of the plan with its runs. */
export interface PlanUnit {
  index: number;
  instance_id: string;
  runs: readonly Observation[];
}

/** The settings of a switchback analysis. */
export interface SwitchbackSettings {
  objective: Objective;
  control_instance_id: string;
  candidate_instance_id: string;
  tolerance?: Tolerance;
  /** Number of random assignments above 16 units; 20,000 by default. */
  draws?: number;
  seed?: string;
}

interface SwitchbackSide {
  instance_id: string;
  /** Units of the plan, and those with a usable value. */
  units: { total: number; usable: number };
  runs: RunCounts;
  missing: number;
  /** The mean of the usable units' means. */
  mean: number | null;
}

interface UnitMean {
  index: number;
  instance_id: string;
  /** Number of runs in the mean. */
  runs: number;
  mean: number;
}

/** The result of comparing the two instances for one indicator. */
export interface SwitchbackComparison {
  indicator: string;
  objective: Objective;
  verdict: Verdict;
  more_units: number | null;
  reasons: string[];
  warnings: string[];
  control: SwitchbackSide;
  candidate: SwitchbackSide;
  units: UnitMean[];
  mean_difference: Estimate | null;
  randomization: {
    /** Two-sided; null without a usable unit on both sides. */
    p_value: number | null;
    method: 'exact' | 'draws';
    /** Number of visited assignments, including the observed one. */
    assignments: number;
    seed: string;
  };
  tolerance: Tolerance;
}

/** The largest number of units with an exact test: 65,534 assignments. */
const EXACT_UNITS_MAX = 16;
const DRAW_COUNT = 20_000;
const UNITS_PER_SIDE_MIN = 2;
const SIGNIFICANCE_LEVEL = 0.05;
/** Sums of the same values in another order differ by at most this share of the largest value; such sums tie. */
const ROUNDING_SHARE = 1e-12;

/** Returns the comparison of the two instances of a switchback test for one indicator; see the head of this file. */
export function compareUnits(
  plan: readonly PlanUnit[],
  indicator: string,
  settings: SwitchbackSettings,
): SwitchbackComparison {
  const { objective, control_instance_id, candidate_instance_id } = settings;
  const sample = scaleUnits(plan, indicator, settings);
  const { units, scale, values, controls, candidates } = sample;
  const hasBothSides = controls.length > 0 && candidates.length > 0;
  const drawing = { draws: settings.draws ?? DRAW_COUNT, seed: settings.seed ?? 'switchyard' };
  const result = hasBothSides ? randomize(values, sample.assigned, drawing) : null;
  const tolerance = settings.tolerance ?? DEFAULT_TOLERANCE;
  const margin = computeMargin(tolerance, controls, scale);
  const hasEnoughUnits = Math.min(controls.length, candidates.length) >= UNITS_PER_SIDE_MIN;
  const difference = result?.difference ?? 0;
  const { verdict, reasons } = decideVerdict({
    unit: 'unit',
    usable: hasBothSides ? units.length : 0,
    difference,
    interval: hasEnoughUnits ? (result?.interval ?? null) : null,
    test: { name: 'the randomization test', p_value: result?.p_value ?? null, direction: difference },
    all_equal: values.every((value) => value === values[0]),
    margin,
    margin_in_words: formatMargin(tolerance),
    objective,
  });
  const control = summarizeSide(plan, indicator, control_instance_id, restoreMean(controls, scale));
  const candidate = summarizeSide(plan, indicator, candidate_instance_id, restoreMean(candidates, scale));
  const isEstimable = verdict === 'undecided' && hasBothSides;
  return {
    indicator,
    objective,
    verdict,
    more_units: isEstimable ? estimateMoreUnits(observeEffect(sample, difference, margin)) : null,
    reasons,
    warnings: listWarnings(control, candidate),
    control,
    candidate,
    units,
    mean_difference: result && restoreEstimate(result, scale),
    randomization: {
      p_value: result?.p_value ?? null,
      method: units.length <= EXACT_UNITS_MAX ? 'exact' : 'draws',
      assignments: result?.assignments ?? 0,
      seed: drawing.seed,
    },
    tolerance,
  };
}

/** The usable units with their scaled means, together and by side. */
interface ScaledUnits {
  units: UnitMean[];
  scale: Scale;
  values: Float64Array;
  /** 1 for the units of the candidate, 0 for those of the control. */
  assigned: Uint8Array;
  controls: Float64Array;
  candidates: Float64Array;
}

function scaleUnits(
  plan: readonly PlanUnit[],
  indicator: string,
  { control_instance_id, candidate_instance_id }: SwitchbackSettings,
): ScaledUnits {
  const instances = [control_instance_id, candidate_instance_id];
  const units = plan
    .filter(({ instance_id }) => instances.includes(instance_id))
    .flatMap((unit) => averageUnit(unit, indicator))
    .sort((a, b) => a.index - b.index);
  const scale = computeScale(units.map((unit) => unit.mean));
  const values = Float64Array.from(units, (unit) => unit.mean * scale.factor);
  const assigned = Uint8Array.from(units, ({ instance_id }) => Number(instance_id === candidate_instance_id));
  const controls = values.filter((_, index) => assigned[index] === 0);
  const candidates = values.filter((_, index) => assigned[index] === 1);
  return { units, scale, values, assigned, controls, candidates };
}

function observeEffect(
  { units, controls, candidates }: ScaledUnits,
  difference: number,
  margin: number,
): ObservedEffect {
  const pooled = Float64Array.of(
    ...controls.map((value) => value - mean(controls)),
    ...candidates.map((value) => value - mean(candidates)),
  );
  // The difference of two means of half the units each has four times the variance of a unit over their number.
  const spread = 2 * standardDeviation(pooled);
  return { usable: units.length, difference, spread, margin, score: null, least: 0 };
}

/** Returns the mean of scaled values in its own measure; null for no values. */
function restoreMean(values: Float64Array, { inverse }: Scale): number | null {
  return values.length === 0 ? null : clampToFinite(mean(values) * inverse);
}

function restoreEstimate({ difference, interval }: Randomized, { inverse }: Scale): Estimate {
  return {
    value: clampToFinite(difference * inverse),
    interval: interval && {
      low: clampToFinite(interval.low * inverse),
      high: clampToFinite(interval.high * inverse),
    },
  };
}

/** Returns the mean of a unit in a list, which is empty for a unit without a usable value. */
function averageUnit({ index, instance_id, runs }: PlanUnit, indicator: string): UnitMean[] {
  const values = runs
    .map((run) => (run.status === 'succeeded' ? toUsableNumber(findReportedValue(run, indicator)) : null))
    .filter((value) => value !== null)
    .sort((a, b) => a - b);
  if (values.length === 0) return [];
  const { factor, inverse } = computeScale(values);
  return [
    {
      index,
      instance_id,
      runs: values.length,
      mean: clampToFinite(mean(values.map((value) => value * factor)) * inverse),
    },
  ];
}

interface Randomized {
  difference: number;
  p_value: number;
  interval: Interval | null;
  assignments: number;
}

/** Counts the extreme assignments, and collects from each the two effects outside which it counts as extreme. */
function randomize(
  values: Float64Array,
  assigned: Uint8Array,
  { draws, seed }: { draws: number; seed: string },
): Randomized {
  const total = values.length;
  const centre = mean(values);
  const centred = values.map((value) => value - centre);
  const candidateUnits = assigned.reduce((units, one) => units + one, 0);
  // The sums of both sides of centred values are opposite, so one of them determines the difference of the means.
  const computeDifference = (units: number, sum: number) => (sum * total) / (units * (total - units));
  const candidateSum = centred.reduce((sum, value, index) => sum + value * (assigned[index] ?? 0), 0);
  const observed = computeDifference(candidateUnits, candidateSum);
  const rounding = ROUNDING_SHARE * centred.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  const lows: number[] = [];
  const highs: number[] = [];
  let extreme = 0;
  const visit = (units: number, sum: number, shared: number) => {
    const difference = computeDifference(units, sum);
    if (Math.abs(difference) >= Math.abs(observed) - rounding) extreme += 1;
    // The slope is the change of this assignment's difference for a constant effect of 1 on the candidate's units.
    const slope = shared / units - (candidateUnits - shared) / (total - units);
    const one = slope === 1 ? Number.NEGATIVE_INFINITY : (observed - difference) / (1 - slope);
    const other = slope === -1 ? Number.NEGATIVE_INFINITY : (observed + difference) / (1 + slope);
    if (Math.abs(slope) === 1) {
      lows.push(Number.NEGATIVE_INFINITY);
      highs.push(Number.POSITIVE_INFINITY);
    } else {
      lows.push(Math.min(one, other));
      highs.push(Math.max(one, other));
    }
  };
  const assignments = new Assignments(centred, assigned);
  if (total <= EXACT_UNITS_MAX) assignments.visitAll(visit);
  else {
    visit(candidateUnits, candidateSum, candidateUnits);
    assignments.visitRandom(draws, seed, visit);
  }
  return {
    difference: observed,
    p_value: extreme / lows.length,
    interval: findInterval(Float64Array.from(lows).sort(), Float64Array.from(highs).sort()),
    assignments: lows.length,
  };
}

/** Returns the effects at which more than 5 % of the assignments are extreme; null without a finite end. */
function findInterval(lows: Float64Array, highs: Float64Array): Interval | null {
  const rejected = Math.floor(SIGNIFICANCE_LEVEL * lows.length);
  const low = lows[rejected] ?? Number.NEGATIVE_INFINITY;
  const high = highs[highs.length - 1 - rejected] ?? Number.POSITIVE_INFINITY;
  return Number.isFinite(low) && Number.isFinite(high) ? { low, high } : null;
}

function summarizeSide(
  plan: readonly PlanUnit[],
  indicator: string,
  instance_id: string,
  mean: number | null,
): SwitchbackSide {
  const units = plan.filter((unit) => unit.instance_id === instance_id);
  const runs = units.flatMap((unit) => unit.runs);
  return {
    instance_id,
    units: {
      total: units.length,
      usable: units.filter((unit) => averageUnit(unit, indicator).length > 0).length,
    },
    runs: countRuns(runs),
    missing: countMissing(runs, indicator),
    mean,
  };
}

function listWarnings(control: SwitchbackSide, candidate: SwitchbackSide): string[] {
  const warnings: string[] = [];
  for (const [name, { units, runs }] of Object.entries({ control, candidate })) {
    if (units.total === 0) warnings.push(`The plan gives the ${name} no unit.`);
    else if (units.usable < units.total)
      warnings.push(
        `${formatCount(units.total - units.usable, 'unit')} of ${units.total} of the ${name} have no usable value and are left out.`,
      );
    if (runs.failed + runs.canceled > 0)
      warnings.push(
        `${runs.failed} failed and ${runs.canceled} canceled of ${formatCount(runs.total, 'run')} of the ${name} are left out.`,
      );
    if (runs.pending > 0) warnings.push(`${formatCount(runs.pending, 'run')} of the ${name} have not ended.`);
  }
  warnings.push(
    'The state that a unit passes on to the next one (plans in progress, stock, queues) counts for the next one: ' +
      'this analysis cannot see such carry-over.',
  );
  return warnings;
}
