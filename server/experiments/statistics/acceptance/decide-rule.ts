/**
 * Decides one rule of an acceptance test: selects the values that it compares, compares them, and refuses a candidate that
 * lost inputs. More than 1 % of inputs without an outcome leave a rule unmet, as they leave a batch without a verdict.
 *
 * A rule compares the sides over the inputs that both solved. Two kinds of rules count all numbers of a side. A rule about
 * `count` asks for the number of runs with a number, and an absolute threshold holds whatever the control is.
 */

import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  decideMetric,
  isSatisfied,
  type Metric,
  type MetricDecision,
  parseStatisticName,
  readStatistic,
} from '../acceptance-metrics.ts';
import { warnOfSmallControl } from '../comparison/effect-scale.ts';
import { findReportedValue, type Observation } from '../observations.ts';
import { type Distribution, summarize } from '../summaries.ts';
import { checkOtherInputs, decideNonInferiority, type NonInferioritySettings } from './non-inferiority.ts';
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

/** The parts of the comparison of a rule that show a tie. */
type ComparedRule = Pick<Comparison, 'verdict' | 'reasons' | 'inputs' | 'tie_tolerance' | 'failures'>;

/**
 * Returns the decision. With the verdict `same`, a tie leaves the rule unmet, unless the rule accepts one. No tie overrules
 * the `objection` of failed or canceled runs.
 *
 * Rules where all inputs tie. No difference on these inputs is no proof for others: with ten, up to 26 % of others may differ.
 * So a rule that compares the sides is not met by a tie, unless it accepts one, or a bound lies within its tolerance.
 *
 * The means of the runs on an input can tie where its runs differ. Then a percentile, or another statistic of all runs, is no
 * tie, and its numbers decide.
 */
export function decideTie(
  metric: Metric,
  decision: RuleDecision,
  compared: ComparedRule,
  objection: string | null,
): RuleDecision {
  if (!hasTied(decision, compared) || !isAboutDifference(metric)) return decision;
  // A declared largest loss gives a bound without any difference.
  if (decision.passed && decision.non_inferiority?.within_tolerance === true) return decision;
  // The published clients know such a rule as met, so the decision of the test says that a tie is no proof.
  if (!isTie(compared))
    return decision.passed && metric.accept_same !== true ? { ...decision, tied: true } : decision;
  const tie = describeTie(compared);
  const accepted = acceptTie(metric, decision, tie, objection);
  if (metric.accept_same === true || !accepted.passed) return accepted;
  return {
    ...decision,
    ...{ passed: false, tied: true, warnings: [] },
    reason: `${decision.reason} ${tie} Add \`accept_same: true\` to the rule to accept a tie.`,
  };
}

/** A tie has no interval, so that non-inferiority has no bound. The effect is 0, within every tolerance but that of < 0. */
function acceptTie(
  metric: Metric,
  decision: RuleDecision,
  tie: string,
  objection: string | null,
): RuleDecision {
  if (metric.metric_type !== 'non-inferiority' || objection !== null) return decision;
  const { operator, tolerance } = metric.params;
  const gap = operator === 'gt' || operator === 'ge' ? tolerance.value : -tolerance.value;
  return isSatisfied(operator, gap, 0, 0)
    ? { ...decision, passed: true, reason: `${tie} The rule accepts a tie.`, warnings: [] }
    : decision;
}

/** Returns true for the verdict that all inputs tie. A largest loss makes them equivalent. */
function isTie({ verdict, inputs }: ComparedRule): boolean {
  return verdict === 'same' || (verdict === 'equivalent' && inputs.ties === inputs.usable);
}

/** Returns true if the statistic of the rule ties, and so do all inputs that both sides solved, however few. */
function hasTied(
  { control_value, candidate_value }: RuleDecision,
  { inputs: { wins, ties, losses }, failures, tie_tolerance }: ComparedRule,
): boolean {
  const lost = failures.candidate_only + failures.control_only;
  if (ties === 0 || wins + losses > lost) return false;
  if (control_value === null || candidate_value === null) return false;
  const largest = Math.max(Math.abs(control_value), Math.abs(candidate_value));
  return Math.abs(candidate_value - control_value) <= tie_tolerance * largest;
}

function describeTie({ verdict, reasons: [first = ''], inputs }: ComparedRule): string {
  if (verdict === 'same') return first;
  return `All ${formatCount(inputs.usable, 'input')} tie, and no bound for others lies within the tolerance.`;
}

/** Returns false for rules that a tie decides by itself: of equality, of one side alone, and of the number of runs. */
function isAboutDifference({ metric_type, statistic, params: { operator } }: Metric): boolean {
  return (
    metric_type !== 'absolute-threshold' &&
    parseStatisticName(statistic) !== 'count' &&
    operator !== 'eq' &&
    operator !== 'ne'
  );
}
