/**
 * The units and the estimate of a switchback test: the candidate against the baseline over the units of a plan.
 *
 * Every run that arrives in a unit counts for the side of that unit in the plan, whichever instance served it (intention to
 * treat). Without the runs that a candidate refused, an identical candidate was better in up to 100 % of tests. The outcome
 * of a unit is the mean over its runs. Units within `carryOverUnits` after a switch are not counted. The head of estimate.ts
 * describes estimate, interval and p-value; design.ts has the designs.
 */

import { findIndicator } from '../../../runs/results/indicators.ts';
import {
  computeMargin,
  type EffectScale,
  type IndicatorSettings,
  prefersRelative,
} from '../comparison/effect-scale.ts';
import type { MeasuredUnits } from '../comparison/pipeline.ts';
import { chooseFinalAlpha, SMALL_COINS_MAX } from '../error-rates.ts';
import { computeScale, computeSortedMean, logOfSum } from '../numbers.ts';
import { indexIndicators, type Observation, toUsableNumber } from '../observations.ts';
import { COUNTED, listCoins, type SwitchbackDesign } from './design.ts';
import { RandomizationTests, type SwitchbackEstimate } from './estimate.ts';
import { type EndedUnits, measureIncrements } from './interim.ts';
import { listReferencePlans, type ReferencePlans } from './reference.ts';

/** A run with what became of it in a switchback test. */
export interface SwitchbackRun extends Observation {
  /** The candidate refused it, so the baseline served it. It still counts for the candidate's unit. */
  candidate_refused?: boolean;
  /** Minutes between the start of its unit and its arrival. */
  minutes_into_unit?: number;
}

/** One unit of the plan with the runs that arrived in it. */
export interface PlanUnit {
  index: number;
  /** True: the plan gave the unit to the candidate. */
  isCandidate: boolean;
  runs: readonly SwitchbackRun[];
  /** Runs of the unit that were deleted; 0 by default. */
  deleted?: number;
}

/** How the units of a test are analysed, for every indicator alike. */
interface PlanSettings {
  design: SwitchbackDesign;
  /** Units that ended before the start of the test, while the control served; 0 by default. */
  skippedUnits?: number;
  seed: string;
  draws?: number;
}

/** The numbers of a test that do not depend on the indicator. */
export interface MeasuredPlan {
  plan: readonly PlanUnit[];
  design: SwitchbackDesign;
  /** The side of each unit: 1 for the candidate. */
  assignment: Uint8Array;
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
export interface SwitchbackMeasurement extends MeasuredUnits {
  estimate: SwitchbackEstimate | null;
  /** Units with an outcome; `value` is its mean on the scale of the effect. */
  units: (UnitOutcome & { value: number; counted: boolean })[];
  missing: IndicatorOutcomes['missing'];
  ended: EndedUnits;
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
    design,
    assignment,
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
  indicators: readonly (IndicatorSettings & { indicator: string })[],
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
  settings: IndicatorSettings,
  outcomes: IndicatorOutcomes,
): SwitchbackMeasurement {
  const { reference, tests, plan, design, assignment, coins } = measured;
  const scale = chooseScale(outcomes, settings);
  const { measure, factor, shift } = scale;
  const units = outcomes.units.map((unit) => ({
    ...unit,
    value: measure === 'relative' ? logOfSum(unit.mean, shift) : unit.mean * factor,
    counted: ((reference.real[unit.index] ?? 0) & COUNTED) !== 0,
  }));
  const values = units.map(({ value }) => value);
  const estimate = tests.estimateEffect({
    units: units.map(({ index }) => index),
    // Without the first value equal outcomes are exactly 0, so that rounding makes no effect of them.
    outcomes: Float64Array.from(values, (value) => value - (values[0] ?? 0)),
    tolerance: settings.tie_tolerance * (measure === 'relative' ? 1 : Math.max(...values.map(Math.abs))),
  });
  const controls = units
    .filter((unit) => unit.counted && !unit.isCandidate)
    .map((unit) => unit.mean * factor);
  const orientation = settings.direction === 'maximize' ? -1 : 1;
  const outcomeOf = new Map(units.map(({ index, value }) => [index, value]));
  const ended = { assignment, outcomes: outcomeOf, endedUnits: plan.length };
  return {
    scale,
    orientation,
    estimate,
    effect: estimate?.effect ?? null,
    interval: estimate?.interval ?? null,
    margin: computeMargin(settings.margin, scale, controls),
    p_values: [estimate?.p_value ?? null],
    final_alpha: chooseFinalAlpha(coins, SMALL_COINS_MAX),
    interim: measureIncrements(design, ended, { measure, orientation }),
    units,
    missing: outcomes.missing,
    ended,
    losses: compareLostRuns(measured, outcomes),
  };
}

function chooseScale({ units }: IndicatorOutcomes, settings: IndicatorSettings): EffectScale {
  const { tie_tolerance, shift } = settings;
  const hasRatios = units.every(({ mean: value }) => value + shift > 0);
  const measure = prefersRelative(settings) && hasRatios ? 'relative' : 'absolute';
  const factor = measure === 'relative' ? 1 : computeScale(units.map((unit) => unit.mean)).factor;
  return { measure, tie_tolerance, shift, factor };
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

interface UnitOutcome {
  index: number;
  isCandidate: boolean;
  runs: number;
  mean: number;
}

/** The outcomes of one indicator. */
interface IndicatorOutcomes {
  /** Units with at least one run that succeeded with a number and arrived after the burn-in. */
  units: UnitOutcome[];
  /** Succeeded runs without a number. */
  missing: { control: number; candidate: number };
  /** Share of the runs of each unit of the plan that ended without a number. */
  lostShares: number[];
}

/** Returns the outcomes of each indicator, in the order of the names. Reads every run once. */
function readOutcomes(
  plan: readonly PlanUnit[],
  indicators: readonly string[],
  burnInMinutes: number,
): IndicatorOutcomes[] {
  const outcomes = indicators.map(
    (): IndicatorOutcomes => ({ units: [], missing: { control: 0, candidate: 0 }, lostShares: [] }),
  );
  for (const unit of plan) {
    const values = indicators.map((): number[] => []);
    const ended = unit.runs.filter(({ status }) => status === 'failed' || status === 'canceled').length;
    const lost = indicators.map(() => ended);
    for (const run of unit.runs) {
      if (run.status !== 'succeeded') continue;
      const isCounted = (run.minutes_into_unit ?? Number.POSITIVE_INFINITY) >= burnInMinutes;
      const reports = indexIndicators(run);
      indicators.forEach((name, index) => {
        const value = toUsableNumber(findIndicator(reports, name));
        if (value === null) {
          countMissing(outcomes[index], unit);
          lost[index] = (lost[index] ?? 0) + 1;
        } else if (isCounted) values[index]?.push(value);
      });
    }
    outcomes.forEach(({ units, lostShares }, index) => {
      const own = values[index] ?? [];
      lostShares.push((lost[index] ?? 0) / Math.max(1, unit.runs.length));
      if (own.length > 0)
        units.push({
          index: unit.index,
          isCandidate: unit.isCandidate,
          runs: own.length,
          mean: computeSortedMean(own),
        });
    });
  }
  return outcomes;
}

function countMissing(outcomes: IndicatorOutcomes | undefined, { isCandidate }: PlanUnit): void {
  if (outcomes) outcomes.missing[isCandidate ? 'candidate' : 'control'] += 1;
}
