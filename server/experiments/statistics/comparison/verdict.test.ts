/** The verdict from given evidence, by the rules at the head of verdict.ts. */

import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { compareValues } from '../../../testing/fixtures/paired-runs.ts';
import type { MeasuredInterim } from './interim.ts';
import { decideVerdict, type FailureEvidence, type VerdictEvidence } from './verdict.ts';

/** A clear effect towards `better`: negative values favour the candidate. */
const CLEAR: VerdictEvidence = {
  unit: 'input',
  direction: 'minimize',
  usable: 20,
  valued: 20,
  pending: 0,
  progress: 'complete',
  interval: { low: -5, high: -1 },
  test: { name: "Wilcoxon's test", p_value: 0.01, sign: -1 },
  failures: null,
  failure_margin: null,
  margin: 0.5,
  margin_text: '1\u00a0% of the control',
  interim: null,
  interim_threshold: 100,
  blockers: [],
};
const WORSE = { interval: { low: 1, high: 5 }, test: { ...CLEAR.test, sign: 1 } };
const EQUAL = { interval: { low: -0.4, high: 0.5 }, test: { ...CLEAR.test, p_value: 0.5 } };
const test_p = (p_value: number | null) => ({ test: { ...CLEAR.test, p_value } });
/** The candidate lost so many units more. */
const lost = (excess_units: number, fields: Partial<FailureEvidence> = {}): FailureEvidence => ({
  excess_units,
  excess_failures: excess_units,
  p_value: 0.5,
  excess_upper: 0.2,
  text: 'The failures in words.',
  ...fields,
});

function decide(fields: Partial<VerdictEvidence>): string {
  const decided = decideVerdict({ ...CLEAR, ...fields });
  expect(decided.reasons.length).toBeGreaterThan(0);
  for (const reason of decided.reasons) expect(reason).toMatch(/^[A-Z0-9].*\.$/);
  return decided.verdict;
}

describe('the verdict at the planned end', () => {
  test.each<[string, Partial<VerdictEvidence>, string]>([
    ['clear', {}, 'better'],
    ['clear the other way', WORSE, 'worse'],
    ['clear, of an indicator without a direction', { direction: 'none' }, 'lower'],
    ['clear the other way, without a direction', { ...WORSE, direction: 'none' }, 'higher'],
    ['p equal to the error of the end', test_p(0.04), 'better'],
    ['p just above it', test_p(0.0401), 'undecided'],
    ['no p', test_p(null), 'undecided'],
    ['the interval touches 0', { interval: { low: -5, high: 0 } }, 'undecided'],
    ['ranks against the interval', { test: { ...CLEAR.test, sign: 1 } }, 'undecided'],
    ['nine inputs', { usable: 9 }, 'undecided'],
    ['ten inputs', { usable: 10 }, 'better'],
    ['no input', { usable: 0 }, 'undecided'],
    ['no interval', { interval: null }, 'undecided'],
    ['within the margin', EQUAL, 'equivalent'],
    ['half within the margin', { ...EQUAL, interval: { low: -0.4, high: 0.6 } }, 'undecided'],
    ['certain and within the margin', { interval: { low: -0.4, high: -0.1 } }, 'better'],
    ['within the margin, nine with values', { ...EQUAL, valued: 9 }, 'undecided'],
    ['a reason against any verdict', { blockers: ['The time is not comparable.'] }, 'undecided'],
  ])('%s', (_, fields, verdict) => {
    expect(decide(fields)).toBe(verdict);
  });

  test('D4: no difference on fewer than ten inputs is no equivalence', () => {
    for (const usable of [1, 3, 5, 9])
      expect(decide({ ...EQUAL, interval: { low: 0, high: 0 }, usable, valued: usable })).toBe('undecided');
  });
});

test('evidence before the end says how few inputs it has when an early one is unfinished', () => {
  const interim: MeasuredInterim = {
    ...{ units: 1, e_value: 1, e_value_max: 1, direction: 0 },
    ...{ mean_e_value_max: 1, largest_loss: 1 },
  };
  const { reasons } = decideVerdict({ ...CLEAR, progress: 'running', usable: 19, pending: 1, interim });
  expect(reasons).toEqual([
    '19 of 20 inputs have ended.',
    'The evidence so far (e-value 1) is below the 100 that a verdict before the end needs. It has only the 1 input before the first unfinished one.',
  ]);
});

