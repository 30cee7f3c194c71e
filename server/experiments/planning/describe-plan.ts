/** Describes a plan and its caveats in sentences. Pure. */
import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import { BATCH_RUNS_MAX, SHADOW_RUNS_MAX, SWITCHBACK_UNITS_MAX } from '@switchyard/contract/limits.ts';
import { formatPercent, roundToTwoDigits } from '../statistics/format-numbers.ts';
import { countUnitsToReject } from '../statistics/sample-size.ts';
import type { PlannedSize, PlanSpread } from './parse-plan-request.ts';

const PERCENT_DIGITS = 3;

/** Fewer units show the spread too roughly: with 20 its standard error is 16 %, which is 32 % of the planned number. */
const OBSERVED_UNITS_MIN = 20;
/** The share of the variance of one input from which more repetitions save few inputs. */
const BETWEEN_SHARE_HIGH = 0.5;

type DescribedPlan = Omit<ExperimentPlan, 'sentences'>;

/** The settings of a plan that its response does not have. */
interface PlanBasis extends Pick<PlanSpread, 'design' | 'design_effect'> {
  size: PlannedSize;
  /** Fewest units of a switchback test with a verdict; null without any. */
  units_for_verdict: number | null;
}

/** Returns the sentences. */
export function describePlan(plan: DescribedPlan, basis: PlanBasis): string[] {
  return [
    describeNeeded(plan, basis),
    ...describeDetectable(plan, basis),
    ...describeRepetitions(plan),
    ...describeLimits(plan),
    ...describeEvidence(plan, basis.design_effect),
  ];
}

/** Numbers of at least the first magnitude, or below the second, have an exponent in sentences. */
const LONG_NUMBER_MIN = 1e15;
const SHORT_NUMBER_MIN = 1e-6;

function describeNeeded(
  { unit, units, plans, difference, power }: DescribedPlan,
  { design }: PlanBasis,
): string {
  const goal = `To find a difference of ${formatDifference(difference)} in ${formatPercent(power, PERCENT_DIGITS)} of experiments,`;
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
  { unit, units, detectable_difference, difference, power, error_rate }: DescribedPlan,
  { size, design, units_for_verdict }: PlanBasis,
): string[] {
  if (size === null || (unit === 'unit' && units === null)) return [];
  const name =
    'units' in size
      ? `${formatNumber(size.units)} units`
      : `${formatNumber(size.inputs)} ${unit}s${size.repetitions > 1 ? ` with ${size.repetitions} repetitions` : ''}`;
  if (detectable_difference === null && units_for_verdict !== null)
    return [
      `A plan of ${name} cannot give a verdict: with ${formatDesign(design)} it needs at least ${formatNumber(units_for_verdict)} units.`,
    ];
  if (detectable_difference === null)
    return [
      `A plan of ${name} cannot give a verdict: it needs at least ${countUnitsToReject(error_rate)} that count as independent.`,
    ];
  const found = formatDifference({ ...difference, value: detectable_difference });
  return [
    `A plan of ${name} finds differences from ${found} on in ${formatPercent(power, PERCENT_DIGITS)} of experiments.`,
  ];
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
        `The effect varies between inputs (${formatPercent(share, PERCENT_DIGITS)} of the variance of one input), so repetitions save few inputs.`,
      ]
    : [
        `The noise of runs is ${formatPercent(1 - share, PERCENT_DIGITS)} of the variance of one input, and repetitions reduce that part.`,
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
  { unit, observed, comparisons, error_rate }: DescribedPlan,
  designEffect: number,
): string[] {
  const texts: string[] = [];
  if (observed && observed.units < OBSERVED_UNITS_MIN)
    texts.push(
      `The spread comes from ${observed.units} ${unit}s and is a rough estimate; plan a third more to be safe.`,
    );
  if (unit === 'original' && designEffect > 1)
    texts.push(
      `The originals depend on each other: ${roundToTwoDigits(designEffect)} say as much as one independent original.`,
    );
  if (unit === 'unit')
    texts.push(
      `In ${observed ? 'the design of the test' : 'the default design'} ${formatPercent(1 / designEffect, PERCENT_DIGITS)} of the units count; the others follow a switch within carry_over_units.`,
    );
  if (comparisons > 1)
    texts.push(
      `${comparisons} comparisons share the error rate of 4 %, so each has ${formatPercent(error_rate, PERCENT_DIGITS)}.`,
    );
  return texts;
}

function formatDifference({ type, value }: ExperimentPlan['difference']): string {
  return type === 'relative' ? formatPercent(value, PERCENT_DIGITS) : formatNumber(value);
}

function formatNumber(value: number): string {
  const magnitude = Math.abs(value);
  // With all of its digits, such a number has up to 308 of them.
  if (magnitude !== 0 && (magnitude >= LONG_NUMBER_MIN || magnitude < SHORT_NUMBER_MIN))
    return `${Number(value.toPrecision(5))}`;
  return new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 6 }).format(value);
}
