/**
 * Decides one rule of an acceptance test: selects the values that it compares, compares them, and refuses a candidate that
 * lost inputs. More than 1 % of inputs without an outcome leave a rule unmet, as they leave a batch without a verdict.
 *
 * A rule compares the sides over the inputs that both solved. Two kinds of rules count all numbers of a side. A rule about
 * `count` asks for the number of runs with a number, and an absolute threshold holds whatever the control is.
 */
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  decideMetric,
  type Metric,
  type MetricDecision,
  parseStatisticName,
  readStatistic,
} from '../acceptance-metrics.ts';
import { warnOfSmallControl } from '../comparison/effect-scale.ts';
import { findReportedValue, type Observation } from '../observations.ts';
import { type Distribution, summarize } from '../summary.ts';
import { decideNonInferiority, type NonInferioritySettings } from './non-inferiority.ts';
import { checkOtherInputs } from './other-inputs.ts';
import {
  explainCanceledInputs,
  findFailureObjection,
  pairSolvedInputs,
  type SideObservations,
  type SolvedInputs,
} from './solved-inputs.ts';

/** One indicator on both sides. */
export interface IndicatorEvidence {
  runs: SideObservations;
  /** The numbers of all runs that succeeded; null for none. */
  all: { control: Distribution | null; candidate: Distribution | null };
  solved: SolvedInputs;
}

/** Settings of a rule. */
export interface RuleSettings extends NonInferioritySettings {
  /** Share of the inputs that the candidate may lose; undefined for none. */
  failure_margin: number | undefined;
}

/** Collects the values of an indicator on both sides. */
export function collectEvidence(runs: SideObservations, indicator: string): IndicatorEvidence {
  return {
    runs,
    all: {
      control: summarizeSucceeded(runs.control, indicator),
      candidate: summarizeSucceeded(runs.candidate, indicator),
    },
    solved: pairSolvedInputs(runs, indicator),
  };
}

function summarizeSucceeded(runs: readonly Observation[], field: string): Distribution | null {
  return summarize(
    runs.filter((run) => run.status === 'succeeded').map((run) => findReportedValue(run, field)),
  );
}

/** A decision with what a met rule does not show, in sentences. */
export type RuleDecision = MetricDecision & {
  warnings: string[];
  /** True where nothing but inputs that tie decides, and the rule does not accept a tie. */
  tied?: boolean;
};

/** Decides the rule from the evidence of its indicator. */
export function decideRule(
  metric: Metric,
  evidence: IndicatorEvidence,
  settings: RuleSettings,
): RuleDecision {
  const decision = decideByNumbers(metric, evidence, settings);
  const objection = findObjection(evidence, settings);
  if (objection !== null)
    return { ...decision, passed: false, reason: `${decision.reason} ${objection}`, warnings: [] };
  const others = checkOtherInputs(metric, decision, evidence.runs, settings);
  const { non_inferiority, warning } = others ?? {};
  return {
    ...decision,
    ...(non_inferiority ? { non_inferiority } : {}),
    warnings: [...(warning && decision.passed ? [warning] : []), ...warnOfSmallMean(metric, evidence)],
  };
}

/** A percentile or a deviation near 0 is no accident of the sample, so only a mean is tested. */
function warnOfSmallMean(
  { metric_type, statistic, params }: Metric,
  { solved }: IndicatorEvidence,
): string[] {
  if (metric_type === 'absolute-threshold' || parseStatisticName(statistic) !== 'mean') return [];
  return warnOfSmallControl(params.tolerance, solved.control, 'tolerance');
}

/** Returns the reason why failed or canceled runs leave every rule unmet; null for none. */
export function findObjection(
  { solved }: IndicatorEvidence,
  { failure_margin }: Pick<RuleSettings, 'failure_margin'>,
): string | null {
  return findFailureObjection(solved, failure_margin) ?? explainCanceledInputs(solved, failure_margin);
}

function decideByNumbers(
  metric: Metric,
  evidence: IndicatorEvidence,
  settings: RuleSettings,
): MetricDecision {
  const { all, runs, solved } = evidence;
  if (countsAllRuns(metric) || all.control === null || all.candidate === null)
    return decideMetric(metric, all.control, all.candidate);
  const control = summarize(solved.control);
  const candidate = summarize(solved.candidate);
  if (control === null || candidate === null)
    return {
      passed: false,
      control_value: null,
      candidate_value: null,
      threshold: null,
      reason: `No input has a number as ${metric.field} on both sides.`,
    };
  if (metric.metric_type !== 'non-inferiority')
    return addCoverage(decideMetric(metric, control, candidate), solved);
  const statistic = parseStatisticName(metric.statistic) ?? 'mean';
  const { non_inferiority, passed, threshold, reason } = decideNonInferiority(metric, runs, settings);
  return addCoverage(
    {
      passed,
      threshold,
      reason,
      control_value: readStatistic(control, statistic),
      candidate_value: readStatistic(candidate, statistic),
      ...(non_inferiority ? { non_inferiority } : {}),
    },
    solved,
  );
}

function countsAllRuns({ metric_type, statistic }: Metric): boolean {
  return metric_type === 'absolute-threshold' || parseStatisticName(statistic) === 'count';
}

/** Adds over how many inputs the sides are compared. */
function addCoverage(decision: MetricDecision, { solved, ended }: SolvedInputs): MetricDecision {
  const inputs =
    solved === ended
      ? formatCount(solved, 'input')
      : `the ${solved} of ${ended} inputs that both sides solved`;
  return { ...decision, reason: `${decision.reason} Compared over ${inputs}.` };
}
