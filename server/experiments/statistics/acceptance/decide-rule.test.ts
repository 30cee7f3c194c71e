/** Rules of acceptance tests over the inputs that both sides solved. Expectations are arithmetic. */

import { describe, expect, test } from 'vitest';
import type { Metric } from '../acceptance-metrics.ts';
import { Resampler } from '../bootstrap.ts';
import type { Observation } from '../observations.ts';
import { collectEvidence, decideRule, decideTie } from './decide-rule.ts';

/** The values of one input on both sides, by repetition: a number, `failed`, `canceled`, or `silent` without a number. */
type Value = number | 'failed' | 'canceled' | 'silent';
type Input = [control: Value[], candidate: Value[]];

const createRun = (side: string, input: number, repetition: number, value: Value): Observation => ({
  run_id: `${side}-${input}-${repetition}`,
  instance_id: side,
  version_id: 'v1',
  input_id: `in-${input}`,
  option_set: null,
  scenario_id: null,
  repetition,
  status: value === 'failed' || value === 'canceled' ? value : 'succeeded',
  indicators: typeof value === 'number' ? [{ name: 'cost', value }] : [],
});
const listRuns = (inputs: readonly Input[], side: 0 | 1) =>
  inputs.flatMap((input, index) =>
    input[side].map((value, repetition) =>
      createRun(side === 0 ? 'control' : 'candidate', index + 1, repetition, value),
    ),
  );

const MEAN: Metric = {
  field: 'cost',
  statistic: 'mean',
  metric_type: 'direct-comparison',
  params: { operator: 'le', tolerance: { type: 'relative', value: 0.01 } },
};

function decide(inputs: readonly Input[], changes: Partial<Metric> = {}, failure_margin?: number) {
  const runs = { control: listRuns(inputs, 0), candidate: listRuns(inputs, 1) };
  return decideRule({ ...MEAN, ...changes }, collectEvidence(runs, 'cost'), {
    value_type: 'number',
    tie_tolerance: 1e-9,
    shift: 0,
    listIndicatorBlockers: () => [],
    failure_margin,
    resampler: new Resampler({ seed: 'rules', resamples: 1999 }),
  });
}

const anyCost = { params: { operator: 'le', tolerance: { type: 'relative', value: 9 } } } as const;

describe('D2: a candidate that loses the largest input does not pass', () => {
  /** Sizes 100, 200, ... 2,000; the candidate is 5 % worse on each. */
  const build = (lost: number): Input[] =>
    Array.from({ length: 20 }, (_, index): Input => {
      const cost = 100 * (index + 1);
      return [[cost], [index >= 20 - lost ? 'failed' : 1.05 * cost]];
    });

  test('the values are compared over the inputs that both sides solved', () => {
    // The mean of 100 to 1,900 is 1,000. The mean over all runs of the control is 1,050, which the candidate met before.
    expect(decide(build(1))).toMatchObject({ passed: false, control_value: 1000, threshold: 1010 });
    expect(decide(build(1)).candidate_value).toBeCloseTo(1050, 9);
  });

  test('the reason says over how many inputs, and names a lost input with its run', () => {
    const { reason } = decide(build(1), { params: { operator: 'ge', tolerance: { type: '', value: 0 } } });
    expect(reason).toBe(
      'The candidate’s mean of cost, 1,050, is at least 1,000. Compared over the 19 of 20 inputs that both sides solved. The candidate failed on 1 of 20 inputs that the control solved: "in-20" (run candidate-20-0); the test allows none.',
    );
    expect(decide(build(0)).reason).toBe(
      'The candidate’s mean of cost, 1,102.5, is above 1,060.5. Compared over 20 inputs.',
    );
  });

  test.each([
    [0, undefined, true],
    [1, undefined, false],
    [1, 0, false],
    [1, 0.049, false],
    [1, 0.05, true],
    [2, 0.05, false],
    [2, 0.1, true],
    [20, 1, false],
  ])('with %d of 20 inputs lost and a failure margin of %s, passed is %s', (lost, margin, passed) => {
    expect(decide(build(lost), anyCost, margin).passed).toBe(passed);
  });

  test.each(['direct-comparison', 'difference-threshold', 'absolute-threshold', 'non-inferiority'] as const)(
    'for a rule of type %s',
    (metric_type) => {
      const changes = {
        metric_type,
        params: { operator: 'le', tolerance: { type: 'absolute', value: 1e6 } },
      } as const;
      expect(decide(build(0), changes).passed).toBe(true);
      expect(decide(build(1), changes).passed).toBe(false);
    },
  );

  test('a run without a number counts as lost, and inputs that the control lost do not object', () => {
    const inputs = build(0);
    const replaceLast = (values: Input) => [...inputs.slice(0, 19), values];
    expect(decide(replaceLast([[2000], ['silent']]), anyCost)).toMatchObject({ passed: false });
    expect(decide(replaceLast([['failed'], [1]]), anyCost)).toMatchObject({
      passed: true,
      control_value: 1000,
    });
    expect(decide(replaceLast([['failed'], ['failed']]), anyCost).passed).toBe(true);
  });

  test('a canceled run of the candidate is a lost input, and other inputs without an outcome leave the rule unmet', () => {
    const inputs = build(0);
    const decideLast = (values: Input, failure_margin?: number) =>
      decide([...inputs.slice(0, 19), values], anyCost, failure_margin);
    const lost = 'The candidate failed or was canceled on 1 of 20 inputs that the control solved: "in-20"';
    expect(decideLast([[2000], ['canceled']]).reason).toContain(lost);
    expect(decideLast([[2000], []]).reason).toContain(lost);
    expect(decideLast([[2000], ['canceled']], 0.05).passed).toBe(true);
    expect(decideLast([['failed'], ['canceled']]).passed).toBe(true);
    for (const values of [
      [['canceled'], ['canceled']],
      [['canceled'], [1]],
    ] as Input[]) {
      const { passed, reason } = decideLast(values, 0.5);
      expect(passed).toBe(false);
      expect(reason).toContain('1 of 20 inputs has no outcome because runs were canceled or deleted');
    }
  });
});

