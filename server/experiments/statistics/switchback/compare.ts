/**
 * The analysis of a switchback test: the candidate against the baseline over the units of a plan.
 *
 * Every run that arrives in a unit counts for the side that the plan gave the unit to, whichever instance served it in the
 * end (intention to treat): leaving out the runs that a candidate refused made an identical candidate better in up to
 * 100 % of tests. The outcome of a unit is the mean over its runs; units within `carryOverUnits` after a switch are not
 * settled and do not count. Estimate, interval and p-value are described in estimate.ts, the designs in design.ts.
 */
import { clampToFinite, computeScale, mean } from '../numbers.ts';
import {
  countMissing,
  countRuns,
  findReportedValue,
  type Observation,
  type RunCounts,
  toUsableNumber,
} from '../observations.ts';
import type { Margin } from '../paired/compare.ts';
import type { Measure } from '../paired/units.ts';
import { type Covariate, chooseModel } from './covariates.ts';
import { listCoins, type SwitchbackDesign } from './design.ts';
import {
  estimateEffect,
  type SwitchbackEstimate,
  testCarryOver,
  testEqualUnits,
  type UnitOutcomes,
} from './estimate.ts';
import { listReferencePlans, type ReferencePlans, SETTLED } from './reference.ts';

/** A run with what became of it in a switchback test. */
export interface SwitchbackRun extends Observation {
  /** The candidate refused it, so the baseline served it; it still counts for the candidate's unit. */
  candidate_refused?: boolean;
  /** Minutes between the start of its unit and its arrival. */
  minutes_into_unit?: number;
}

/** One unit of the plan with the runs that arrived in it. */
export interface PlanUnit {
  index: number;
  /** Whether the plan gave the unit to the candidate. */
  isCandidate: boolean;
  runs: readonly SwitchbackRun[];
}

/** How the units of a test are analysed, for every indicator alike. */
export interface PlanSettings {
  design: SwitchbackDesign;
  /**
   * Runs that arrive within this time after the start of a unit are left out. Of every unit, not only after a switch, so
   * that the outcomes do not depend on the plan and the randomisation test stays exact.
   */
  burnInMinutes: number;
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
  settings: PlanSettings;
  reference: ReferencePlans;
  coins: number;
  /** The p-value of equal numbers of runs in the units of both sides; below 0.001 no verdict survives. */
  sampleRatioPValue: number | null;
  failures: { control: number; candidate: number; p_value: number };
  refusedShare: number;
}

/** The numbers of one indicator before the family's correction. */
export interface SwitchbackMeasurement {
  measure: Measure;
  /** On the scale of the measure: ln(candidate / control), or the difference times `factor`. */
  estimate: SwitchbackEstimate | null;
  factor: number;
  margin: number;
  units: { index: number; isCandidate: boolean; runs: number; mean: number; settled: boolean }[];
  covariates: readonly Covariate[];
  /** The p-value of no influence beyond `carryOverUnits`; below 0.05 no verdict survives. */
  carryOverPValue: number | null;
}

/** Lists the reference plans, and tests the numbers of runs and the failures of the units by them. */
export function measurePlan(plan: readonly PlanUnit[], settings: PlanSettings): MeasuredPlan {
  const { design, seed, draws } = settings;
  const coins = listCoins(design);
  const assignment = Uint8Array.from(plan, ({ isCandidate }) => Number(isCandidate));
  const reference = listReferencePlans(coins, assignment, design.carryOverUnits, {
    seed,
    ...(draws === undefined ? {} : { draws }),
  });
  const runsOf = (side: boolean) =>
    plan.filter(({ isCandidate }) => isCandidate === side).flatMap(({ runs }) => runs);
  return {
    plan,
    settings,
    reference,
    coins: coins.length,
    sampleRatioPValue: testEqualUnits(
      plan.map(({ runs }) => runs.length),
      reference,
    ),
    failures: {
      control: shareOf(runsOf(false), hasFailed),
      candidate: shareOf(runsOf(true), hasFailed),
      p_value:
        testEqualUnits(
          plan.map(({ runs }) => shareOf(runs, hasFailed)),
          reference,
        ) ?? 1,
    },
    refusedShare: shareOf(runsOf(true), ({ candidate_refused }) => candidate_refused === true),
  };
}

