/** All comparisons of a switchback test as one family: corrects the p-values for all indicators and decides the verdicts. */

import { CARRY_OVER_ALPHA, INTERIM_ALPHA } from '../error-rates.ts';
import { formatPercent, roundToTwoDigits } from '../format-numbers.ts';
import { clampToFinite, logOfSum } from '../numbers.ts';
import { orientInterval, warnOfMissingRatios } from '../paired/effect-scale.ts';
import type { Estimate } from '../paired/estimates.ts';
import { type ComparedIndicator, type FamilyIndicator, formatMargin } from '../paired/family.ts';
import { type InterimEvidence, runTestMartingale } from '../paired/interim.ts';
import { adjustWeightedHolm, weighByRole } from '../paired/multiple-comparisons.ts';
import { decideVerdict, formatCount, type Progress } from '../paired/verdict.ts';
import {
  describePlanSide,
  type LostRuns,
  type MeasuredPlan,
  measureIndicators,
  measurePlan,
  type SwitchbackMeasurement,
} from './compare.ts';
import type { Covariate } from './covariates.ts';
import type { DesignKind, SwitchbackDesign } from './design.ts';
import { computeEffectSequence, listIncrements } from './interim.ts';
import { countMoreUnits } from './more-units.ts';
import type { PlanUnit } from './unit-outcomes.ts';

/** A switchback test with everything that its analysis needs. */
export interface SwitchbackFamily {
  /** Units that have ended. */
  plan: readonly PlanUnit[];
  design: SwitchbackDesign;
  burnInMinutes: number;
  /** Units that ended before the start of the test; 0 by default. */
  skippedUnits?: number;
  control_instance_id: string;
  candidate_instance_id: string;
  progress: Progress;
  seed: string;
  draws?: number;
}

/** The comparison of one indicator: shape of the API, see `SwitchbackComparison` of the contract. */
export interface SwitchbackComparison extends ComparedIndicator {
  more_units: number | null;
  control: SwitchbackSide;
  candidate: SwitchbackSide & { refused: number };
  units: { index: number; instance_id: string; runs: number; mean: number; counted: boolean }[];
  randomization: {
    p_value: number | null;
    p_value_holm: number | null;
    method: 'exact' | 'draws';
    assignments: number;
    coins: number;
    seed: string;
  };
  design: { type: DesignKind; carry_over_units: number; burn_in_minutes: number };
  adjusted_for: Covariate[];
  carry_over_test: { p_value: number | null };
  sample_ratio_test: { p_value: number | null };
  failures: { control: number; candidate: number; p_value: number };
  sequential: {
    e_value: number;
    e_value_max: number;
    threshold: number;
    interval: { low: number; high: number } | null;
  };
}

interface SwitchbackSide {
  instance_id: string;
  /** Units of the plan that have ended, those with an outcome, and those of them that count. */
  units: { total: number; usable: number; counted: number };
  runs: ReturnType<typeof describePlanSide>['runs'];
  missing: number;
  /** Mean of the outcomes of its counted units. */
  mean: number | null;
}

/** The numbers of one indicator with those of the plan. */
type Measurement = SwitchbackMeasurement & { plan: MeasuredPlan };

const SAMPLE_RATIO_ALPHA = 0.001;
const REFUSED_SHARE_MAX = 0.01;

/** Compares every indicator; see the head of this file. */
export function compareSwitchbackFamily(
  family: SwitchbackFamily,
  indicators: readonly FamilyIndicator[],
): SwitchbackComparison[] {
  const { design, burnInMinutes, skippedUnits = 0, seed, draws } = family;
  const plan = measurePlan(family.plan, {
    design,
    skippedUnits,
    seed,
    ...(draws === undefined ? {} : { draws }),
  });
  const measured = measureIndicators(plan, indicators, burnInMinutes);
  const weights = weighByRole(indicators.map(({ role }) => role));
  const adjusted = adjustWeightedHolm(
    measured.map(({ estimate }) => estimate?.p_value ?? null),
    weights,
  );
  return indicators.flatMap((indicator, index) => {
    const measurement = measured[index];
    return measurement === undefined
      ? []
      : [
          buildComparison(
            family,
            indicator,
            { plan, ...measurement },
            {
              p_value: adjusted[index] ?? null,
              weight: weights[index] ?? 1,
            },
          ),
        ];
  });
}

