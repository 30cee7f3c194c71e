/** Rules of acceptance tests in words. */

import { formatNumber } from '../../presentation/format-quantity.ts';
import type { AcceptanceMetric } from '../acceptance-results.ts';

const OPERATORS: Record<AcceptanceMetric['params']['operator'], string> = {
  gt: '>',
  ge: '≥',
  lt: '<',
  le: '≤',
  eq: '=',
  ne: '≠',
};

const RISING = new Set(['gt', 'ge']);

/** Returns the rule as a formula, such as `mean of result.value: candidate ≤ control + 1 %`. */
export function formatRule({ field, statistic, metric_type, hypothesis, params }: AcceptanceMetric): string {
  const { operator, tolerance } = params;
  const value = tolerance?.value ?? 0;
  const amount = tolerance?.type === 'relative' ? `${formatNumber(value * 100)} %` : formatNumber(value);
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
