/** The verdict of an acceptance test in sentences. The formulas stand with its rules. */
import type { MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { rateRules } from '@switchyard/contract/experiments/presentation/rate-experiment.ts';
import {
  isBoundOpen,
  isUnreported,
  rateRule,
} from '@switchyard/contract/experiments/presentation/rate-rule.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatExactPercent, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Verdict } from './describe-verdict.ts';
import { readAxis, sortRules } from './rule-axis.ts';

const STATISTICS: Readonly<Record<string, string>> = {
  p50: 'median',
  min: 'smallest value',
  max: 'largest value',
  std: 'standard deviation',
  shifted_geometric_mean: 'shifted geometric mean',
};

/** The operators of rules in words. */
export const LIMITS = {
  lt: 'less than',
  le: 'at most',
  gt: 'more than',
  ge: 'at least',
  eq: 'equal to',
  ne: 'different from',
} as const;

/** Names the statistic of an indicator, such as `The 95th percentile of Cost`. */
function nameStatistic(statistic: string): string {
  const [, percentile] = /^p(\d+)$/.exec(statistic) ?? [];
  return (
    STATISTICS[statistic] ?? (percentile === undefined ? statistic : `${Number(percentile)}th percentile`)
  );
}

/** Returns what the rule requires, such as `The mean of Cost must be at most 1 % above that of production`. */
export function describeRequirement(
  { field, statistic, metric_type, hypothesis, params }: MetricResult['metric'],
  { test, nameIndicator }: RuleContext,
): string {
  const control = (test.control.ensemble_id ?? test.control.instance_id) || 'latest';
  const { operator, tolerance } = params;
  const value = tolerance?.value ?? 0;
  const amount = tolerance?.type === 'relative' ? formatExactPercent(value) : formatNumber(value);
  const subject = `The ${nameStatistic(statistic)} of ${nameIndicator(field)}`;
  const limit = LIMITS[operator];
  if (metric_type === 'absolute-threshold') return `${subject} must be ${limit} ${amount}`;
  if (metric_type === 'difference-threshold')
    return `${subject} minus that of ${control} must be ${limit} ${amount}`;
  const others = hypothesis === 'non-inferiority' ? ', on other inputs too' : '';
  if (value === 0) return `${subject} must be ${limit} that of ${control}${others}`;
  const side = operator.startsWith('g') ? 'less' : 'plus';
  return `${subject} must be ${limit} that of ${control} ${side} ${amount}${others}`;
}

/** Returns what was found, such as `it is 79,287`; why there is nothing, where the data have no number. */
function describeFound(result: MetricResult): string {
  if (isUnreported(result)) return 'no run reported it';
  const axis = readAxis(result);
  if (axis === null) return 'these inputs give no bound for it';
  if (result.metric.hypothesis === 'non-inferiority')
    return `the change is ${axis.format(axis.value)}, and its 95\u00a0% bound ${axis.format(axis.bound)}`;
  if (result.metric.metric_type === 'difference-threshold')
    return `the difference is ${axis.format(axis.value)}`;
  const against = result.metric.metric_type === 'direct-comparison' && result.control_value !== null;
  return `it is ${axis.format(axis.value)}${against ? ` against ${axis.format(result.control_value ?? 0)}` : ''}`;
}

/** Returns why the data cannot say, and what would. */
function describeObstacle(result: MetricResult): string {
  if (result.tied) return 'All inputs tie, and others may not: more inputs decide it.';
  if (isBoundOpen(result) && readAxis(result))
    return 'Only its bound is not within the limit: more inputs decide it.';
  return isUnreported(result) ? 'The name may be misspelt.' : result.reason;
}

/** The test whose control the sentences name. */
export interface RuleContext {
  test: Pick<AcceptanceTest, 'control'>;
  nameIndicator: (indicator: string) => string;
}

const describeRule = (result: MetricResult, context: RuleContext): string =>
  escapeInvisible(`${describeRequirement(result.metric, context)}; ${describeFound(result)}.`);

/** Returns the verdict: what was required, what was found, and what stops it. Returns null before the results. */
export function describeAcceptance(
  test: Pick<AcceptanceTest, 'decision' | 'results' | 'control'>,
  nameIndicator: RuleContext['nameIndicator'],
): Verdict | null {
  const { decision, results } = test;
  if (!results || !decision) return null;
  const context = { test, nameIndicator };
  const word = rateRules(decision);
  const rules = sortRules(results.metric_results ?? []);
  const [first] = rules;
  const count = (rating: ReturnType<typeof rateRule>) =>
    rules.filter((rule) => rateRule(rule) === rating).length;
  const counts = (['not passed', 'cannot say', 'passed'] as const)
    .filter((rating) => count(rating) > 0)
    .map(
      (rating) => `${formatNumber(count(rating))} ${rating === 'cannot say' ? 'cannot be decided' : rating}`,
    );
  const rest = first ? describeRule(first, context) : decision.reason;
  const tally = rules.length > 1 ? [`Of ${formatNumber(rules.length)} rules: ${counts.join(', ')}.`] : [];
  if (decision.release === 'yes')
    return {
      ...{ kind: 'better', word, claim: 'Accepted.' },
      rest: rules.length > 1 ? `All ${formatNumber(rules.length)} rules are passed.` : rest,
      follows: rules.length > 1 ? rules.map((rule) => describeRule(rule, context)).slice(0, RULES_MAX) : [],
    };
  if (decision.release === 'no')
    return {
      ...{ kind: 'worse', word, claim: 'Not accepted.', rest },
      follows: tally,
    };
  // A change of the question leaves a test open whose rules are decided.
  const isOpen = first !== undefined && rateRule(first) !== 'passed';
  return {
    ...{ kind: 'open', word, claim: 'The data cannot say.' },
    rest: results.error ?? (isOpen ? rest : ''),
    follows: [
      results.error === undefined ? (isOpen ? describeObstacle(first) : decision.reason) : '',
      ...tally,
    ].filter((text) => text !== ''),
  };
}

/** Of more rules, the list below has the sentences. */
const RULES_MAX = 2;
