/**
 * The analysis of a switchback test: the candidate against the baseline over the units of a plan.
 *
 * Every run that arrives in a unit counts for the side of that unit in the plan, whichever instance served it (intention to
 * treat). Without the runs that a candidate refused, an identical candidate was better in up to 100 % of tests. The outcome
 * of a unit is the mean over its runs. Units within `carryOverUnits` after a switch are not counted. The head of estimate.ts
 * describes estimate, interval and p-value; design.ts has the designs.
 */
import { computeClopperPearson } from '../distributions.ts';
import { OTHERS_CONFIDENCE } from '../error-rates.ts';
import { clampToFinite, computeScale, logOfSum } from '../numbers.ts';
import { countRuns, type RunCounts } from '../observations.ts';
import { computeMargin, type Margin, prefersRelative } from '../paired/effect-scale.ts';
import type { Estimate } from '../paired/estimates.ts';
import type { Measure } from '../paired/units.ts';
import type { TieEvidence } from '../paired/verdict.ts';
import { listCoins, type SwitchbackDesign } from './design.ts';
import { RandomizationTests, type SwitchbackEstimate } from './estimate.ts';
import { COUNTED } from './plan-sums.ts';
import { listReferencePlans, type ReferencePlans } from './reference.ts';
import { type IndicatorOutcomes, type PlanUnit, readOutcomes, type SwitchbackRun } from './unit-outcomes.ts';

/** How the units of a test are analysed, for every indicator alike. */
export interface PlanSettings {
  design: SwitchbackDesign;
  /** Units that ended before the start of the test, while the control served; 0 by default. */
  skippedUnits?: number;
  seed: string;
  draws?: number;
}

/** How one indicator is compared. */
export interface MeasureSettings {
  indicator: string;
  measure: Measure | 'auto';
  margin: Margin;
  shift: number;
  tie_tolerance: number;
}

/** The numbers of a test that do not depend on the indicator. */
export interface MeasuredPlan {
  plan: readonly PlanUnit[];
  reference: ReferencePlans;
  tests: RandomizationTests;
  coins: number;
  /** The p-value of equal numbers of runs in the units of both sides; below 0.001 no verdict survives. */
  sampleRatioPValue: number | null;
  failures: LostRuns;
  refusedShare: number;
  /** Units of the plan before the start of the test. */
  skippedUnits: number;
}

/** Shares of lost runs of both sides, and the 95 % upper bound of the share that the candidate loses more. */
export interface LostRuns {
  control: number;
  candidate: number;
  p_value: number;
  excess_upper: number;
}

/** The numbers of one indicator before the family's correction. */
export interface SwitchbackMeasurement {
  measure: Measure;
  /** On the scale of the measure: ln(candidate / control), or the difference times `factor`. */
  estimate: SwitchbackEstimate | null;
  factor: number;
  margin: number;
  units: { index: number; isCandidate: boolean; runs: number; mean: number; counted: boolean }[];
  missing: IndicatorOutcomes['missing'];
  /** Added to every mean before a ratio is taken. */
  shift: number;
  /**
   * Runs that ended without a number: failed, canceled, or succeeded without one. An identical candidate that reported no
   * number on the hardest 5 % of the runs, or whose callers canceled them, was better in 41 % of tests with 48 units.
   */
  losses: LostRuns;
}

/** Lists the reference plans, and tests the numbers of runs and the failures of the units by them. */
export function measurePlan(plan: readonly PlanUnit[], settings: PlanSettings): MeasuredPlan {
  const { design, seed, draws, skippedUnits = 0 } = settings;
  const coins = listCoins(design);
  const assignment = Uint8Array.from(plan, ({ isCandidate }) => Number(isCandidate));
  const reference = listReferencePlans(coins, assignment, design.carryOverUnits, {
    seed,
    skippedUnits,
    ...(draws === undefined ? {} : { draws }),
  });
  const tests = new RandomizationTests(reference, { unitMinutes: design.unitMinutes, coins });
  const listRuns = (side: boolean) =>
    plan.filter(({ isCandidate }) => isCandidate === side).flatMap(({ runs }) => runs);
  const testUnits = (measure: (unit: PlanUnit) => number) =>
    testRoutedUnits(tests, plan.map(measure), skippedUnits);
  const failureTest = testUnits(({ runs }) => computeShare(runs, hasFailed));
  return {
    plan,
    reference,
    tests,
    coins: coins.length,
    // A deleted run arrived like any other.
    sampleRatioPValue: testUnits(({ runs, deleted = 0 }) => runs.length + deleted)?.p_value ?? null,
    failures: {
      control: computeShare(listRuns(false), hasFailed),
      candidate: computeShare(listRuns(true), hasFailed),
      p_value: failureTest?.p_value ?? 1,
      excess_upper: failureTest?.upper ?? 1,
    },
    refusedShare: computeShare(listRuns(true), ({ candidate_refused }) => candidate_refused === true),
    skippedUnits,
  };
}

/** Tests that a number of each unit, in the order of the plan, has the same distribution on both sides. */
function testRoutedUnits(tests: RandomizationTests, values: readonly number[], skippedUnits: number) {
  const indices = Array.from(values.keys()).slice(skippedUnits);
  return tests.testEqualUnits(indices, values.slice(skippedUnits));
}

/** Measures every indicator over the units of the plan that have ended; see the head of this file. */
export function measureIndicators(
  plan: MeasuredPlan,
  indicators: readonly MeasureSettings[],
  burnInMinutes: number,
): SwitchbackMeasurement[] {
  const names = indicators.map(({ indicator }) => indicator);
  const outcomes = readOutcomes(plan.plan, names, burnInMinutes);
  return indicators.flatMap((settings, index) => {
    const own = outcomes[index];
    return own ? [measureIndicator(plan, settings, own)] : [];
  });
}