/** The place of one indicator in the family. */
interface FamilyPlace {
  /** Adjusted for all indicators. */
  p_value: number | null;
  /** Share of the error rate. */
  weight: number;
}

/** Collects the evidence of a verdict, oriented so that positive means worse, or higher without a direction. */
function collectEvidence(
  family: SwitchbackFamily,
  { direction, failure_margin, margin, shift }: FamilyIndicator,
  measurement: Measurement,
  { p_value, weight }: FamilyPlace,
) {
  const { estimate, plan, measure } = measurement;
  const orientation = direction === 'maximize' ? -1 : 1;
  const countedUnits = (estimate?.control_units ?? 0) + (estimate?.candidate_units ?? 0);
  const effect = estimate === null ? null : estimate.effect * orientation;
  return {
    unit: 'unit',
    direction,
    usable: countedUnits,
    valued: countedUnits,
    ended: family.plan.length,
    pending: family.design.units - family.plan.length,
    progress: family.progress,
    effect,
    interval: orientInterval(measurement.estimate?.interval ?? null, orientation),
    test: { name: 'the randomisation test', p_value, sign: effect ?? 0 },
    failures: describeLosses(measurement.losses, plan.failures),
    failure_margin,
    margin: measurement.margin,
    margin_text: formatMargin(margin, measure === 'relative' ? shift : 0),
    interim: measureInterim(family, measurement, orientation),
    interim_threshold: 1 / (INTERIM_ALPHA * weight),
    blockers: listBlockers(family, measurement),
  } as const;
}

function buildComparison(
  family: SwitchbackFamily,
  settings: FamilyIndicator,
  measurement: Measurement,
  place: FamilyPlace,
): SwitchbackComparison {
  const { measure } = measurement;
  const evidence = collectEvidence(family, settings, measurement, place);
  const { verdict, reasons } = decideVerdict(evidence);
  const sides = describeSides(family, measurement);
  const scaled = scaleEstimate(measurement);
  const { e_value, e_value_max } = evidence.interim;
  return {
    indicator: settings.indicator,
    value_type: settings.value_type,
    role: settings.role,
    objective: settings.direction,
    verdict,
    interim: family.progress !== 'complete' || family.plan.length < family.design.units,
    reasons,
    warnings: [...warnOfMissingRatios(settings, measure), ...listWarnings(family, measurement, sides)],
    measure,
    geometric_mean_ratio: measure === 'relative' ? scaled : null,
    mean_difference: measure === 'absolute' ? scaled : null,
    tolerance: settings.margin,
    // More units repair neither refused or deleted runs nor carry-over beyond the design.
    more_units:
      verdict === 'undecided' && evidence.blockers.length === 0
        ? countMoreUnits(family.design, { ...measurement, ended: family.plan.length, weight: place.weight })
        : null,
    ...sides,
    units: measurement.units.map(({ isCandidate, ...unit }) => ({
      ...unit,
      instance_id: isCandidate ? family.candidate_instance_id : family.control_instance_id,
    })),
    ...describeTests(family, measurement, place.p_value),
    sequential: {
      e_value: clampToFinite(e_value),
      e_value_max: clampToFinite(e_value_max),
      threshold: evidence.interim_threshold,
      interval: describeSequence(family, measurement, evidence.interim_threshold),
    },
  };
}

