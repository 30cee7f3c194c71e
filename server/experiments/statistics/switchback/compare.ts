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
import { type AdjustmentModel, type Covariate, chooseModel } from './covariates.ts';
import { findSettledUnits, listCoins, type SwitchbackDesign } from './design.ts';
import { estimateEffect, type SwitchbackEstimate, type UnitOutcomes } from './estimate.ts';
import { listReferencePlans, type ReferencePlans } from './reference.ts';

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

/** How the outcomes of a test are analysed. */
export interface SwitchbackAnalysisSettings {
  measure: Measure | 'auto';
  margin: Margin;
  design: SwitchbackDesign;
  /**
   * Runs that arrive within this time after the start of a unit are left out. Of every unit, not only after a switch, so
   * that the outcomes do not depend on the plan and the randomisation test stays exact.
   */
  burnInMinutes: number;
  seed: string;
  draws?: number;
}

/** The numbers of one indicator before the family's correction. */
export interface SwitchbackMeasurement {
  measure: Measure;
  /** On the scale of the measure: ln(candidate / control), or the difference times `factor`. */
  estimate: SwitchbackEstimate | null;
  factor: number;
  margin: number;
  units: { index: number; isCandidate: boolean; runs: number; mean: number; settled: boolean }[];
  reference: ReferencePlans;
  coins: number;
  covariates: readonly Covariate[];
  /** Tests that no verdict survives: unequal numbers of runs, and an influence beyond `carryOverUnits`. */
  sampleRatioPValue: number | null;
  carryOverPValue: number | null;
  failures: { control: number; candidate: number; p_value: number };
  refusedShare: number;
}

