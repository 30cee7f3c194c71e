/** Rules of acceptance tests in words. */

import { expect, test } from 'vitest';
import type { AcceptanceMetric } from '../acceptance-results.ts';
import { formatRule } from './format-rule.ts';

const RULE = { field: 'result.value', statistic: 'mean', metric_type: 'direct-comparison' } as const;

test.each<[AcceptanceMetric, string]>([
  [{ ...RULE, params: { operator: 'le' } }, 'mean of result.value: candidate ≤ control'],
  [
    { ...RULE, params: { operator: 'le', tolerance: { type: 'relative', value: 0.01 } } },
    'mean of result.value: candidate ≤ control + 1\u00a0%',
  ],
  [
    {
      ...RULE,
      hypothesis: 'non-inferiority',
      params: { operator: 'ge', tolerance: { type: 'absolute', value: 2 } },
    },
    'mean of result.value: candidate ≥ control - 2, by the 95 % bound',
  ],
  [
    { ...RULE, accept_same: true, params: { operator: 'le' } },
    'mean of result.value: candidate ≤ control, or a tie on all inputs',
  ],
  [
    {
      ...RULE,
      statistic: 'p95',
      hypothesis: 'non-inferiority',
      params: { operator: 'le', tolerance: { type: 'relative', value: 0.1 } },
    },
    'p95 of result.value: candidate ≤ control + 10\u00a0%, by the 95 % bound',
  ],
  [
    {
      ...RULE,
      statistic: 'p95',
      metric_type: 'absolute-threshold',
      params: { operator: 'lt', tolerance: { type: 'absolute', value: 1000 } },
    },
    'p95 of result.value: candidate < 1,000',
  ],
  [
    {
      ...RULE,
      metric_type: 'difference-threshold',
      params: { operator: 'gt', tolerance: { type: 'absolute', value: 0 } },
    },
    'mean of result.value: candidate - control > 0',
  ],
])('%j', (metric, text) => {
  expect(formatRule(metric)).toBe(text);
});