/** Describes the design and every test that the analysis made. */
function describeTests(
  { seed, design, burnInMinutes }: SwitchbackFamily,
  { estimate, plan }: Measurement,
  adjustedPValue: number | null,
) {
  const { failures } = plan;
  return {
    randomization: {
      p_value: estimate?.p_value ?? null,
      p_value_holm: adjustedPValue,
      method: plan.reference.method,
      assignments: plan.reference.plans.count,
      coins: plan.coins,
      seed,
    },
    design: { type: design.kind, carry_over_units: design.carryOverUnits, burn_in_minutes: burnInMinutes },
    adjusted_for: [...(estimate?.covariates ?? [])],
    carry_over_test: { p_value: estimate?.carry_over_p_value ?? null },
    sample_ratio_test: { p_value: plan.sampleRatioPValue },
    failures: { control: failures.control, candidate: failures.candidate, p_value: failures.p_value },
  };
}

/** Returns the sides and the outcomes of the ended units, on the scale of the effect. */
function readEndedUnits(
  { design, plan }: SwitchbackFamily,
  { units, measure, factor, shift }: SwitchbackMeasurement,
): { assignment: Uint8Array; outcomes: Map<number, number> } {
  const outcome = (value: number) => (measure === 'relative' ? logOfSum(value, shift) : value * factor);
  return {
    assignment: Uint8Array.from({ length: design.units }, (_, index) =>
      Number(plan[index]?.isCandidate ?? false),
    ),
    outcomes: new Map(units.map((unit) => [unit.index, outcome(unit.mean)])),
  };
}

function measureInterim(
  family: SwitchbackFamily,
  measurement: SwitchbackMeasurement,
  orientation: 1 | -1,
): InterimEvidence {
  const { assignment, outcomes } = readEndedUnits(family, measurement);
  const increments = listIncrements(family.design, assignment, outcomes, family.plan.length);
  return runTestMartingale(
    increments.map((increment) => increment * orientation),
    { serial: false },
  );
}

/** Returns the confidence sequence of the effect on the scale that people read. */
function describeSequence(
  family: SwitchbackFamily,
  measurement: SwitchbackMeasurement,
  threshold: number,
): { low: number; high: number } | null {
  const { measure, factor } = measurement;
  const { assignment, outcomes } = readEndedUnits(family, measurement);
  const ended = { outcomes, endedUnits: family.plan.length };
  const found = computeEffectSequence(family.design, assignment, ended, threshold);
  const convert = (value: number) => clampToFinite(measure === 'relative' ? Math.exp(value) : value / factor);
  return found && { low: convert(found.low), high: convert(found.high) };
}

