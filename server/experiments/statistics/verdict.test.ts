import { describe, expect, test } from 'vitest';
import { decideVerdict, type Evidence, estimateMoreUnits, type ObservedEffect } from './verdict.ts';

const CLEAR: Evidence = {
  unit: 'input',
  usable: 20,
  difference: -3,
  interval: { low: -5, high: -1 },
  test: { name: 'the test', p_value: 0.01, direction: -4 },
  all_equal: false,
  margin: 0.5,
  margin_in_words: '1 % of the control’s mean',
  objective: 'minimize',
};

describe('a verdict', () => {
  test.each<[string, Partial<Evidence>, string]>([
    ['clear and lower, minimised', {}, 'better'],
    ['clear and lower, maximised', { objective: 'maximize' }, 'worse'],
    ['p equal to the level', { test: { ...CLEAR.test, p_value: 0.05 } }, 'better'],
    ['p just above the level', { test: { ...CLEAR.test, p_value: 0.0501 } }, 'undecided'],
    ['no p', { test: { ...CLEAR.test, p_value: null } }, 'undecided'],
    ['the interval touches 0', { interval: { low: -5, high: 0 } }, 'undecided'],
    ['ranks the other way', { test: { ...CLEAR.test, direction: 4 } }, 'undecided'],
    ['nine inputs', { usable: 9 }, 'undecided'],
    ['no interval', { interval: null }, 'undecided'],
    ['within the tolerance', { interval: { low: -0.4, high: 0.5 }, difference: 0.05 }, 'equivalent'],
    ['half within the tolerance', { interval: { low: -0.4, high: 0.6 }, difference: 0.1 }, 'undecided'],
    ['nine within the tolerance', { interval: { low: -0.4, high: 0.5 }, usable: 9 }, 'undecided'],
    ['all equal', { usable: 1, all_equal: true, interval: null }, 'equivalent'],
    ['no usable input', { usable: 0, all_equal: true, interval: null }, 'undecided'],
  ])('%s', (_, fields, verdict) => {
    const decided = decideVerdict({ ...CLEAR, ...fields });
    expect(decided.verdict).toBe(verdict);
    for (const reason of decided.reasons) expect(reason).toMatch(/^[A-Z0-9].*\.$/);
    expect(decided.reasons.length).toBeGreaterThan(0);
  });
});

test.each<[string, Partial<Evidence>]>([
  ['undecided', { interval: { low: -5, high: 1 } }],
  ['equivalent', { interval: { low: -0.4, high: 0.5 }, difference: 0.05 }],
  ['better', { interval: { low: -0.4, high: -0.1 } }],
])('B15: the reasons of %s name the default margin', (verdict, fields) => {
  const decided = decideVerdict({ ...CLEAR, ...fields });
  expect(decided.verdict).toBe(verdict);
  expect(decided.reasons.join(' ')).toContain('±1 % of the control’s mean');
  expect(decided.reasons.join(' ')).not.toContain('tolerance');
});

describe('the estimate of more units', () => {
  const OBSERVED: ObservedEffect = { usable: 20, difference: 1, spread: 4, margin: 0, score: null, least: 0 };

  test.each<[string, Partial<ObservedEffect>, number | null]>([
    // ((1.95996 + 0.84162) x 4 / 1)^2 + 2 = 127.6
    ['reaches a power of 0.8', {}, 108],
    ['is about four times as large for half the difference', { difference: 0.5 }, 485],
    // ((1.95996 + 1.28155) x 4 / 2)^2 + 2 = 44.03
    ['makes the interval fit into the tolerance', { difference: 0, margin: 2 }, 25],
    // 20 x (2.80159 / 1)^2 = 157
    ['follows the ranks when they need more', { score: 1 }, 137],
    ['does not exist where ranks and mean disagree', { score: -1 }, null],
    ['does not exist without a difference or tolerance', { difference: 0 }, null],
    ['does not exist for two units', { usable: 2 }, null],
    ['does not exist above a hundred thousand', { difference: 1e-6 }, null],
    ['reaches at least ten units in all', { usable: 4, spread: 0 }, 6],
    ['is at least one', { usable: 1000 }, 1],
    ['is large enough that ten differ in spite of ties', { spread: 0, least: 50 }, 30],
  ])('%s', (_, fields, more) => {
    expect(estimateMoreUnits({ ...OBSERVED, ...fields })).toBe(more);
  });
});
