/**
 * Rules where all inputs tie. No difference on these inputs is no proof for others: with ten, up to 26 % of others may differ.
 * So a rule that compares the sides is not met by a tie, unless it accepts one, or a bound lies within its tolerance.
 *
 * The means of the runs on an input can tie where its runs differ. Then a percentile, or another statistic of all runs, is no
 * tie, and its numbers decide.
 */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { isSatisfied, type Metric, parseStatisticName } from '../acceptance-metrics.ts';
import type { Comparison } from '../paired/family.ts';
import type { RuleDecision } from './decide-rule.ts';

/** The parts of the comparison of a rule that show a tie. */
type ComparedRule = Pick<Comparison, 'verdict' | 'reasons' | 'inputs' | 'tie_tolerance' | 'failures'>;

/**
 * Returns the decision. With the verdict `same`, a tie leaves the rule unmet, unless the rule accepts one. No tie overrules
 * the `objection` of failed or canceled runs.
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
