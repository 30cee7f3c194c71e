/** The results of the rules of an acceptance test. */

import { type RatedRule, rateRule } from '@switchyard/contract/experiments/presentation/rate-rule.ts';
import { expect, test } from 'vitest';
import { readAxis, sortRules } from './rule-axis.ts';

const rule = (changes: Partial<RatedRule>): RatedRule => ({
  metric: {
    metric_type: 'direct-comparison',
    params: { operator: 'le' },
  },
  passed: false,
  statistics: {
    control: { distribution_summary_statistics: { count: 12 } },
    candidate: { distribution_summary_statistics: { count: 12 } },
  },
  control_value: 100,
  candidate_value: 110,
  threshold: 101,
  ...changes,
});
const tied = rule({ tied: true });
const none = { distribution_summary_statistics: { count: 0 } };
const unreported = rule({
  ...{ control_value: null, candidate_value: null, threshold: null },
  statistics: { control: none, candidate: none },
});
const passed = rule({ passed: true, candidate_value: 90 });

test('inputs that tie, and a field that nobody reported, are no result', () => {
  expect([rule({}), tied, unreported, passed].map(rateRule)).toEqual([
    'not passed',
    'cannot say',
    'cannot say',
    'passed',
  ]);
});

test('rules that are not passed come first, then those without a result', () => {
  expect(sortRules([passed, tied, rule({})]).map(rateRule)).toEqual(['not passed', 'cannot say', 'passed']);
});

test('the axis of a rule is the value of the candidate, or the effect with its bound', () => {
  expect(readAxis(passed)).toMatchObject({ value: 90, bound: 90, limit: 101, allowed: 'below' });
  expect(readAxis(unreported)).toBeNull();
  const { metric } = passed;
  const bounded = rule({
    metric: { ...metric, hypothesis: 'non-inferiority' },
    threshold: 1.01,
    non_inferiority: { measure: 'ratio', effect: 0.75, bound: 0.875, within_tolerance: true },
  });
  expect(readAxis(bounded)).toMatchObject({ value: -0.25, bound: -0.125, allowed: 'below' });
});

const bounded = (effect: number, bound: number | null, changes: Partial<RatedRule> = {}) =>
  rule({
    metric: { ...passed.metric, hypothesis: 'non-inferiority' },
    non_inferiority: { measure: 'ratio', effect, bound, within_tolerance: (bound ?? 2) <= 1.01 },
    threshold: 1.01,
    ...changes,
  });

test('a rule that only its bound stops is not refused: the data cannot say', () => {
  expect(rateRule(bounded(1.005, 1.02))).toBe('cannot say');
  expect(rateRule(bounded(1.005, null))).toBe('cannot say');
  expect(rateRule(bounded(1.02, 1.03))).toBe('not passed');
  // A candidate that failed on more inputs is refused whatever the bound is.
  const failing = { control: passed.statistics.control, candidate: none };
  expect(rateRule(bounded(1.005, 1.02, { statistics: failing }))).toBe('not passed');
});
