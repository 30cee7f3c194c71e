/**
 * The analysis of a switchback test: the candidate against the baseline over the units of a plan.
 *
 * Every run that arrives in a unit counts for the side of that unit in the plan, whichever instance served it (intention to
 * treat). Without the runs that a candidate refused, an identical candidate was better in up to 100 % of tests. The outcome
 * of a unit is the mean over its runs. Units within `carryOverUnits` after a switch are not counted. The head of estimate.ts
 * describes estimate, interval and p-value; design.ts has the designs.
 */
import { computeScale } from '../numbers.ts';
import { countRuns, type RunCounts } from '../observations.ts';
import { computeMargin, type Margin, prefersRelative } from '../paired/effect-scale.ts';
import type { Measure } from '../paired/units.ts';
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
}

/** The numbers of a test that do not depend on the indicator. */
export interface MeasuredPlan {
  plan: readonly PlanUnit[];
  reference: ReferencePlans;
  tests: RandomizationTests;
  coins: number;
  /** The p-value of equal numbers of runs in the units of both sides; below 0.001 no verdict survives. */
  sampleRatioPValue: number | null;
  /** Shares of failed runs, and the 95 % upper bound of the share that the candidate fails more. */
  failures: { control: number; candidate: number; p_value: number; excess_upper: number };
  refusedShare: number;
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
  const tests = new RandomizationTests(reference, design.unitMinutes);
  const listRuns = (side: boolean) =>
    plan.filter(({ isCandidate }) => isCandidate === side).flatMap(({ runs }) => runs);
  const routed = plan.slice(skippedUnits);
  const testUnits = (measure: (unit: PlanUnit) => number) =>
    tests.testEqualUnits(
      routed.map(({ index }) => index),
      routed.map(measure),
    );
  const failureTest = testUnits(({ runs }) => computeShare(runs, hasFailed));
  return {
    plan,
    reference,
    tests,
    coins: coins.length,
    sampleRatioPValue: testUnits(({ runs }) => runs.length)?.p_value ?? null,
    failures: {
      control: computeShare(listRuns(false), hasFailed),
      candidate: computeShare(listRuns(true), hasFailed),
      p_value: failureTest?.p_value ?? 1,
      excess_upper: failureTest?.upper ?? 1,
    },
    refusedShare: computeShare(listRuns(true), ({ candidate_refused }) => candidate_refused === true),
  };
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
  { reference, tests }: MeasuredPlan,
  settings: MeasureSettings,
  { units, missing }: IndicatorOutcomes,
): SwitchbackMeasurement {
  const positive = units.every(({ mean: value }) => value > 0);
  const measure: Measure = prefersRelative(settings) && positive ? 'relative' : 'absolute';
  const factor = measure === 'relative' ? 1 : computeScale(units.map((unit) => unit.mean)).factor;
  const values = units.map(({ mean: value }) => (measure === 'relative' ? Math.log(value) : value * factor));
  const estimate = tests.estimateEffect({
    units: units.map(({ index }) => index),
    // Without the first value equal outcomes are exactly 0, so that rounding makes no effect of them.
    outcomes: Float64Array.from(values, (value) => value - (values[0] ?? 0)),
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
  };
}

function hasFailed({ status }: SwitchbackRun): boolean {
  return status === 'failed';
}

function computeShare(runs: readonly SwitchbackRun[], has: (run: SwitchbackRun) => boolean): number {
  return runs.length === 0 ? 0 : runs.filter(has).length / runs.length;
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
