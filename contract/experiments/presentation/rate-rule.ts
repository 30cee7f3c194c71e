/** The three results of a rule of an acceptance test. */
import type { MetricResult } from '../acceptance-results.ts';

export type RuleRating = 'not passed' | 'cannot say' | 'passed';

type Bound = NonNullable<MetricResult['non_inferiority']>;

/** What the rating of a rule depends on. */
export interface RatedRule
  extends Pick<MetricResult, 'passed' | 'control_value' | 'candidate_value' | 'threshold'> {
  metric: Pick<MetricResult['metric'], 'metric_type' | 'params' | 'hypothesis'>;
  statistics: { [Side in 'control' | 'candidate']: RatedSide };
  tied?: boolean | undefined;
  non_inferiority?: Pick<Bound, 'measure' | 'effect' | 'bound' | 'within_tolerance'> | undefined;
}

type RatedSide = Pick<MetricResult['statistics']['control'], 'distribution_summary_statistics'>;

const countNumbers = ({ distribution_summary_statistics: { count = 0 } }: RatedSide): number => count;

/** Returns true if no run of either side has a number as the field, as with a misspelt name. */
export function isUnreported({ control_value, candidate_value, statistics }: RatedRule): boolean {
  return (
    control_value === null &&
    candidate_value === null &&
    countNumbers(statistics.control) + countNumbers(statistics.candidate) === 0
  );
}

/** Returns true if only the bound stops the rule: the estimate does not break it, and the candidate lost no more inputs. */
export function isBoundOpen({ passed, metric, statistics, threshold, non_inferiority }: RatedRule): boolean {
  const { control, candidate } = statistics;
  if (passed || metric.hypothesis !== 'non-inferiority' || countNumbers(candidate) < countNumbers(control))
    return false;
  if (!non_inferiority || non_inferiority.bound === null || threshold === null) return true;
  const { effect, within_tolerance } = non_inferiority;
  const isRising = metric.params.operator.startsWith('g');
  return !within_tolerance && (isRising ? effect > threshold : effect < threshold);
}

/** Returns the result. The data cannot say where all inputs tie, where no run reported the field, and across a bound. */
export function rateRule(rule: RatedRule): RuleRating {
  if (rule.passed) return 'passed';
  return rule.tied || isUnreported(rule) || isBoundOpen(rule) ? 'cannot say' : 'not passed';
}
