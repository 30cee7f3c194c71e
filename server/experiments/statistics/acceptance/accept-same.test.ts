/** T1: a tie overrules no other reason against a rule. */
import { describe, expect, test } from 'vitest';
import type { Metric } from '../acceptance-metrics.ts';
import { decideTie } from './decide-rule.ts';

const RULE: Metric = {
  field: 'cost',
  statistic: 'mean',
  metric_type: 'non-inferiority',
  params: { operator: 'le', tolerance: { type: 'relative', value: 0.01 } },
  accept_same: true,
};
const OPEN = {
  ...{ passed: false, control_value: 1, candidate_value: 1, threshold: 1.01 },
  ...{ reason: 'No bound.', warnings: [] },
};
const SAME = {
  ...{ verdict: 'same' as const, reasons: ['All 200 inputs tie.'], tie_tolerance: 1e-9 },
  inputs: { total: 200, usable: 200, wins: 0, ties: 200, losses: 0 },
  failures: {
    ...{ candidate_only: 0, control_only: 0, both: 0, control_failed: 0, candidate_failed: 0 },
    ...{ p_value: 1, excess_upper: 0 },
  },
};

test.each([
  ['no objection', SAME, null, true],
  ['a lost input', SAME, 'The candidate was canceled on 1 of 200 inputs.', false],
  ['another verdict', { ...SAME, verdict: 'undecided' as const }, null, false],
])('T1: an accepted tie with %s', (_, comparison, objection, passed) => {
  expect(decideTie(RULE, OPEN, comparison, objection).passed).toBe(passed);
});

describe('T1: a rule on numbers that a tie meets', () => {
  const MET = { ...OPEN, passed: true, reason: 'It is at most 1.01.' };
  const rule = (accept_same: boolean): Metric => ({ ...RULE, metric_type: 'direct-comparison', accept_same });
  const compare = (ties: number, lost: Partial<typeof SAME.failures>, others = 0) => ({
    ...SAME,
    verdict: 'undecided' as const,
    inputs: { total: 12, usable: ties + others, wins: others, ties, losses: 0 },
    failures: { ...SAME.failures, ...lost },
  });

  test.each([
    ['fewer than ten inputs', compare(9, {}), true],
    ['inputs of which the control lost one', compare(11, { control_only: 1 }, 1), true],
    ['inputs of which one differs', compare(11, {}, 1), undefined],
  ])('is met on %s, and says so where none differs', (_, comparison, tied) => {
    const decision = decideTie(rule(false), MET, comparison, null);
    expect([decision.passed, decision.tied]).toEqual([true, tied]);
    expect(decideTie(rule(true), MET, comparison, null)).toEqual(MET);
  });
});
