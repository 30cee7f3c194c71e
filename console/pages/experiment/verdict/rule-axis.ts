/** The order of rules in a list, and the numbers of their pictures. */
import type { AcceptanceMetric } from '@switchyard/contract/experiments/acceptance-results.ts';
import { formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import {
  type RatedRule,
  type RuleRating,
  rateRule,
} from '@switchyard/contract/experiments/presentation/rate-rule.ts';
import { distinguish, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';

/** The order of a list: what needs somebody comes first. */
const ORDER: readonly RuleRating[] = ['not passed', 'cannot say', 'passed'];

/** Returns the rules with their results, in the order not passed, cannot say, passed. */
export function sortRules<Rule extends RatedRule>(results: readonly Rule[]): Rule[] {
  return results.toSorted((one, other) => ORDER.indexOf(rateRule(one)) - ORDER.indexOf(rateRule(other)));
}

/** A rule as an axis: where the candidate is, how far its bound reaches, and which side is allowed. */
export interface RuleAxis {
  value: number;
  /** The bound of the effect; the value itself for a rule about only these runs. */
  bound: number;
  limit: number;
  /** The side of the limit that is allowed; null for equal and not equal. */
  allowed: 'below' | 'above' | null;
  format: (value: number) => string;
}

const DIGITS = 4;

const SIDES: Record<AcceptanceMetric['params']['operator'], RuleAxis['allowed']> = {
  lt: 'below',
  le: 'below',
  gt: 'above',
  ge: 'above',
  eq: null,
  ne: null,
};

/** Returns the axis of a rule; null without numbers. A rule on the bound of an effect has the axis of the effect. */
export function readAxis({
  metric,
  control_value: control,
  candidate_value: candidate,
  threshold,
  non_inferiority: effect,
}: RatedRule): RuleAxis | null {
  const allowed = SIDES[metric.params.operator];
  if (metric.hypothesis === 'non-inferiority' && effect && threshold !== null) {
    if (effect.bound === null) return null;
    const isRatio = effect.measure === 'ratio';
    const origin = isRatio ? 1 : 0;
    const [value, bound, limit] = [effect.effect - origin, effect.bound - origin, threshold - origin];
    const measure = isRatio ? 'relative' : 'absolute';
    return { value, bound, limit, allowed, format: (one) => formatChange(measure, one) };
  }
  if (candidate === null || threshold === null) return null;
  if (metric.metric_type === 'difference-threshold') {
    if (control === null) return null;
    const value = candidate - control;
    return { value, bound: value, limit: threshold, allowed, format: (one) => formatChange('absolute', one) };
  }
  const format = distinguish([candidate, threshold, control], (one, more) => formatValue(one, more, DIGITS));
  return { value: candidate, bound: candidate, limit: threshold, allowed, format };
}
