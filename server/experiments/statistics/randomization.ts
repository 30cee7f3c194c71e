/**
 * The analysis of a switchback test. The plan drew the instance of each unit independently and with equal chances, so the
 * units are what is independent, and the same drawing tells what chance alone would do: the p-value is the share of all
 * assignments whose difference of means is at least as far from 0 as the observed one.
 *
 * - A unit's value is the mean over its runs that succeeded with a usable number; a unit without any is left out, and said.
 * - Assignments that give all units to one side have no difference of means: they are no part of the reference. Without a
 *   unit on both sides there is no estimate.
 * - Up to 16 units all assignments are gone through; above, 20,000 seeded draws, the observed one counted among them.
 * - The interval is the set of constant effects the test would not reject: each assignment stops rejecting between two
 *   effects that can be computed, so the ends are found exactly, by sorting. An end that no effect reaches is no end, and
 *   there is no interval then (below 6 units always).
 * - A verdict needs ten units, two of them on each side; otherwise the rules are those of verdict.ts.
 */
import { Assignments } from './assignments.ts';
import type { Interval } from './bootstrap.ts';
import { DEFAULT_TOLERANCE, type Estimate, formatMargin, type Tolerance } from './comparison.ts';
import { clampToFinite, computeScale, mean, standardDeviation } from './numbers.ts';
import {
  countMissing,
  countRuns,
  findReportedValue,
  type Observation,
  type RunCounts,
  toUsableNumber,
} from './observations.ts';
import { decideVerdict, estimateMoreUnits, formatCount, type Objective, type Verdict } from './verdict.ts';

/** One unit of the plan with the runs it served. */
export interface PlanUnit {
  index: number;
  instance_id: string;
  runs: readonly Observation[];
}

export interface SwitchbackSettings {
  objective: Objective;
  control_instance_id: string;
  candidate_instance_id: string;
  tolerance?: Tolerance;
  draws?: number;
  seed?: string;
}

interface SwitchbackSide {
  instance_id: string;
  /** Units of the plan, and those with a usable value. */
  units: { total: number; usable: number };
  runs: RunCounts;
  missing: number;
  /** Of the usable units' means. */
  mean: number | null;
}

interface UnitMean {
  index: number;
  instance_id: string;
  /** Runs the mean is over. */
  runs: number;
  mean: number;
}

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
    /** Assignments gone through, the observed one among them. */
    assignments: number;
    seed: string;
  };
  tolerance: Tolerance;
}

/** The largest number of units whose assignments are all gone through: 65,534. */
const EXACT_MAX = 16;
const DRAW_COUNT = 20_000;
const UNITS_ON_A_SIDE = 2;
const LEVEL = 0.05;
/** Sums of the same values in another order differ by rounding, at most by this share of the largest; they tie. */
const ROUNDING = 1e-12;

/** Compares the two instances of a switchback test for one indicator; see the head of this file. */
export function compareUnits(
  plan: readonly PlanUnit[],
  indicator: string,
  settings: SwitchbackSettings,
): SwitchbackComparison {
  const instances = [settings.control_instance_id, settings.candidate_instance_id];
  const units = plan
    .filter(({ instance_id }) => instances.includes(instance_id))
    .flatMap((unit) => unitMean(unit, indicator))
    .sort((a, b) => a.index - b.index);
  const scale = computeScale(units.map((unit) => unit.mean));
  const values = Float64Array.from(units, (unit) => unit.mean * scale.factor);
  const given = Uint8Array.from(units, ({ instance_id }) =>
    Number(instance_id === settings.candidate_instance_id),
  );
  const controls = values.filter((_, index) => given[index] === 0);
  const candidates = values.filter((_, index) => given[index] === 1);
  const both = controls.length > 0 && candidates.length > 0;
  const drawing = { draws: settings.draws ?? DRAW_COUNT, seed: settings.seed ?? 'switchyard' };
  const found = both ? randomize(values, given, drawing) : null;
  const tolerance = settings.tolerance ?? DEFAULT_TOLERANCE;
  const margin =
    tolerance.type === 'absolute'
      ? tolerance.value * scale.factor
      : tolerance.value * Math.abs(mean(controls));
  const enough = Math.min(controls.length, candidates.length) >= UNITS_ON_A_SIDE;
  const { verdict, reasons } = decideVerdict({
    unit: 'unit',
    usable: both ? units.length : 0,
    difference: found?.difference ?? 0,
    interval: enough ? (found?.interval ?? null) : null,
    test: {
      name: 'the randomization test',
      p_value: found?.p_value ?? null,
      direction: found?.difference ?? 0,
    },
    all_equal: values.every((value) => value === values[0]),
    margin,
    margin_in_words: formatMargin(tolerance),
    objective: settings.objective,
  });
  const side = (instance_id: string, means: Float64Array) =>
    sideOf(
      plan,
      indicator,
      instance_id,
      means.length === 0 ? null : clampToFinite(mean(means) * scale.inverse),
    );
  const control = side(settings.control_instance_id, controls);
  const candidate = side(settings.candidate_instance_id, candidates);
  const pooled = Float64Array.of(
    ...controls.map((value) => value - mean(controls)),
    ...candidates.map((value) => value - mean(candidates)),
  );
  const seen = {
    usable: units.length,
    difference: found?.difference ?? 0,
    // Two means of half the units each: four times the variance of a unit over their number.
    spread: 2 * standardDeviation(pooled),
    margin,
    score: null,
    least: 0,
  };
  return {
    indicator,
    objective: settings.objective,
    verdict,
    more_units: verdict === 'undecided' && both ? estimateMoreUnits(seen) : null,
    reasons,
    warnings: warningsOf(control, candidate),
    control,
    candidate,
    units,
    mean_difference: found && {
      value: clampToFinite(found.difference * scale.inverse),
      interval: found.interval && {
        low: clampToFinite(found.interval.low * scale.inverse),
        high: clampToFinite(found.interval.high * scale.inverse),
      },
    },
    randomization: {
      p_value: found?.p_value ?? null,
      method: units.length <= EXACT_MAX ? 'exact' : 'draws',
      assignments: found?.assignments ?? 0,
      seed: drawing.seed,
    },
    tolerance,
  };
}