describe('repetitions', () => {
  const build = (missing: 'control' | 'candidate', count: number): Input[] =>
    Array.from({ length: 20 }, (_, index) => {
      const rest = index < count ? ['canceled' as const, 100, 100] : [100, 100, 100];
      return missing === 'control' ? [rest, [100, 100, 100]] : [[100, 100, 100], rest];
    });

  // One of 60 pairs is 1.7 %. Three failures by chance have a p-value of 0.25, so failures alone would not object.
  test.each<['control' | 'candidate', number, number | undefined, boolean]>([
    ['candidate', 0, undefined, true],
    ['candidate', 1, undefined, false],
    ['candidate', 3, undefined, false],
    ['candidate', 3, 0.05, true],
    ['candidate', 4, 0.05, false],
    ['control', 1, undefined, false],
    ['control', 1, 0.5, false],
  ])('canceled or deleted: %s, of %i inputs, with the margin %s', (missing, count, margin, passed) => {
    expect(decide(build(missing, count), anyCost, margin).passed).toBe(passed);
  });

  test('only pairs in which both sides have a number are compared', () => {
    const inputs: Input[] = [
      [
        [10, 20, 30],
        [11, 'failed', 33],
      ],
      [
        [1, 1, 1],
        [1, 1, 1],
      ],
    ];
    // 10, 30, 1, 1 and 1 against 11, 33, 1, 1 and 1. One of three repetitions is no lost input, and chance explains it.
    expect(decide(inputs, { params: { operator: 'gt', tolerance: { type: '', value: 0 } } })).toMatchObject({
      passed: true,
      control_value: 43 / 5,
      candidate_value: 47 / 5,
    });
  });

  test('a candidate that fails in a third of the repetitions of every input is not met', () => {
    const inputs = Array.from(
      { length: 10 },
      (): Input => [
        [5, 5, 5],
        [1, 'failed', 1],
      ],
    );
    const { passed, reason } = decide(inputs);
    expect(passed).toBe(false);
    // All ten inputs differ in one direction: the exact p-value is 2 / 2^10.
    expect(reason).toContain(
      'The candidate failed in 10 of 30 paired runs, the control in 0 (p-value 0.002); the test allows none.',
    );
    expect(decide(inputs, {}, 0.3).passed).toBe(false);
    expect(decide(inputs, {}, 0.34).passed).toBe(true);
  });

  test('different repetitions of both sides are compared by their means', () => {
    const inputs: Input[] = [
      [[100], [100, 100, 100]],
      [[10, 10, 10], [10]],
    ];
    // Over all runs the means would be 32.5 and 77.5.
    expect(decide(inputs)).toMatchObject({ passed: true, control_value: 55, candidate_value: 55 });
  });
});

describe('rules over all runs of a side', () => {
  const inputs: Input[] = [
    [[1], [1]],
    [['failed'], [9]],
  ];

  test('count is the number of runs with a number', () => {
    const count = {
      statistic: 'count',
      params: { operator: 'gt', tolerance: { type: '', value: 0 } },
    } as const;
    expect(decide(inputs, count)).toMatchObject({ passed: true, control_value: 1, candidate_value: 2 });
  });

  test('an absolute threshold sees inputs that the control lost', () => {
    const below = (value: number): Partial<Metric> => ({
      statistic: 'max',
      metric_type: 'absolute-threshold',
      params: { operator: 'le', tolerance: { type: 'absolute', value } },
    });
    expect(decide(inputs, below(8))).toMatchObject({ passed: false, candidate_value: 9 });
    expect(decide(inputs, below(9)).passed).toBe(true);
  });
});

test('sides that solved different inputs are not compared', () => {
  const inputs: Input[] = [
    [[1], ['canceled']],
    [['canceled'], [1]],
  ];
  expect(decide(inputs)).toEqual({
    passed: false,
    control_value: null,
    candidate_value: null,
    threshold: null,
    reason:
      'No input has a number as cost on both sides. The candidate failed or was canceled on 1 of 1 input that the control solved: "in-1" (run candidate-1-0); the test allows none.',
    warnings: [],
  });
});

test('T13: a relative tolerance of a mean near 0 asks for an absolute one', () => {
  const inputs = Array.from({ length: 12 }, (_, index): Input => {
    const profit = (index % 2 === 0 ? 50 : -50) + index - 5.5;
    return [[profit], [profit]];
  });
  const warning = expect.stringMatching(
    /^The mean of the control is near 0 .*: give an absolute tolerance\.$/,
  );
  expect(decide(inputs).warnings).toContainEqual(warning);
  const params = { operator: 'le', tolerance: { type: 'absolute', value: 1 } } as const;
  expect(decide(inputs, { params }).warnings).not.toContainEqual(warning);
  expect(decide(inputs, { statistic: 'p50' }).warnings).not.toContainEqual(warning);
});

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
