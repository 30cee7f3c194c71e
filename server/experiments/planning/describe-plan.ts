/** Describes a plan and its caveats in sentences. Pure. */

import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import { BATCH_RUNS_MAX, SHADOW_RUNS_MAX, SWITCHBACK_UNITS_MAX } from '@switchyard/contract/limits.ts';
import {
  formatEvidence,
  formatExactPercent,
  formatNumber,
  formatPercent,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { SMALL_COINS_MAX, SMALL_UNITS_MAX } from '../statistics/error-rates.ts';
import { PLAN_CONFIDENCE } from '../statistics/planning/variances.ts';
import type { PlannedSize, PlanSpread } from './parse-plan-request.ts';

/** The share of the variance of one input from which more repetitions save few inputs. */
const BETWEEN_SHARE_HIGH = 0.5;

type DescribedPlan = Omit<ExperimentPlan, 'sentences'>;

/** The settings of a plan that its response does not have. */
interface PlanBasis extends Pick<PlanSpread, 'design' | 'design_effect'> {
  size: PlannedSize;
  /** Fewest units of a switchback test with a verdict, null without any; for other experiments fewest independent inputs. */
  least: number | null;
  /** The distinct error rates of the described sizes, largest first. */
  rates: readonly number[];
}

/** Returns the sentences. */
export function describePlan(plan: DescribedPlan, basis: PlanBasis): string[] {
  return [
    describeNeeded(plan, basis),
    ...describeDetectable(plan, basis),
    ...describeRepetitions(plan),
    ...describeLimits(plan),
    ...describeEvidence(plan, basis),
  ];
}

function describeNeeded(
  { unit, units, plans, difference, power }: DescribedPlan,
  { design }: PlanBasis,
): string {
  const goal = `To find a difference of ${formatDifference(difference)} in ${formatPercent(power)} of experiments,`;
  if (unit === 'unit')
    return units === null
      ? `No plan of at most ${formatNumber(SWITCHBACK_UNITS_MAX)} units gives a verdict with ${formatDesign(design)}.`
      : `${goal} plan ${formatNumber(units)} units.`;
  const [single, ...repeated] = plans;
  const inputs = single?.inputs ?? 0;
  if (unit === 'original') return `${goal} copy ${formatNumber(inputs)} originals.`;
  const fewer = repeated.filter((plan) => plan.inputs < inputs).at(-1);
  const other = fewer
    ? `, or ${formatNumber(fewer.inputs)} inputs with ${fewer.repetitions} repetitions`
    : '';
  return `${goal} run ${formatNumber(inputs)} inputs once on each side${other}.`;
}

function describeDetectable(
  { unit, units, detectable_difference, difference, power }: DescribedPlan,
  { size, design, least }: PlanBasis,
): string[] {
  if (size === null || (unit === 'unit' && units === null)) return [];
  const name =
    'units' in size
      ? `${formatNumber(size.units)} units`
      : `${formatNumber(size.inputs)} ${unit}s${size.repetitions > 1 ? ` with ${size.repetitions} repetitions` : ''}`;
  if (detectable_difference === null)
    return [
      unit === 'unit'
        ? `A plan of ${name} cannot give a verdict: with ${formatDesign(design)} it needs at least ${formatNumber(least ?? 0)} units.`
        : `A plan of ${name} cannot give a verdict: it needs at least ${least} that count as independent.`,
    ];
  const found =
    difference.type === 'relative'
      ? formatPercent(detectable_difference)
      : formatValue(detectable_difference);
  return [`A plan of ${name} finds differences from ${found} on in ${formatPercent(power)} of experiments.`];
}

function formatDesign(design: PlanBasis['design']): string {
  return `the design ${design?.kind} and carry_over_units ${design?.carryOverUnits}`;
}

function describeRepetitions({ unit, between_inputs, within_input, observed }: DescribedPlan): string[] {
  if (unit !== 'input') return [];
  if (between_inputs === null)
    return [
      'One group of runs shows no variation of the effect between inputs. The plan assumes none, so it is a lower bound.',
    ];
  if (within_input === null)
    return [
      'Every input has one pair of runs, so nothing separates the noise of runs from the variation between inputs. Run repetitions once to learn how many inputs they save.',
    ];
  const variance = between_inputs ** 2 + 2 * within_input ** 2;
  if (observed === null || variance === 0) return [];
  const share = between_inputs ** 2 / variance;
  return share >= BETWEEN_SHARE_HIGH
    ? [
        `The effect varies between inputs (${formatPercent(share)} of the variance of one input), so repetitions save few inputs.`,
      ]
    : [
        `The noise of runs is ${formatPercent(1 - share)} of the variance of one input, and repetitions reduce that part.`,
      ];
}

/** Names plans that no single experiment can have. */
function describeLimits({ unit, units, plans, experiment_type }: DescribedPlan): string[] {
  const [single] = plans;
  if (unit === 'unit')
    return (units ?? 0) > SWITCHBACK_UNITS_MAX
      ? [`A switchback test has at most ${formatNumber(SWITCHBACK_UNITS_MAX)} units.`]
      : [];
  if (experiment_type === 'shadow')
    return (single?.runs ?? 0) > SHADOW_RUNS_MAX
      ? [`A shadow test copies at most ${formatNumber(SHADOW_RUNS_MAX)} runs.`]
      : [];
  return plans.every(({ runs }) => runs > BATCH_RUNS_MAX)
    ? [`A batch experiment has at most ${formatNumber(BATCH_RUNS_MAX)} runs, fewer than any of these plans.`]
    : [];
}

function describeEvidence(
  { unit, observed, compared, comparisons }: DescribedPlan,
  { design_effect: designEffect, rates }: PlanBasis,
): string[] {
  const texts: string[] = [];
  if (observed)
    texts.push(
      `The spread comes from ${observed.units} ${unit}s${compared ? ` of ${compared.candidates.join(', ')} against ${compared.control}` : ''}. The plan takes the upper ${formatPercent(PLAN_CONFIDENCE)} confidence limit of its variance, ${formatEvidence(observed.variance_factor)} times the estimate.`,
    );
  if (unit === 'original' && designEffect > 1)
    texts.push(
      `The originals depend on each other: ${formatEvidence(designEffect)} say as much as one independent original.`,
    );
  if (unit === 'unit')
    texts.push(
      `In ${observed ? 'the design of the test' : 'the default design'} ${formatPercent(1 / designEffect)} of the units count; the others follow a switch within carry_over_units.`,
    );
  if (comparisons > 1) texts.push(describeRates(comparisons, rates, unit));
  return texts;
}

/** Says which error rate the comparisons share; small experiments spend all of it at their end. */
function describeRates(comparisons: number, rates: readonly number[], unit: DescribedPlan['unit']): string {
  const [all, each] = [1, comparisons].map((number) => rates.map((rate) => formatPercent(rate / number)));
  const small = unit === 'unit' ? `${SMALL_COINS_MAX} coins` : `${SMALL_UNITS_MAX} inputs`;
  const shared = all?.join(` up to ${small}, and of `);
  return `${comparisons} comparisons share the error rate of ${shared}${rates.length > 1 ? ' above' : ''}, so each has ${each?.join(' or ')}.`;
}

function formatDifference({ type, value }: ExperimentPlan['difference']): string {
  return type === 'relative' ? formatExactPercent(value) : formatNumber(value);
}
