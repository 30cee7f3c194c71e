/** Builds the plan of an experiment from a spread and a difference. Pure; ../statistics/planning has the formulas. */
import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import { SWITCHBACK_UNITS_MAX } from '@switchyard/contract/limits.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import { type ChooseRate, chooseFinalAlpha, FINAL_ALPHA } from '../statistics/error-rates.ts';
import { clampToFinite } from '../statistics/numbers.ts';
import {
  compareVariances,
  computeDetectableByInputs,
  type PairedSpread,
  planInputs,
} from '../statistics/planning/paired-plan.ts';
import { countUnitsToReject, type PowerTarget } from '../statistics/sample-size.ts';
import {
  chooseRateOfDesign,
  computeDetectableByUnits,
  findUnitsForVerdict,
  planUnits,
} from '../statistics/switchback/plan-units.ts';
import { describePlan } from './describe-plan.ts';
import { nameDeviations, type PlanSettings, type PlanSpread, refuseSize } from './parse-plan-request.ts';

/** Repetitions of the plans that a response lists. */
const PLANNED_REPETITIONS = [1, 2, 3, 5, 10];

/** The experiment that shows the spread. */
export type PlanSource = Pick<ExperimentPlan, 'experiment_id' | 'experiment_type'>;

/** Returns the response body of a plan. Throws a 400 for a difference that is too small or too large for the spread. */
export function buildPlan(settings: PlanSettings, spread: PlanSpread, source: PlanSource): ExperimentPlan {
  const { difference, power, comparisons } = settings;
  const target = { power, weight: 1 / comparisons, chooseRate: selectRate(spread) };
  const { observed } = spread;
  const sizes = computeSizes(settings, spread, target);
  const { plans, units, least } = sizes;
  const rates = listRates([...plans.map(({ inputs }) => inputs), units, readCount(settings.size)], target);
  const body = {
    ...source,
    indicator: observed?.indicator ?? null,
    compared: observed?.compared ?? null,
    unit: spread.unit,
    measure: spread.measure,
    difference,
    power,
    comparisons,
    error_rate: target.chooseRate(plans[0]?.inputs ?? units ?? SWITCHBACK_UNITS_MAX) / comparisons,
    between_inputs: spread.between_inputs,
    within_input: spread.within_input,
    between_units: spread.between_units,
    observed: observed && {
      units: observed.units,
      differing: observed.differing,
      pairs: observed.pairs,
      design_effect: spread.design_effect,
      variance_factor: compareVariances(toPairedSpread(spread)),
    },
    ...{ plans, units, detectable_difference: sizes.detectable_difference },
  };
  const { design, design_effect } = spread;
  const basis = { size: settings.size, design, design_effect, least, rates };
  return { ...body, sentences: describePlan(body, basis) };
}

/** Returns the error rate of the kind of experiment by its size; that of a shadow test is the same for every size. */
function selectRate({ unit, design }: PlanSpread): ChooseRate {
  if (unit === 'original') return () => FINAL_ALPHA;
  return design === null ? (inputs) => chooseFinalAlpha(inputs) : chooseRateOfDesign(design);
}

/** Returns the distinct error rates of the sizes that a response has, largest first. */
function listRates(sizes: readonly (number | null)[], { chooseRate }: PowerTarget): number[] {
  const rates = sizes.flatMap((size) => (size === null ? [] : [chooseRate(size)]));
  return [...new Set(rates)].sort((a, b) => b - a);
}

function readCount(size: PlanSettings['size']): number | null {
  return size && ('units' in size ? size.units : size.inputs);
}

interface Sizes extends Pick<ExperimentPlan, 'plans' | 'units' | 'detectable_difference'> {
  /** Fewest units of a switchback test with a verdict, null without any; for other experiments fewest independent inputs. */
  least: number | null;
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
  const units = {
    between_units: (spread.between_units ?? 0) * Math.sqrt(compareVariances(toPairedSpread(spread))),
    counted_share: 1 / spread.design_effect,
  };
  const least = spread.design && findUnitsForVerdict(spread.design, SWITCHBACK_UNITS_MAX, target.weight);
  const planned = planUnits(effect, units, target);
  refuseSize(planned, spread, difference);
  const isPossible = size !== null && 'units' in size && least !== null && size.units >= least;
  return {
    plans: [],
    units: least === null ? null : Math.max(least, planned),
    least,
    detectable_difference: toDifference(
      isPossible ? computeDetectableByUnits(size.units, units, target) : null,
      difference,
      spread,
    ),
  };
}

function computeSizes(settings: PlanSettings, spread: PlanSpread, target: PowerTarget): Sizes {
  const { difference, size } = settings;
  const effect = clampToFinite(toEffect(difference, spread));
  if (difference.type === 'relative' && spread.control_mean === 0)
    throw badRequest(
      'difference.type is "relative", and the mean of the control is 0: there is no share of it. Give an absolute difference, in the unit of the indicator.',
    );
  if (spread.unit === 'unit') return sizeUnits(effect, settings, spread, target);
  const paired = toPairedSpread(spread);
  const { design_effect } = spread;
  const isShadow = spread.unit === 'original';
  const plans = planInputs(effect, paired, target, isShadow ? [1] : PLANNED_REPETITIONS);
  refuseSize(plans[0]?.inputs ?? 0, spread, difference);
  const detectable =
    size !== null && 'inputs' in size ? computeDetectableByInputs(size, paired, target) : null;
  return {
    // The originals of a shadow test exist, and only the copies are new.
    plans: isShadow ? plans.map((plan) => ({ ...plan, runs: plan.inputs })) : plans,
    units: null,
    least: countUnitsToReject(target.weight, (independent) =>
      target.chooseRate(Math.ceil(independent * design_effect)),
    ),
    detectable_difference: toDifference(detectable, difference, spread),
  };
}

/** Returns the deviations of a plan; the units of a switchback test vary like inputs that run once. */
function toPairedSpread({
  between_inputs,
  between_units,
  within_input,
  design_effect,
  pilot,
}: PlanSpread): PairedSpread {
  return {
    between_inputs: between_inputs ?? between_units ?? 0,
    within_input: within_input ?? 0,
    ...{ design_effect, pilot },
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

/**
 * Converts an effect back to a difference; null for one that no plan of this size finds. Throws a 400 for one that is not
 * finite.
 */
function toDifference(
  effect: number | null,
  difference: PlanSettings['difference'],
  spread: PlanSpread,
): number | null {
  if (effect === null || effect === Number.POSITIVE_INFINITY) return null;
  const { measure, control_mean, shift } = spread;
  const found =
    measure === 'relative'
      ? Math.expm1(effect) / shareOfShifted(control_mean, shift)
      : difference.type === 'absolute'
        ? effect
        : effect / Math.abs(control_mean);
  if (!Number.isFinite(found))
    throw badRequest(
      `${nameDeviations(spread)}: the smallest difference that a plan of this size finds is above the largest number. Give smaller standard deviations, or a larger plan.`,
    );
  return found;
}

/** A ratio of shifted values is nearer to 1 than the ratio of the values. */
function shareOfShifted(control_mean: number, shift: number): number {
  return Math.abs(control_mean / (control_mean + shift));
}
