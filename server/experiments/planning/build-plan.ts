/** Builds the plan of an experiment from a spread and a difference. Pure; ../statistics/planning has the formulas. */
import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import { SWITCHBACK_UNITS_MAX } from '@switchyard/contract/limits.ts';
import { badRequest } from '../../http/errors/problem.ts';
import { FINAL_ALPHA } from '../statistics/error-rates.ts';
import {
  computeDetectableByInputs,
  type PairedSpread,
  planInputs,
} from '../statistics/planning/paired-plan.ts';
import type { PowerTarget } from '../statistics/sample-size.ts';
import { findUnitsForVerdict } from '../statistics/switchback/draw-plan.ts';
import { computeDetectableByUnits, planUnits } from '../statistics/switchback/plan-units.ts';
import { describePlan } from './describe-plan.ts';
import type { PlanSettings, PlanSpread } from './parse-plan-request.ts';

/** Repetitions of the plans that a response lists. */
const PLANNED_REPETITIONS = [1, 2, 3, 5, 10];

/** The experiment that shows the spread. */
export type PlanSource = Pick<ExperimentPlan, 'experiment_id' | 'experiment_type'>;

/** Returns the response body of a plan. Throws a 400 for a relative difference from a control of mean 0. */
export function buildPlan(settings: PlanSettings, spread: PlanSpread, source: PlanSource): ExperimentPlan {
  const { difference, power, comparisons } = settings;
  const target = { power, weight: 1 / comparisons };
  const { observed } = spread;
  const plan = {
    ...source,
    indicator: observed?.indicator ?? null,
    unit: spread.unit,
    measure: spread.measure,
    difference,
    power,
    comparisons,
    error_rate: FINAL_ALPHA / comparisons,
    between_inputs: spread.between_inputs,
    within_input: spread.within_input,
    between_units: spread.between_units,
    observed: observed && {
      units: observed.units,
      pairs: observed.pairs,
      design_effect: spread.design_effect,
    },
    ...computeSizes(settings, spread, target),
  };
  const { units_for_verdict, ...body } = plan;
  const { design, design_effect } = spread;
  return {
    ...body,
    sentences: describePlan(body, { size: settings.size, design, design_effect, units_for_verdict }),
  };
}

interface Sizes extends Pick<ExperimentPlan, 'plans' | 'units' | 'detectable_difference'> {
  /** Fewest units of a switchback test with a verdict; null without any, and for other experiments. */
  units_for_verdict: number | null;
}

/**
 * Sizes a switchback test. Its randomisation test must be able to reject: of few plans, even the most extreme result is not
 * rare enough. The creation of a test refuses such a plan, so no answer may propose it.
 */
function sizeUnits(
  effect: number,
  { difference, size }: PlanSettings,
  spread: PlanSpread,
  target: PowerTarget,
): Sizes {
  const units = { between_units: spread.between_units ?? 0, counted_share: 1 / spread.design_effect };
  const least =
    spread.design && findUnitsForVerdict(spread.design, SWITCHBACK_UNITS_MAX, FINAL_ALPHA * target.weight);
  const isPossible = size !== null && 'units' in size && least !== null && size.units >= least;
  return {
    plans: [],
    units: least === null ? null : Math.max(least, planUnits(effect, units, target)),
    units_for_verdict: least,
    detectable_difference: toDifference(
      isPossible ? computeDetectableByUnits(size.units, units, target) : null,
      difference,
      spread,
    ),
  };
}

function computeSizes(settings: PlanSettings, spread: PlanSpread, target: PowerTarget): Sizes {
  const { difference, size } = settings;
  const effect = toEffect(difference, spread);
  if (!(effect > 0))
    throw badRequest(
      'difference.type is "relative", and the mean of the control is 0: there is no share of it. Give an absolute difference, in the unit of the indicator.',
    );
  if (spread.unit === 'unit') return sizeUnits(effect, settings, spread, target);
  const paired: PairedSpread = {
    between_inputs: spread.between_inputs ?? 0,
    within_input: spread.within_input ?? 0,
    design_effect: spread.design_effect,
  };
  const isShadow = spread.unit === 'original';
  const plans = planInputs(effect, paired, target, isShadow ? [1] : PLANNED_REPETITIONS);
  const detectable =
    size !== null && 'inputs' in size ? computeDetectableByInputs(size, paired, target) : null;
  return {
    // The originals of a shadow test exist, and only the copies are new.
    plans: isShadow ? plans.map((plan) => ({ ...plan, runs: plan.inputs })) : plans,
    units: null,
    units_for_verdict: null,
    detectable_difference: toDifference(detectable, difference, spread),
  };
}

/** Converts a difference to the scale of the effect. A relative one of an absolute measure is a share of the control's mean. */
function toEffect(
  { type, value }: PlanSettings['difference'],
  { measure, control_mean, shift }: PlanSpread,
): number {
  if (measure === 'relative') return Math.log1p(value * shareOfShifted(control_mean, shift));
  return type === 'absolute' ? value : value * Math.abs(control_mean);
}

/** Converts an effect back to a difference; null for one that no plan of this size finds. */
function toDifference(
  effect: number | null,
  { type }: PlanSettings['difference'],
  { measure, control_mean, shift }: PlanSpread,
): number | null {
  if (effect === null) return null;
  const found =
    measure === 'relative'
      ? Math.expm1(effect) / shareOfShifted(control_mean, shift)
      : type === 'absolute'
        ? effect
        : effect / Math.abs(control_mean);
  return Number.isFinite(found) ? found : null;
}

/** A ratio of shifted values is nearer to 1 than the ratio of the values. */
function shareOfShifted(control_mean: number, shift: number): number {
  return Math.abs(control_mean / (control_mean + shift));
}