/** Returns the estimate on the scale that people read: a ratio, or a difference. */
function scaleEstimate({ estimate, measure, factor }: SwitchbackMeasurement): Estimate | null {
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

/** Describes the lost runs of an indicator, which are the failed ones where no other run lacks a number. */
function describeLosses(losses: LostRuns, failures: LostRuns) {
  const { control, candidate, p_value, excess_upper } = losses;
  const verb = losses === failures ? 'failed' : 'ended without a value';
  return {
    excess_units: 0,
    excess_failures: candidate - control,
    p_value,
    excess_upper,
    text: `${formatPercent(candidate)} of the runs in the candidate's units ${verb}, and ${formatPercent(control)} of those in the control's.`,
  };
}

function listBlockers(family: SwitchbackFamily, measurement: Measurement): string[] {
  const { refusedShare, sampleRatioPValue } = measurement.plan;
  const carryOver = measurement.estimate?.carry_over_p_value ?? null;
  const blockers: string[] = [];
  const deleted = describeDeletedRuns(family.plan);
  if (deleted !== null) blockers.push(`${deleted}: these are not a random choice, so there is no verdict.`);
  if (refusedShare > REFUSED_SHARE_MAX)
    blockers.push(
      `The candidate refused ${formatPercent(refusedShare)} of the runs in its units, and the baseline served them: above ${formatPercent(REFUSED_SHARE_MAX)} the units do not show what the candidate does.`,
    );
  if (sampleRatioPValue !== null && sampleRatioPValue < SAMPLE_RATIO_ALPHA)
    blockers.push(
      `The numbers of runs differ between the sides more than chance explains (p = ${roundToTwoDigits(sampleRatioPValue)}): something else than the plan decides which runs arrive.`,
    );
  if (carryOver !== null && carryOver < CARRY_OVER_ALPHA)
    blockers.push(
      `The influence of a unit lasts longer than carry_over_units = ${family.design.carryOverUnits} (p = ${roundToTwoDigits(carryOver)}): create a test with a larger value.`,
    );
  return blockers;
}

/** Returns the number of deleted runs in words; null for none. Deleting a few bad runs of a side is enough to win, so any counts. */
function describeDeletedRuns(plan: readonly PlanUnit[]): string | null {
  const count = (units: readonly PlanUnit[]) => units.reduce((total, { deleted = 0 }) => total + deleted, 0);
  const deleted = count(plan);
  if (deleted === 0) return null;
  const total = plan.reduce((sum, { runs }) => sum + runs.length, deleted);
  const ofCandidate = count(plan.filter(({ isCandidate }) => isCandidate));
  return `${deleted} of ${formatCount(total, 'run')} ${deleted === 1 ? 'was' : 'were'} deleted, ${ofCandidate} of them in the candidate's units`;
}

function describeSides(
  family: SwitchbackFamily,
  { units, missing }: SwitchbackMeasurement,
): { control: SwitchbackSide; candidate: SwitchbackSide & { refused: number } } {
  const describe = (isCandidate: boolean, instance_id: string) => {
    const { runs, units: total, refused } = describePlanSide(family.plan, isCandidate);
    const own = units.filter((unit) => unit.isCandidate === isCandidate);
    const counted = own.filter((unit) => unit.counted);
    const mean =
      counted.length === 0
        ? null
        : clampToFinite(counted.reduce((sum, unit) => sum + unit.mean / counted.length, 0));
    return {
      instance_id,
      units: { total, usable: own.length, counted: counted.length },
      runs,
      missing: missing[isCandidate ? 'candidate' : 'control'],
      mean,
      refused,
    };
  };
  const { refused: _none, ...control } = describe(false, family.control_instance_id);
  return { control, candidate: describe(true, family.candidate_instance_id) };
}

function listWarnings(
  family: SwitchbackFamily,
  measurement: SwitchbackMeasurement,
  sides: { control: SwitchbackSide; candidate: SwitchbackSide & { refused: number } },
): string[] {
  const warnings: string[] = [];
  const deleted = describeDeletedRuns(family.plan);
  if (deleted !== null) warnings.push(`${deleted}.`);
  for (const [name, { units, runs, missing }] of Object.entries(sides)) {
    if (units.total === 0)
      warnings.push(
        family.plan.length < family.design.units
          ? `No unit of the ${name} has ended.`
          : `The plan gives the ${name} no unit.`,
      );
    else if (units.usable < units.total)
      warnings.push(
        `${formatCount(units.total - units.usable, 'unit')} of ${units.total} of the ${name} have no usable value and are left out.`,
      );
    if (runs.failed + runs.canceled > 0)
      warnings.push(
        `${runs.failed} failed and ${runs.canceled} canceled of ${formatCount(runs.total, 'run')} of the ${name} have no value; such runs are compared by themselves.`,
      );
    if (missing > 0)
      warnings.push(
        `${formatCount(missing, 'run')} of the ${name} succeeded without a number of the indicator; such runs are compared by themselves.`,
      );
    if (runs.pending > 0)
      warnings.push(
        `${formatCount(runs.pending, 'run')} of the ${name} ${runs.pending === 1 ? 'has' : 'have'} not ended.`,
      );
  }
  if (sides.candidate.refused > 0)
    warnings.push(
      `The candidate refused ${formatCount(sides.candidate.refused, 'run')} of its units; the baseline served them, and they count for the candidate.`,
    );
  if (family.design.carryOverUnits === 0)
    warnings.push(
      'The verdict assumes that a unit has no influence on the next one (carry_over_units is 0).' +
        ((measurement.estimate?.carry_over_p_value ?? null) === null
          ? ' There are too few units to test it.'
          : ''),
    );
  return warnings;
}
