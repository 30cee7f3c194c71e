/** T13: the interval and the test of a comparison agree, and the reasons say which of them decides. */
import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { compareValues } from '../../../testing/fixtures/paired-runs.ts';
import { decideVerdict, type VerdictEvidence } from '../comparison/verdict.ts';

const EVIDENCE: VerdictEvidence = {
  unit: 'input',
  direction: 'minimize',
  usable: 30,
  valued: 30,
  pending: 0,
  progress: 'complete',
  effect: 0.02,
  interval: { low: -0.002, high: 0.05 },
  test: { name: 'the test of sign flips', p_value: 0.018, sign: 1 },
  failures: null,
  failure_margin: null,
  margin: 0.01,
  margin_text: '1 % of the control',
  interim: null,
  interim_threshold: 100,
  blockers: [],
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
