/** Rules of acceptance tests in words. */

import { formatExactPercent, formatNumber } from '../../presentation/format-quantity.ts';
import type { AcceptanceMetric } from '../acceptance-results.ts';

const OPERATORS: Record<AcceptanceMetric['params']['operator'], string> = {
  gt: '>',
  ge: '≥',
  lt: '<',
  le: '≤',
  eq: '=',
  ne: '≠',
};

/** Statistics of which a sample gives no bound for other inputs, so that a rule on them has no hypothesis. */
export const UNBOUNDED_STATISTICS: readonly string[] = ['min', 'max', 'std', 'count'];

const RISING = new Set(['gt', 'ge']);

/** Returns the rule as a formula, such as `mean of result.value: candidate ≤ control + 1 %`. */
export function formatRule(metric: AcceptanceMetric): string {
  return metric.accept_same
    ? `${formatComparison(metric)}, or a tie on all inputs`
    : formatComparison(metric);
}

function formatComparison({ field, statistic, metric_type, hypothesis, params }: AcceptanceMetric): string {
  const { operator, tolerance } = params;
  const value = tolerance?.value ?? 0;
  const amount = tolerance?.type === 'relative' ? formatExactPercent(value) : formatNumber(value);
  const subject = `${statistic} of ${field}`;
  const sign = OPERATORS[operator];
  switch (metric_type) {
    case 'absolute-threshold':
      return `${subject}: candidate ${sign} ${amount}`;
    case 'difference-threshold':
      return `${subject}: candidate - control ${sign} ${amount}`;
    case 'direct-comparison': {
      const slack = value === 0 ? '' : ` ${RISING.has(operator) ? '-' : '+'} ${amount}`;
      const bound = hypothesis === 'non-inferiority' ? ', by the 95 % bound' : '';
      return `${subject}: candidate ${sign} control${slack}${bound}`;
    }
  }
}
