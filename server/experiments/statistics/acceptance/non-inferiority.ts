/**
 * Decides a non-inferiority rule: the one-sided 95 % bound of the candidate's effect lies within the tolerance.
 *
 * A rule on point estimates passes a candidate that is worse than the tolerance in half of the experiments, when its true
 * loss equals the tolerance. This rule passes it in at most 5 %, because the burden of proof is on the candidate (ICH E9,
 * Statistical Principles for Clinical Trials, 3.3.2). Rules that must all be met need no correction (intersection-union
 * test; Berger, Technometrics 1982).
 *
 * A relative tolerance compares ratios: the geometric mean over the inputs of candidate divided by control. An absolute one
 * compares the mean of the differences. The bound is an end of the interval of 90 % that the comparison computes. For
 * differences that grow with the size of the input, large-inputs.ts moves it further out.
 */
import {
  EQUALITY_SHARE,
  formatNumber,
  isSatisfied,
  type Metric,
  type MetricDecision,
  type NonInferiority,
  RELATIONS,
} from '../acceptance-metrics.ts';
import type { Resampler } from '../bootstrap.ts';
import { VERDICT_UNITS_MIN } from '../error-rates.ts';
import { clampToFinite } from '../numbers.ts';
import { measureIndicator, type PairedMeasurement } from '../paired/compare.ts';
import type { FamilyDesign, FamilyIndicator } from '../paired/family.ts';
import { listBlockers } from '../paired/warnings.ts';
import { boundMeanDifference } from './large-inputs.ts';
import type { SideObservations } from './solved-inputs.ts';

/** An interval of 90 % has the one-sided 95 % bounds as its ends. */
const CONFIDENCE = 0.9;

type Decision = Pick<MetricDecision, 'passed' | 'threshold' | 'reason'> & {
  non_inferiority: NonInferiority | null;
  /** The data allow no decision, for this reason; null when the bound decided. */
  obstacle: string | null;
};

/** The parts of a rule that non-inferiority needs; a negative tolerance asks for a gain. */
export type NonInferiorityRule = Pick<Metric, 'field' | 'params'>;

/** Settings of the indicator, and what is known about the runs. */
export interface NonInferioritySettings
  extends Pick<FamilyIndicator, 'value_type' | 'tie_tolerance' | 'shift'>,
    Pick<FamilyDesign, 'listIndicatorBlockers' | 'resampler'>,
    Partial<Pick<FamilyDesign, 'clusterings' | 'possibly_serial'>> {}

/** Decides the rule; the caller adds the statistics of both sides and the objection of failures. */
export function decideNonInferiority(
  metric: NonInferiorityRule,
  sides: SideObservations,
  {
    value_type,
    tie_tolerance,
    shift,
    resampler,
    clusterings = [],
    possibly_serial = false,
    listIndicatorBlockers,
  }: NonInferioritySettings,
): Decision {
  // With few differing inputs the interval of a share is too narrow: nothing differs in ten inputs, and its width is 0.
  if (value_type === 'flag')
    return refuse(
      `${metric.field} is a flag, and non-inferiority compares numbers; leave the hypothesis out to compare its mean, which is the share of true.`,
    );
  const { operator, tolerance } = metric.params;
  const isRelative = tolerance.type === 'relative';
  const isMaximized = operator === 'gt' || operator === 'ge';
  const measurement = measureIndicator(
    sides,
    metric.field,
    {
      tie_tolerance,
      shift,
      direction: isMaximized ? 'maximize' : 'minimize',
      measure: isRelative ? 'relative' : 'absolute',
      margin: { type: isRelative ? 'relative' : 'absolute', value: tolerance.value },
    },
    { serial: false, possibly_serial, clusterings, resampler, confidence: CONFIDENCE },
  );
  const change = isMaximized ? -tolerance.value : tolerance.value;
  const threshold = clampToFinite(isRelative ? 1 + change : change);
  if (isRelative && measurement.measure !== 'relative')
    return refuse(
      `A relative tolerance needs values above 0, and ${metric.field} has others; give an absolute tolerance.`,
    );
  const evidence = describeEffect(measurement, isMaximized, resampler);
  if (evidence === null) return refuse(`No input has a number as ${metric.field} on both sides.`);
  const found = { threshold, non_inferiority: evidence };
  const blockers = [...listIndicatorBlockers(metric.field, sides), ...listBlockers(measurement)];
  const { inputs, bound } = evidence;
  if (inputs < VERDICT_UNITS_MIN || bound === null)
    blockers.push(
      `Both sides solved ${inputs} input${inputs === 1 ? '' : 's'}; non-inferiority needs at least ${VERDICT_UNITS_MIN}.`,
    );
  if (bound === null || blockers.length > 0) return { ...found, ...obstruct(blockers.join(' ')) };
  const equal = EQUALITY_SHARE * Math.max(Math.abs(bound), Math.abs(threshold));
  const passed = isSatisfied(operator, bound - threshold, 0, equal);
  const reason = formatReason(metric, evidence, bound, { passed, threshold });
  return {
    threshold,
    non_inferiority: { ...evidence, within_tolerance: passed },
    obstacle: null,
    passed,
    reason: [reason, ...explainUnseenLosses(measurement)].join(' '),
  };
}