/** Measures one indicator over the units of the plan that have ended; see the head of this file. */
export function measureSwitchback(
  plan: readonly PlanUnit[],
  indicator: string,
  settings: SwitchbackAnalysisSettings,
): SwitchbackMeasurement {
  const { design, seed, draws } = settings;
  const coins = listCoins(design);
  const assignment = Uint8Array.from({ length: design.units }, (_, index) =>
    Number(plan[index]?.isCandidate ?? false),
  );
  const real = { assignment, settled: findSettledUnits(assignment, design.carryOverUnits) };
  const reference = listReferencePlans(coins, assignment, design.carryOverUnits, {
    seed,
    ...(draws === undefined ? {} : { draws }),
  });
  const units = plan.flatMap((unit) => unitMean(unit, indicator, settings.burnInMinutes));
  const positive = units.every(({ mean: value }) => value > 0);
  const wantsRelative =
    settings.measure === 'auto' ? settings.margin.type === 'relative' : settings.measure === 'relative';
  const measure: Measure = wantsRelative && positive ? 'relative' : 'absolute';
  const factor = measure === 'relative' ? 1 : computeScale(units.map((unit) => unit.mean)).factor;
  const outcomes: UnitOutcomes = {
    units: units.map(({ index }) => index),
    outcomes: Float64Array.from(units, ({ mean: value }) =>
      measure === 'relative' ? Math.log(value) : value * factor,
    ),
  };
  const model = chooseModel(outcomes.units, outcomes.outcomes, design.unitMinutes);
  const estimate = estimateEffect(outcomes, real, model, reference);
  const settledUnits = units.map((unit) => ({ ...unit, settled: real.settled[unit.index] === 1 }));
  const controls = settledUnits
    .filter((unit) => unit.settled && !unit.isCandidate)
    .map((unit) => unit.mean * factor);
  return {
    measure,
    estimate,
    factor,
    margin: marginOf(settings.margin, measure, controls, factor),
    units: settledUnits,
    reference,
    coins: coins.length,
    covariates: model.covariates,
    ...testPlan(plan, { outcomes, model, reference, real, estimate, carryOverUnits: design.carryOverUnits }),
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

interface TestedPlan {
  outcomes: UnitOutcomes;
  model: AdjustmentModel;
  reference: ReferencePlans;
  real: { assignment: Uint8Array; settled: Uint8Array };
  estimate: SwitchbackEstimate | null;
  carryOverUnits: number;
}

/** The tests of the plan itself, each by the same reference plans. */
function testPlan(
  plan: readonly PlanUnit[],
  tested: TestedPlan,
): Pick<SwitchbackMeasurement, 'sampleRatioPValue' | 'carryOverPValue' | 'failures' | 'refusedShare'> {
  const all = plan.map(({ index }) => index);
  const everySettled = (assignment: Uint8Array) => ({
    assignment,
    settled: new Uint8Array(assignment.length).fill(1),
  });
  const unsettled: ReferencePlans = {
    ...tested.reference,
    plans: tested.reference.plans.map(({ assignment }) => everySettled(assignment)),
  };
  const pValueOf = (values: readonly number[]): number | null =>
    estimateEffect(
      { units: all, outcomes: Float64Array.from(values) },
      everySettled(tested.real.assignment),
      { covariates: [], residuals: (outcomes) => outcomes },
      unsettled,
    )?.p_value ?? null;
  const failed = (side: boolean) =>
    shareOf(
      plan.filter(({ isCandidate }) => isCandidate === side).flatMap(({ runs }) => runs),
      hasFailed,
    );
  const candidateRuns = plan.filter(({ isCandidate }) => isCandidate).flatMap(({ runs }) => runs);
  return {
    sampleRatioPValue: pValueOf(plan.map(({ runs }) => runs.length)),
    carryOverPValue: testCarryOver(tested),
    failures: {
      control: failed(false),
      candidate: failed(true),
      p_value: pValueOf(plan.map(({ runs }) => shareOf(runs, hasFailed))) ?? 1,
    },
    refusedShare: shareOf(candidateRuns, ({ candidate_refused }) => candidate_refused === true),
  };
}

function hasFailed({ status }: SwitchbackRun): boolean {
  return status === 'failed';
}

function shareOf(runs: readonly SwitchbackRun[], has: (run: SwitchbackRun) => boolean): number {
  return runs.length === 0 ? 0 : runs.filter(has).length / runs.length;
}

/**
 * Tests whether the effect in units that have just settled differs from the effect in units settled for longer, which it
 * does when the influence of a switch lasts more than `carryOverUnits` units (after Bojinov et al.). The estimated effect is
 * taken away first. Null when a group has fewer than two units.
 */
function testCarryOver({
  outcomes,
  model,
  reference,
  real,
  estimate,
  carryOverUnits,
}: TestedPlan): number | null {
  if (estimate === null) return null;
  const values = model.residuals(
    outcomes.outcomes.map(
      (value, index) => value - estimate.effect * (real.assignment[outcomes.units[index] ?? 0] ?? 0),
    ),
  );
  const observed = freshContrast(outcomes.units, values, real.assignment, carryOverUnits);
  if (observed === null) return null;
  const contrasts = reference.plans.flatMap(
    ({ assignment }) => freshContrast(outcomes.units, values, assignment, carryOverUnits) ?? [],
  );
  return (
    contrasts.filter((value) => Math.abs(value) >= Math.abs(observed) * (1 - 1e-9)).length / contrasts.length
  );
}

/** Effect in units settled for exactly `carryOverUnits` units minus the effect in units settled for longer. */
function freshContrast(
  units: readonly number[],
  values: Float64Array,
  assignment: Uint8Array,
  carryOverUnits: number,
): number | null {
  const settled = findSettledUnits(assignment, carryOverUnits);
  const longer = findSettledUnits(assignment, carryOverUnits + 1);
  const sums = [0, 0, 0, 0];
  const counts = [0, 0, 0, 0];
  units.forEach((unit, index) => {
    if (!settled[unit]) return;
    const group = 2 * (longer[unit] ?? 0) + (assignment[unit] ?? 0);
    sums[group] = (sums[group] ?? 0) + (values[index] ?? 0);
    counts[group] = (counts[group] ?? 0) + 1;
  });
  if (Math.min(...counts) < 2) return null;
  const average = (group: number) => (sums[group] ?? 0) / (counts[group] ?? 1);
  return average(1) - average(0) - (average(3) - average(2));
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