describe('D3: failures', () => {
  test.each<[string, Partial<VerdictEvidence>, string]>([
    ['of the candidate exclude better', { failures: lost(1) }, 'undecided'],
    ['of the candidate exclude equivalent', { ...EQUAL, failures: lost(1) }, 'undecided'],
    ['of the candidate do not exclude worse', { ...WORSE, failures: lost(1) }, 'worse'],
    ['of the control exclude worse', { ...WORSE, failures: lost(-1) }, 'undecided'],
    ['of the control do not exclude better', { failures: lost(-1) }, 'better'],
    ['of either side exclude lower', { direction: 'none', failures: lost(-1) }, 'undecided'],
    ['within the margin for them do not count', { failures: lost(1), failure_margin: 0.2 }, 'better'],
    ['above the margin for them do', { failures: lost(1), failure_margin: 0.19 }, 'undecided'],
    [
      'in repetitions count when chance hardly explains them',
      { failures: lost(0, { excess_failures: 4, p_value: 0.1 }) },
      'undecided',
    ],
    [
      'in repetitions that chance explains do not',
      { failures: lost(0, { excess_failures: 1, p_value: 0.11 }) },
      'better',
    ],
    [
      'that differ support worse without an interval',
      { ...WORSE, interval: null, failures: lost(8, { p_value: 0.008 }) },
      'worse',
    ],
  ])('%s', (_, fields, verdict) => {
    expect(decide(fields)).toBe(verdict);
  });
});

describe('D6: the verdict before the planned end', () => {
  const evidence = (
    e_value_max: number,
    direction: 1 | -1,
    mean_e_value_max = e_value_max,
  ): MeasuredInterim => ({
    units: 20,
    e_value: 1,
    e_value_max,
    direction,
    mean_e_value_max,
    largest_loss: 1,
  });
  test.each<[string, Partial<VerdictEvidence>, string]>([
    ['is none, however small the p-value', { progress: 'running', ...test_p(1e-9) }, 'undecided'],
    ['is none after an early stop', { progress: 'stopped', ...test_p(1e-9) }, 'undecided'],
    ['is none while runs are unfinished', { pending: 1, ...test_p(1e-9) }, 'undecided'],
    ['is none just below the limit', { progress: 'running', interim: evidence(99, -1) }, 'undecided'],
    ['comes from the evidence', { progress: 'running', interim: evidence(100, -1) }, 'better'],
    [
      'T4: is none without evidence about the mean',
      { progress: 'running', interim: evidence(1e6, -1, 99) },
      'undecided',
    ],
    [
      'T4: is none without it for an indicator without a direction',
      { progress: 'running', direction: 'none', interim: evidence(1e6, 1, 99) },
      'undecided',
    ],
    [
      'T4: needs none about the mean for worse',
      { progress: 'running', interim: evidence(100, 1, 1) },
      'worse',
    ],
    ['keeps its direction', { progress: 'stopped', interim: evidence(100, 1) }, 'worse'],
    ['is never equivalent', { ...EQUAL, progress: 'running', interim: evidence(1, -1) }, 'undecided'],
    [
      'is none when failures exclude it',
      { progress: 'running', interim: evidence(1000, -1), failures: lost(1) },
      'undecided',
    ],
  ])('%s', (_, fields, verdict) => {
    expect(decide(fields)).toBe(verdict);
  });
});

test('the reasons name p-values, margins and conditions', () => {
  const read = (fields: Partial<VerdictEvidence>) => decideVerdict({ ...CLEAR, ...fields }).reasons.join(' ');
  expect(read({})).toBe(
    "The 95 % interval of the effect excludes 0, and Wilcoxon's test gives an adjusted p-value of 0.01.",
  );
  expect(read(test_p(0.021))).toContain('The p-value is close to its limit of 0.04');
  expect(read({ ...test_p(0.026), final_alpha: 0.05 })).toContain('close to its limit of 0.05');
  expect(read(test_p(0.02))).not.toContain('close to its limit');
  expect(read(test_p(0.5))).toContain("Wilcoxon's test gives an adjusted p-value of 0.5, above 0.04.");
  expect(read(EQUAL)).toBe('The whole 95 % interval of the effect lies within ±1\u00a0% of the control.');
  expect(read({ interval: { low: -0.4, high: -0.1 } })).toContain('The effect is certain but small');
  expect(read({ usable: 9 })).toBe('9 inputs with an outcome on both sides; a verdict needs at least 10.');
  expect(read({ usable: 9, unit: 'unit' })).toBe('9 units that count; a verdict needs at least 10.');
  expect(read({ usable: 0, unit: 'unit' })).toBe(
    'A side has fewer than two units that count and have a value.',
  );
  expect(read({ test: { ...CLEAR.test, p_value: null, needs: 'at least 6 inputs that differ' } })).toContain(
    "Wilcoxon's test needs at least 6 inputs that differ.",
  );
  expect(read({ progress: 'running', pending: 5 })).toContain('20 of 25 inputs have ended.');
});