function unitMean({ index, instance_id, runs }: PlanUnit, indicator: string): UnitMean[] {
  const values = runs
    .map((run) => (run.status === 'succeeded' ? toUsableNumber(findReportedValue(run, indicator)) : null))
    .filter((value) => value !== null)
    .sort((a, b) => a - b);
  if (values.length === 0) return [];
  const { factor: into, inverse: back } = computeScale(values);
  return [
    {
      index,
      instance_id,
      runs: values.length,
      mean: clampToFinite(mean(values.map((value) => value * into)) * back),
    },
  ];
}

interface Randomized {
  difference: number;
  p_value: number;
  interval: Interval | null;
  assignments: number;
}

/** Goes through assignments, or draws them, and keeps of each whether it is as extreme and where it stops rejecting. */
function randomize(
  values: Float64Array,
  given: Uint8Array,
  { draws, seed }: { draws: number; seed: string },
): Randomized {
  const total = values.length;
  const centre = mean(values);
  const centred = values.map((value) => value - centre);
  const own = given.reduce((units, one) => units + one, 0);
  // With the centre taken away both sides' sums are opposite, so that one of them tells the difference of the means.
  const differenceOf = (units: number, sum: number) => (sum * total) / (units * (total - units));
  const observed = differenceOf(
    own,
    centred.reduce((sum, value, index) => sum + value * (given[index] ?? 0), 0),
  );
  const rounding = ROUNDING * centred.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  const lows: number[] = [];
  const highs: number[] = [];
  let extreme = 0;
  const visit = (units: number, sum: number, shared: number) => {
    const difference = differenceOf(units, sum);
    if (Math.abs(difference) >= Math.abs(observed) - rounding) extreme += 1;
    // By how much a constant effect of 1 on the units that had the candidate moves this assignment's difference.
    const moved = shared / units - (own - shared) / (total - units);
    const one = moved === 1 ? Number.NEGATIVE_INFINITY : (observed - difference) / (1 - moved);
    const other = moved === -1 ? Number.NEGATIVE_INFINITY : (observed + difference) / (1 + moved);
    if (Math.abs(moved) === 1) {
      lows.push(Number.NEGATIVE_INFINITY);
      highs.push(Number.POSITIVE_INFINITY);
    } else {
      lows.push(Math.min(one, other));
      highs.push(Math.max(one, other));
    }
  };
  const assignments = new Assignments(centred, given);
  if (total <= EXACT_MAX) assignments.visitAll(visit);
  else {
    visit(
      own,
      centred.reduce((sum, value, index) => sum + value * (given[index] ?? 0), 0),
      own,
    );
    assignments.visitRandom(draws, seed, visit);
  }
  return {
    difference: observed,
    p_value: extreme / lows.length,
    interval: intervalOf(Float64Array.from(lows).sort(), Float64Array.from(highs).sort()),
    assignments: lows.length,
  };
}

/** Where more than 5 % of the assignments are at least as extreme, from both ends. */
function intervalOf(lows: Float64Array, highs: Float64Array): Interval | null {
  const rejected = Math.floor(LEVEL * lows.length);
  const low = lows[rejected] ?? Number.NEGATIVE_INFINITY;
  const high = highs[highs.length - 1 - rejected] ?? Number.POSITIVE_INFINITY;
  return Number.isFinite(low) && Number.isFinite(high) ? { low, high } : null;
}

function sideOf(
  plan: readonly PlanUnit[],
  indicator: string,
  instance_id: string,
  mean: number | null,
): SwitchbackSide {
  const own = plan.filter((unit) => unit.instance_id === instance_id);
  const runs = own.flatMap((unit) => unit.runs);
  return {
    instance_id,
    units: { total: own.length, usable: own.filter((unit) => unitMean(unit, indicator).length > 0).length },
    runs: countRuns(runs),
    missing: countMissing(runs, indicator),
    mean,
  };
}

function warningsOf(control: SwitchbackSide, candidate: SwitchbackSide): string[] {
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
    'What a unit leaves behind for the next one (plans in progress, stock, queues) counts for the next one: ' +
      'this analysis cannot see such carry-over.',
  );
  return warnings;
}
