/**
 * Decides a non-inferiority rule: the one-sided 95 % bound of the candidate's effect lies within the tolerance.
 *
 * A rule on point estimates passes a candidate that is worse than the tolerance in half of the experiments, when its true
 * loss equals the tolerance. This rule passes it in at most 5 %, because the burden of proof is on the candidate (ICH E9,
 * Statistical Principles for Clinical Trials, 3.3.2). Rules that must all be met need no correction (intersection-union
 * test; Berger, Technometrics 1982).
 *
 * A relative tolerance compares ratios: the geometric mean over the inputs of candidate divided by control. An absolute one
 * compares the mean of the differences. The bound is an end of the interval of 90 % that the comparison computes.
 * Percentiles and the shifted geometric mean have bounds of their own (statistic-bound.ts).
 */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  distinguish,
  formatExactPercent,
  formatNumber,
  formatPercent,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import {
  EQUALITY_SHARE,
  formatCompared,
  isSatisfied,
  type Metric,
  type MetricDecision,
  type MetricTolerance,
  type NonInferiority,
  parseStatisticName,
  RELATIONS,
} from '../acceptance-metrics.ts';
import type { Resampler } from '../bootstrap.ts';
import type { FamilyIndicator } from '../comparison/pipeline.ts';
import { explainMissingInterval } from '../comparison/verdict.ts';
import { VERDICT_UNITS_MIN } from '../error-rates.ts';
import { clampToFinite } from '../numbers.ts';
import { type ComparisonDesign, measureIndicator, type PairedMeasurement } from '../paired/compare.ts';
import type { FamilyDesign } from '../paired/family.ts';
import { describeTies, isInformative } from '../paired/tallies.ts';
import { listBlockers } from '../paired/warnings.ts';
import type { SideObservations } from './solved-inputs.ts';
import { boundStatistic, countInputsAtLimit, isBoundedStatistic } from './statistic-bound.ts';

/** An interval of 90 % has the one-sided 95 % bounds as its ends. */
const CONFIDENCE = 0.9;

type Decision = Pick<MetricDecision, 'passed' | 'threshold' | 'reason'> & {
  non_inferiority: NonInferiority | null;
  /** The data allow no decision, for this reason; null when the bound decided. */
  obstacle: string | null;
};

/** With a third of the inputs at a time limit the bound held; with half of them it did not. */
const LIMITED_SHARE_MIN = 0.4;

/** The parts of a rule that non-inferiority needs; a negative tolerance asks for a gain. */
type NonInferiorityRule = Pick<Metric, 'field' | 'statistic' | 'params' | 'largest_loss'>;

/** Settings of the indicator, and what is known about the runs. */
export interface NonInferioritySettings
  extends Pick<FamilyIndicator, 'value_type' | 'tie_tolerance' | 'shift'>,
    Pick<FamilyDesign, 'listIndicatorBlockers' | 'resampler'>,
    Partial<Pick<FamilyDesign, 'clusterings' | 'seeks_relation' | 'possibly_serial'>> {}

/** Returns the design in which the inputs of a rule are compared. */
function selectDesign({
  resampler,
  clusterings = [],
  seeks_relation = false,
  possibly_serial = false,
}: NonInferioritySettings): ComparisonDesign {
  return { serial: false, possibly_serial, clusterings, seeks_relation, resampler };
}