function measureIndicator(
  measured: MeasuredPlan,
  settings: MeasureSettings,
  outcomes: IndicatorOutcomes,
): SwitchbackMeasurement {
  const { reference, tests } = measured;
  const { units, missing } = outcomes;
  const { shift } = settings;
  const positive = units.every(({ mean: value }) => value + shift > 0);
  const measure: Measure = prefersRelative(settings) && positive ? 'relative' : 'absolute';
  const factor = measure === 'relative' ? 1 : computeScale(units.map((unit) => unit.mean)).factor;
  const values = units.map(({ mean: value }) =>
    measure === 'relative' ? logOfSum(value, shift) : value * factor,
  );
  const estimate = tests.estimateEffect({
    units: units.map(({ index }) => index),
    // Without the first value equal outcomes are exactly 0, so that rounding makes no effect of them.
    outcomes: Float64Array.from(values, (value) => value - (values[0] ?? 0)),
    tolerance: settings.tie_tolerance * (measure === 'relative' ? 1 : Math.max(...values.map(Math.abs))),
  });
  const ownUnits = units.map((unit) => ({
    ...unit,
    counted: ((reference.real[unit.index] ?? 0) & COUNTED) !== 0,
  }));
  const controls = ownUnits
    .filter((unit) => unit.counted && !unit.isCandidate)
    .map((unit) => unit.mean * factor);
  return {
    measure,
    estimate,
    factor,
    margin: computeMargin(settings.margin, { measure, factor }, controls),
    units: ownUnits,
    missing,
    shift,
    losses: compareLostRuns(measured, outcomes),
  };
}

function compareLostRuns(
  { plan, tests, failures, skippedUnits }: MeasuredPlan,
  { missing, lostShares }: IndicatorOutcomes,
): LostRuns {
  const hasCanceled = plan.some(({ runs }) => runs.some(({ status }) => status === 'canceled'));
  if (!hasCanceled && missing.control + missing.candidate === 0) return failures;
  const test = testRoutedUnits(tests, lostShares, skippedUnits);
  const computeSideShare = (side: boolean) => {
    let runs = 0;
    let lost = 0;
    for (const [index, unit] of plan.entries()) {
      if (unit.isCandidate !== side) continue;
      runs += unit.runs.length;
      lost += (lostShares[index] ?? 0) * unit.runs.length;
    }
    return runs === 0 ? 0 : lost / runs;
  };
  return {
    control: computeSideShare(false),
    candidate: computeSideShare(true),
    p_value: test?.p_value ?? 1,
    excess_upper: test?.upper ?? 1,
  };
}

function hasFailed({ status }: SwitchbackRun): boolean {
  return status === 'failed';
}

function computeShare(runs: readonly SwitchbackRun[], has: (run: SwitchbackRun) => boolean): number {
  return runs.length === 0 ? 0 : runs.filter(has).length / runs.length;
}

/**
 * Returns how many counted units tie or differ. Each side is seen in its own units only, so the fewer units of a side bound the
 * share of others.
 */
export function describeTiedUnits({
  differing,
  control_units,
  candidate_units,
}: SwitchbackEstimate): TieEvidence {
  return {
    differing,
    independent: Math.min(control_units, candidate_units),
    upper: computeClopperPearson(differing, control_units + candidate_units, OTHERS_CONFIDENCE).high,
    largest_loss: null,
  };
}

/** Counts the runs of one side of the plan, by how they ended. */
export function describePlanSide(
  plan: readonly PlanUnit[],
  isCandidate: boolean,
): { runs: RunCounts; units: number; refused: number } {
  const units = plan.filter((unit) => unit.isCandidate === isCandidate);
  const runs = units.flatMap((unit) => unit.runs);
  return {
    runs: countRuns(runs),
    units: units.length,
    refused: runs.filter(({ candidate_refused }) => candidate_refused === true).length,
  };
}

/** The means of both sides between which the difference is the estimate. */
export interface EstimatedMeans {
  control: number;
  candidate: number;
}

/**
 * Returns the means at the average of the covariates, on the scale that people read (least-squares means). The raw means of
 * the counted units contain what the estimate is adjusted for; a ratio has geometric means.
 */
export function estimateMeans({
  estimate,
  units,
  measure,
  factor,
  shift,
}: SwitchbackMeasurement): EstimatedMeans | null {
  const counted = units.filter((unit) => unit.counted);
  if (estimate === null || counted.length === 0) return null;
  const isRelative = measure === 'relative';
  const values = counted.map(({ mean }) => (isRelative ? logOfSum(mean, shift) : mean * factor));
  const average = values.reduce((sum, value) => sum + value / values.length, 0);
  const share = counted.filter(({ isCandidate }) => isCandidate).length / counted.length;
  const control = average - share * estimate.effect;
  const convert = (value: number) => clampToFinite(isRelative ? Math.exp(value) - shift : value / factor);
  return { control: convert(control), candidate: convert(control + estimate.effect) };
}

/** Returns the estimate as people read it: a ratio, or a difference. */
export function scaleEstimate({ estimate, measure, factor }: SwitchbackMeasurement): Estimate | null {
  if (estimate === null) return null;
  const convert = (value: number) => clampToFinite(measure === 'relative' ? Math.exp(value) : value / factor);
  return {
    value: convert(estimate.effect),
    interval:
      estimate.interval === null
        ? null
        : { low: convert(estimate.interval.low), high: convert(estimate.interval.high) },
  };
}
