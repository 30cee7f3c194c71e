/** All comparisons of a switchback test as one family: corrects the p-values for all indicators and decides the verdicts. */

import { SWITCHBACK_UNITS_MAX } from '@switchyard/contract/limits.ts';
import { formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  chooseFinalAlpha,
  FINAL_ALPHA,
  INTERIM_ALPHA,
  SMALL_COINS_MAX,
  VERDICT_UNITS_MIN,
} from '../error-rates.ts';
import { clampToFinite } from '../numbers.ts';
import { orientInterval } from '../paired/effect-scale.ts';
import { type ComparedIndicator, type FamilyIndicator, formatMargin } from '../paired/family.ts';
import { adjustWeightedHolm, weighByRole } from '../paired/multiple-comparisons.ts';
import { decideVerdict, type Progress } from '../paired/verdict.ts';
import {
  describePlanSide,
  describeTiedUnits,
  type EstimatedMeans,
  estimateMeans,
  type LostRuns,
  type MeasuredPlan,
  measureIndicators,
  measurePlan,
  type SwitchbackMeasurement,
  scaleEstimate,
} from './compare.ts';
import type { Covariate } from './covariates.ts';
import type { DesignKind, SwitchbackDesign } from './design.ts';
import { findUnitsForVerdict } from './draw-plan.ts';
import type { SwitchbackEstimate } from './estimate.ts';
import { describeSequence, measureIncrements } from './interim.ts';
import { chooseRateOfDesign, planUnits, planUnitsForEquivalence } from './plan-units.ts';
import type { PlanUnit } from './unit-outcomes.ts';
import {
  explainAssumption,
  listBlockers,
  listWarnings,
  type SwitchbackSide,
  warnOfScale,
} from './warnings.ts';

const POWER = 0.8;
const MORE_MAX = 100_000;
/** Fewest counted units for an estimate of the spread. */
const COUNTED_MIN = 3;

/** The numbers of one indicator over the units that have ended. */
interface ObservedUnits {
  estimate: SwitchbackEstimate | null;
  margin: number;
  /** Units that have ended. */
  ended: number;
  /** Share of the error rate. */
  weight: number;
}

/** Counts the units beyond those that ended for a verdict with a power of 80 %; null for none or too many. */
function countMoreUnits(
  design: SwitchbackDesign,
  { estimate, margin, ended, weight }: ObservedUnits,
): number | null {
  const counted = (estimate?.control_units ?? 0) + (estimate?.candidate_units ?? 0);
  if (estimate === null || counted < COUNTED_MIN || ended === 0) return null;
  const effect = Math.abs(estimate.effect);
  const spread = { between_units: estimate.spread, counted_share: counted / ended };
  const target = { power: POWER, weight, chooseRate: chooseRateOfDesign(design) };
  const slack = margin - effect;
  const planned = Math.min(
    effect > 0 ? planUnits(effect, spread, target) : Number.POSITIVE_INFINITY,
    slack > 0 ? planUnitsForEquivalence(slack, spread, target) : Number.POSITIVE_INFINITY,
  );
  const possible = findUnitsForVerdict(design, SWITCHBACK_UNITS_MAX, weight);
  if (possible === null) return null;
  const more = Math.max(1, planned - ended, possible - ended);
  return more <= MORE_MAX ? more : null;
}

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
    mean_e_value_max: number;
    largest_loss: number;
    threshold: number;
    interval: { low: number; high: number } | null;
  };
}

/** The numbers of one indicator with those of the plan. */
type Measurement = SwitchbackMeasurement & { plan: MeasuredPlan };

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
  const final_alpha = chooseFinalAlpha(plan.coins, SMALL_COINS_MAX);
  const increments = measureIncrements(family, measurement, orientation);
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
    final_alpha,
    ...(estimate === null ? {} : { ties: describeTiedUnits(estimate) }),
    failures: describeLosses(measurement.losses, plan.failures),
    failure_margin,
    margin: measurement.margin,
    margin_text: formatMargin(margin, measure === 'relative' ? shift : 0),
    increments,
    interim: final_alpha === FINAL_ALPHA ? increments : null,
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
  // The adjustment for a trend can turn the difference of a few units around, so the estimate of too few says nothing.
  const isEstimated = evidence.usable >= VERDICT_UNITS_MIN;
  const scaled = isEstimated ? scaleEstimate(measurement) : null;
  const sides = describeSides(family, measurement, isEstimated ? estimateMeans(measurement) : null);
  const { e_value, e_value_max, mean_e_value_max, largest_loss } = evidence.increments;
  return {
    indicator: settings.indicator,
    value_type: settings.value_type,
    role: settings.role,
    objective: settings.direction,
    verdict,
    interim: family.progress !== 'complete' || family.plan.length < family.design.units,
    reasons: [...reasons, ...explainAssumption(family, verdict)],
    warnings: [...warnOfScale(settings, measurement, verdict), ...listWarnings(family, measurement, sides)],
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
      mean_e_value_max: clampToFinite(mean_e_value_max),
      largest_loss,
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

function describeSides(
  family: SwitchbackFamily,
  { units, missing }: SwitchbackMeasurement,
  estimated: EstimatedMeans | null,
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
      estimated_mean: estimated?.[isCandidate ? 'candidate' : 'control'] ?? null,
      refused,
    };
  };
  const { refused: _none, ...control } = describe(false, family.control_instance_id);
  return { control, candidate: describe(true, family.candidate_instance_id) };
}