/** Decides the rule; the caller adds the statistics of both sides and the objection of failures. */
export function decideNonInferiority(
  metric: NonInferiorityRule,
  sides: SideObservations,
  settings: NonInferioritySettings,
): Decision {
  const { value_type, tie_tolerance, shift, resampler, listIndicatorBlockers } = settings;
  // With few differing inputs the interval of a share is too narrow.
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
      largest_loss:
        metric.largest_loss === undefined ? null : { type: 'relative', value: metric.largest_loss },
      direction: isMaximized ? 'maximize' : 'minimize',
      measure: isRelative ? 'relative' : 'absolute',
      margin: { type: isRelative ? 'relative' : 'absolute', value: tolerance.value },
    },
    { ...selectDesign(settings), confidence: CONFIDENCE },
  );
  const change = isMaximized ? -tolerance.value : tolerance.value;
  const threshold = clampToFinite(isRelative ? 1 + change : change);
  const isMean = !isBoundedStatistic(metric.statistic);
  if (isMean && isRelative && measurement.measure !== 'relative')
    return refuse(
      `A relative tolerance needs values above 0, and ${metric.field} has others; give an absolute tolerance.`,
    );
  const { evidence, obstacle } = isMean
    ? { evidence: describeEffect(measurement, isMaximized), obstacle: null }
    : describeStatistic(metric, measurement, { isMaximized, isRelative, tie_tolerance, resampler });
  if (evidence === null && obstacle !== null) return refuse(obstacle);
  if (evidence === null) return refuse(`No input has a number as ${metric.field} on both sides.`);
  const found = { threshold, non_inferiority: evidence };
  const blockers = [...listIndicatorBlockers(metric.field, sides), ...listBlockers(measurement)];
  const { inputs, bound } = evidence;
  if (obstacle !== null) blockers.push(obstacle);
  else if (inputs < VERDICT_UNITS_MIN)
    blockers.push(
      `Both sides solved ${formatCount(inputs, 'input')}; non-inferiority needs at least ${VERDICT_UNITS_MIN}.`,
    );
  else if (bound === null)
    blockers.push(explainMissingInterval(describeTies(measurement), countInformative(measurement), 'input'));
  if (bound === null || blockers.length > 0) return { ...found, ...obstruct(blockers.join(' ')) };
  const equal = EQUALITY_SHARE * Math.max(Math.abs(bound), Math.abs(threshold));
  const passed = isSatisfied(operator, bound - threshold, 0, equal);
  const reason = formatReason(metric, evidence, bound, { passed, threshold });
  return {
    threshold,
    non_inferiority: { ...evidence, within_tolerance: passed },
    obstacle: null,
    passed,
    reason: [reason, ...listCautions(metric.statistic, measurement)].join(' '),
  };
}

function obstruct(obstacle: string): Pick<Decision, 'passed' | 'reason' | 'obstacle'> {
  return { passed: false, reason: obstacle, obstacle };
}

function refuse(reason: string): Decision {
  return { threshold: null, non_inferiority: null, ...obstruct(reason) };
}

/** The effect on the scale that people read; null without an input that both sides solved. */
function describeEffect(measurement: PairedMeasurement, isMaximized: boolean): NonInferiority | null {
  const { effect, interval, measure, scale } = measurement;
  if (effect === null) return null;
  const convert = (value: number): number =>
    clampToFinite(measure === 'relative' ? Math.exp(value) : value / scale.factor);
  return {
    measure: measure === 'relative' ? 'ratio' : 'difference',
    effect: convert(effect),
    bound: interval === null ? null : convert(isMaximized ? interval.low : interval.high),
    within_tolerance: false,
    inputs: countSolved(measurement),
  };
}

/** The effect on a statistic other than the mean, and why it has no bound. Without an effect, the evidence is null. */
function describeStatistic(
  { statistic, field }: NonInferiorityRule,
  measurement: PairedMeasurement,
  {
    isRelative,
    ...scale
  }: { isMaximized: boolean; isRelative: boolean; tie_tolerance: number; resampler: Resampler },
): { evidence: NonInferiority | null; obstacle: string | null } {
  const measure = isRelative ? 'ratio' : 'difference';
  const found = isBoundedStatistic(statistic)
    ? boundStatistic(statistic, measurement, { ...scale, measure })
    : null;
  if (found === null) return { evidence: null, obstacle: null };
  const { effect, bound, obstacle } = found;
  if (effect === null)
    return {
      evidence: null,
      obstacle: obstacle ?? `The ${statistic} of ${field} of the control is 0, so there is no ratio.`,
    };
  const inputs = countSolved(measurement);
  return { evidence: { measure, effect, bound, within_tolerance: false, inputs }, obstacle };
}

/** Counts the inputs that show a difference or a tie: a side that lost an input differs there. */
function countInformative({ complete }: PairedMeasurement): number {
  return complete.filter(isInformative).length;
}

