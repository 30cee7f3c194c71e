/** The results of the rules of an acceptance test. */
import { expect, test } from 'vitest';
import { type RatedRule, rateRule, readAxis, sortRules } from './rate-rule.ts';

const rule = (changes: Partial<RatedRule>): RatedRule => ({
  metric: {
    metric_type: 'direct-comparison',
    params: { operator: 'le' },
  },
  passed: false,
  control_value: 100,
  candidate_value: 110,
  threshold: 101,
  ...changes,
});
const tied = rule({ tied: true });
const unreported = rule({ control_value: null, candidate_value: null, threshold: null });
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
    non_inferiority: { measure: 'ratio', effect: 0.75, bound: 0.875 },
  });
  expect(readAxis(bounded)).toMatchObject({ value: -0.25, bound: -0.125, allowed: 'below' });
});