function obstruct(obstacle: string): Pick<Decision, 'passed' | 'reason' | 'obstacle'> {
  return { passed: false, reason: obstacle, obstacle };
}

function refuse(reason: string): Decision {
  return { threshold: null, non_inferiority: null, ...obstruct(reason) };
}

/** The effect on the scale that people read; null without an input that both sides solved. */
function describeEffect(
  measurement: PairedMeasurement,
  isMaximized: boolean,
  resampler: Resampler,
): NonInferiority | null {
  const { complete, effect, measure, scale } = measurement;
  if (effect === null) return null;
  const convert = (value: number): number =>
    clampToFinite(measure === 'relative' ? Math.exp(value) : value / scale.factor);
  const bound = computeBound(measurement, isMaximized, resampler);
  return {
    measure: measure === 'relative' ? 'ratio' : 'difference',
    effect: convert(effect),
    bound: bound === null ? null : convert(bound),
    within_tolerance: false,
    inputs: complete.filter((unit) => unit.effect !== null).length,
  };
}

/** Returns the end of the interval on which the loss lies; null for too few inputs. */
function computeBound(
  { complete, interval, measure }: PairedMeasurement,
  isMaximized: boolean,
  resampler: Resampler,
): number | null {
  if (interval === null) return null;
  const end = isMaximized ? -interval.low : interval.high;
  const inputs = complete.flatMap(({ control, effect }) =>
    control === null || effect === null
      ? []
      : [{ size: Math.abs(control), difference: isMaximized ? -effect : effect }],
  );
  const adjusted = measure === 'relative' ? null : boundMeanDifference(inputs, resampler, CONFIDENCE);
  const bound = Math.max(end, adjusted ?? end);
  return isMaximized ? -bound : bound;
}

function formatReason(
  { field, params }: NonInferiorityRule,
  { measure, effect }: NonInferiority,
  bound: number,
  { passed, threshold }: { passed: boolean; threshold: number },
): string {
  const name = measure === 'ratio' ? 'mean ratio of candidate to control' : 'mean of candidate minus control';
  const relation = RELATIONS[params.operator][passed ? 0 : 1];
  return `The one-sided 95 % bound of the ${name} for ${field}, ${formatNumber(bound)}, ${relation} ${formatNumber(threshold)}; the estimate is ${formatNumber(effect)}.`;
}

/** Says how many other inputs may be worse when none of these is: the rule of three. */
function explainUnseenLosses({ losses }: PairedMeasurement): string[] {
  if (losses === null || losses.share > 0) return [];
  return [
    `On no input the candidate is worse; on up to ${Math.round(100 * losses.upper)} % of other inputs it may be.`,
  ];
}