function countSolved({ complete }: PairedMeasurement): number {
  return complete.filter((unit) => unit.effect !== null).length;
}

function formatReason(
  { field, statistic, params }: NonInferiorityRule,
  { measure, effect }: NonInferiority,
  bound: number,
  { passed, threshold }: { passed: boolean; threshold: number },
): string {
  const name = nameEffect(statistic, measure);
  const format = formatCompared([bound, threshold, effect]);
  const relation = RELATIONS[params.operator][passed ? 0 : 1];
  return `The one-sided 95 % bound of the ${name} for ${field}, ${format(bound)}, ${relation} ${format(threshold)}; the estimate is ${format(effect)}.`;
}

function nameEffect(statistic: string, measure: NonInferiority['measure']): string {
  if (!isBoundedStatistic(statistic))
    return measure === 'ratio' ? 'mean ratio of candidate to control' : 'mean of candidate minus control';
  const name = statistic.replaceAll('_', ' ');
  return measure === 'ratio'
    ? `ratio of the candidate’s ${name} to the control’s`
    : `candidate’s ${name} minus the control’s`;
}

function listCautions(statistic: string, measurement: PairedMeasurement): string[] {
  return [...explainUnseenLosses(measurement), ...explainSharedLimit(statistic, measurement)];
}

/** Says how many other inputs may be worse when none of these is: the rule of three. */
function explainUnseenLosses({ losses }: PairedMeasurement): string[] {
  if (losses === null || losses.share > 0) return [];
  return [
    `On no input the candidate is worse; on up to ${formatPercent(losses.upper)} of other inputs it may be.`,
  ];
}

/**
 * Says of a shifted geometric mean that its bound is a little too near where many inputs run up to a time limit. With half of
 * 50 inputs there, 7 % of 2,000 candidates at the tolerance passed.
 */
function explainSharedLimit(statistic: string, { complete }: PairedMeasurement): string[] {
  if (statistic !== 'shifted_geometric_mean') return [];
  const inputs = complete.map(({ pair_values }) => pair_values).filter((pairs) => pairs.length > 0);
  const limited = countInputsAtLimit(inputs);
  if (limited < LIMITED_SHARE_MIN * inputs.length) return [];
  return [
    `Both sides ended at the largest value on ${limited} of ${inputs.length} inputs, such as a time limit: such a bound is too near in up to 7\u00a0% of tests.`,
  ];
}

/** The effect on other inputs, and a sentence when it may be beyond the tolerance. */
interface OtherInputs {
  non_inferiority: NonInferiority | null;
  warning: string | null;
}

/**
 * Returns null for a rule of equality, for one about the number of runs, and for one about the candidate only.
 *
 * Checks whether a rule that compares the means of these runs would hold on other inputs of the same kind.
 *
 * With a true loss that equals the tolerance, such a rule is met in half of the tests. The check evaluates the same rule as
 * non-inferiority, and returns a warning when the data do not show that it holds.
 */
export function checkOtherInputs(
  metric: Metric,
  { control_value }: Pick<MetricDecision, 'control_value'>,
  sides: SideObservations,
  settings: NonInferioritySettings,
): OtherInputs | null {
  const { metric_type, statistic, params } = metric;
  if (metric_type !== 'direct-comparison' && metric_type !== 'difference-threshold') return null;
  const name = parseStatisticName(statistic);
  if (name === null || name === 'count' || params.operator === 'eq' || params.operator === 'ne') return null;
  if (control_value === null) return null;
  if (name !== 'mean' && !isBoundedStatistic(name))
    return { non_inferiority: null, warning: warnOfUnbounded(name) };
  const tolerance = findTolerance(metric);
  if (settings.value_type === 'flag')
    return name === 'mean' ? checkFlag(metric, tolerance, sides, settings) : null;
  const decide = (tolerance: MetricTolerance) =>
    decideNonInferiority({ ...metric, params: { ...params, tolerance } }, sides, settings);
  const relative = decide(tolerance);
  // Ratios need values above 0. The rule itself compares the means with a share of the magnitude of the control.
  const usesMeans = tolerance.type === 'relative' && relative.non_inferiority === null;
  const used: MetricTolerance = usesMeans
    ? { type: 'absolute', value: tolerance.value * Math.abs(control_value) }
    : tolerance;
  const { passed, obstacle, non_inferiority } = usesMeans ? decide(used) : relative;
  if (passed || (non_inferiority === null && obstacle === null)) return { non_inferiority, warning: null };
  return { non_inferiority, warning: formatWarning(metric, used, { obstacle, non_inferiority }) };
}