test('differences that ties hide count against equivalence', () => {
  const interval = { low: -0.3, high: 0.3 };
  expect(decide({ ...EQUAL, interval, hidden_effect: 0.2 })).toBe('equivalent');
  expect(decide({ ...EQUAL, interval, hidden_effect: 0.21 })).toBe('undecided');
  const { reasons } = decideVerdict({ ...CLEAR, ...EQUAL, interval, hidden_effect: 0.21 });
  expect(reasons[0]).toContain('with the differences that tie_tolerance hides');
});

const EVIDENCE: VerdictEvidence = {
  ...CLEAR,
  usable: 30,
  valued: 30,
  interval: { low: -0.002, high: 0.05 },
  test: { name: 'the test of sign flips', p_value: 0.018, sign: 1 },
  margin: 0.01,
  margin_text: '1 % of the control',
};

describe('T13: `undecided`', () => {
  test('beside a small p-value says that the interval decides', () => {
    expect(decideVerdict(EVIDENCE)).toEqual({
      verdict: 'undecided',
      reasons: [
        'The 95 % interval of the mean effect decides: it includes 0 and reaches beyond ±1 % of the control.',
        'The test of sign flips gives an adjusted p-value of 0.018, which is not enough by itself.',
      ],
    });
  });

  test('beside an interval without 0 says that the corrected test decides', () => {
    const test = { ...EVIDENCE.test, p_value: 0.09 };
    const { verdict, reasons } = decideVerdict({ ...EVIDENCE, interval: { low: 0.002, high: 0.05 }, test });
    expect(verdict).toBe('undecided');
    expect(reasons).toEqual([
      'The corrected test decides: the test of sign flips gives an adjusted p-value of 0.09, above 0.04.',
      'The 95 % interval of this comparison by itself excludes 0 and reaches beyond ±1 % of the control.',
    ]);
  });

  test('of one comparison never stands beside an interval without 0', () => {
    const generator = new RandomGenerator('agreement');
    let undecided = 0;
    for (let experiment = 0; experiment < 60; experiment += 1) {
      const control = Array.from({ length: 24 }, () => 100 + 10 * generator.normal());
      const found = compareValues(
        control,
        control.map((value) => value * (1.02 + 0.05 * generator.normal())),
      );
      if (found.verdict !== 'undecided') continue;
      undecided += 1;
      const { low = 0, high = 0 } = found.geometric_mean_ratio?.interval ?? {};
      expect([low <= 1, high >= 1]).toEqual([true, true]);
    }
    // A change of 2 % with a deviation of 5 % has a power of about a half with 24 inputs.
    expect(undecided).toBeGreaterThan(15);
  });
});

describe('T13: equal changes', () => {
  const control = Array.from({ length: 12 }, (_, index) => 100 + index);

  test('are said, with the share of other inputs that may differ', () => {
    const found = compareValues(
      control,
      control.map((value) => value * 0.97),
    );
    // 1 − 0.05^(1/12) = 22.1 %.
    expect(found).toMatchObject({ verdict: 'better' });
    expect(found.reasons).toContain(
      'All 12 inputs change alike; up to 22.1\u00a0% of other inputs may differ, by any amount.',
    );
  });

  test('are not said of changes that differ', () => {
    const found = compareValues(
      control,
      control.map((value, index) => value * (0.97 + 0.0001 * (index % 2))),
    );
    expect(found.verdict).toBe('better');
    expect(found.reasons.join(' ')).not.toContain('change alike');
  });
});