/** Measures one indicator over the units of the plan that have ended; see the head of this file. */
export function measureSwitchback(
  { plan, settings: { design, burnInMinutes }, reference }: MeasuredPlan,
  settings: MeasureSettings,
): SwitchbackMeasurement {
  const units = plan.flatMap((unit) => unitMean(unit, settings.indicator, burnInMinutes));
  const positive = units.every(({ mean: value }) => value > 0);
  const wantsRelative =
    settings.measure === 'auto' ? settings.margin.type === 'relative' : settings.measure === 'relative';
  const measure: Measure = wantsRelative && positive ? 'relative' : 'absolute';
  const factor = measure === 'relative' ? 1 : computeScale(units.map((unit) => unit.mean)).factor;
  const values = units.map(({ mean: value }) => (measure === 'relative' ? Math.log(value) : value * factor));
  const outcomes: UnitOutcomes = {
    units: units.map(({ index }) => index),
    // Without the first value equal outcomes are exactly 0, so that rounding makes no effect of them.
    outcomes: Float64Array.from(values, (value) => value - (values[0] ?? 0)),
  };
  const model = chooseModel(outcomes.units, outcomes.outcomes, design.unitMinutes);
  const estimate = estimateEffect(outcomes, model, reference);
  const settledUnits = units.map((unit) => ({
    ...unit,
    settled: ((reference.real[unit.index] ?? 0) & SETTLED) !== 0,
  }));
  const controls = settledUnits
    .filter((unit) => unit.settled && !unit.isCandidate)
    .map((unit) => unit.mean * factor);
  return {
    measure,
    estimate,
    factor,
    margin: marginOf(settings.margin, measure, controls, factor),
    units: settledUnits,
    covariates: model.covariates,
    carryOverPValue: estimate === null ? null : testCarryOver(outcomes, model, reference, estimate.effect),
  };
}

function marginOf(margin: Margin, measure: Measure, controls: readonly number[], factor: number): number {
  if (measure === 'relative') return Math.log1p(margin.value);
  if (margin.type === 'absolute') return margin.value * factor;
  return controls.length === 0 ? 0 : margin.value * Math.abs(mean(controls));
}

/** The mean over the runs of a unit that succeeded with a number and arrived after the burn-in; none: no entry. */
function unitMean(
  { index, isCandidate, runs }: PlanUnit,
  indicator: string,
  burnInMinutes: number,
): Omit<SwitchbackMeasurement['units'][number], 'settled'>[] {
  const values = runs
    .filter(({ minutes_into_unit }) => (minutes_into_unit ?? Number.POSITIVE_INFINITY) >= burnInMinutes)
    .map((run) => (run.status === 'succeeded' ? toUsableNumber(findReportedValue(run, indicator)) : null))
    .filter((value) => value !== null)
    .sort((a, b) => a - b);
  if (values.length === 0) return [];
  const { factor, inverse } = computeScale(values);
  const unit = clampToFinite(mean(values.map((value) => value * factor)) * inverse);
  return [{ index, isCandidate, runs: values.length, mean: unit }];
}

function hasFailed({ status }: SwitchbackRun): boolean {
  return status === 'failed';
}

function shareOf(runs: readonly SwitchbackRun[], has: (run: SwitchbackRun) => boolean): number {
  return runs.length === 0 ? 0 : runs.filter(has).length / runs.length;
}

/** Runs of one side of the plan, by how they ended, and those without a number. */
export function describePlanSide(
  plan: readonly PlanUnit[],
  isCandidate: boolean,
  indicator: string,
): { runs: RunCounts; missing: number; units: number; refused: number } {
  const units = plan.filter((unit) => unit.isCandidate === isCandidate);
  const runs = units.flatMap((unit) => unit.runs);
  return {
    runs: countRuns(runs),
    missing: countMissing(runs, indicator),
    units: units.length,
    refused: runs.filter(({ candidate_refused }) => candidate_refused === true).length,
  };
}