/** Returns the largest loss that the rule allows; it is negative when the rule asks for a gain. */
function findTolerance({ metric_type, params: { operator, tolerance } }: Metric): MetricTolerance {
  const type = tolerance.type === '' ? 'absolute' : tolerance.type;
  const isMaximized = operator === 'gt' || operator === 'ge';
  const isLoss = metric_type === 'direct-comparison' || !isMaximized;
  return { type, value: isLoss ? tolerance.value : -tolerance.value };
}

/** Two shares of true differ by at most the share of inputs on which the candidate is worse. */
function checkFlag(
  { field, params: { operator } }: Metric,
  { value }: MetricTolerance,
  sides: SideObservations,
  settings: NonInferioritySettings,
): OtherInputs | null {
  const direction = operator === 'gt' || operator === 'ge' ? 'maximize' : 'minimize';
  const { losses } = measureIndicator(
    sides,
    field,
    {
      tie_tolerance: settings.tie_tolerance,
      shift: settings.shift,
      largest_loss: null,
      direction,
      measure: 'absolute',
      margin: { type: 'absolute', value: 0 },
    },
    selectDesign(settings),
  );
  if (losses === null || losses.upper <= value) return null;
  return {
    non_inferiority: null,
    warning: `The rule is met on these inputs. On up to ${formatPercent(losses.upper)} of other inputs, the candidate may be worse in ${field}: add inputs.`,
  };
}

/** The extremes and the spread of other inputs have no bound. */
function warnOfUnbounded(statistic: 'min' | 'max' | 'std'): string {
  const instead = { min: 'p05', max: 'p95', std: 'p50 and p95' }[statistic];
  return `The rule compares the ${statistic} of these runs, which says little about other inputs: in simulated tests, such rules were met in up to ${formatPercent(POINT_PASSES)} by a candidate at twice the tolerance. Use ${instead} with \`hypothesis: non-inferiority\`.`;
}

/** The largest share in the table `acceptance-points` of the simulation. */
const POINT_PASSES = 0.37;

function formatWarning(
  { field, statistic, params: { operator } }: Metric,
  { type, value }: MetricTolerance,
  { obstacle, non_inferiority }: { obstacle: string | null; non_inferiority: NonInferiority | null },
): string {
  const isRelative = type === 'relative';
  const size = isRelative ? formatExactPercent(Math.abs(value)) : formatNumber(Math.abs(value));
  const allowed = value < 0 ? `gains at least ${size}` : `loses at most ${size}`;
  const start = `The rule is met on these inputs, but the data do not show that the candidate ${allowed} in ${nameSubject(statistic, field)} on others`;
  const end = 'Add `hypothesis: non-inferiority` to the rule to decide about other inputs.';
  if (obstacle !== null) return `${start}. ${obstacle} ${end}`;
  const isMaximized = operator === 'gt' || operator === 'ge';
  const distance = (non_inferiority?.bound ?? 0) - (isRelative ? 1 : 0);
  const loss = isMaximized ? -distance : distance;
  const format = distinguish(
    value < 0 ? [-value, -loss] : [value, loss],
    isRelative ? formatPercent : formatValue,
  );
  const bound = value < 0 ? `the gain is ${format(-loss)}` : `the loss is ${format(loss)}`;
  return `${start}: the one-sided 95 % bound of ${bound}. ${end}`;
}

function nameSubject(statistic: string, field: string): string {
  const name = parseStatisticName(statistic);
  return name === null || name === 'mean' ? field : `the ${name.replaceAll('_', ' ')} of ${field}`;
}
