/** Non-inferiority: the bound against Student's t and numpy, and the share of wrong passes by simulation. */

import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import type { Metric, MetricTolerance, Operator } from '../acceptance-metrics.ts';
import { Resampler } from '../bootstrap.ts';
import type { Observation } from '../observations.ts';
import { collectEvidence, decideRule } from './decide-rule.ts';
import { decideNonInferiority, type NonInferioritySettings } from './non-inferiority.ts';

const SETTINGS: NonInferioritySettings = {
  value_type: 'number',
  tie_tolerance: 1e-9,
  shift: 0,
  listIndicatorBlockers: () => [],
  resampler: new Resampler({ seed: 'bounds', resamples: 1999 }),
};

const listRuns = (side: string, values: readonly (number | null)[]): Observation[] =>
  values.map((value, index) => ({
    instance_id: side,
    version_id: 'v1',
    input_id: `in-${index}`,
    option_set: null,
    scenario_id: null,
    repetition: 0,
    status: value === null ? 'canceled' : 'succeeded',
    indicators: value === null ? [] : [{ name: 'cost', value }],
    clusters: { depot: `depot ${index % 5}` },
  }));

const buildMetric = (operator: Operator, tolerance: MetricTolerance): Metric => ({
  field: 'cost',
  statistic: 'mean',
  metric_type: 'non-inferiority',
  params: { operator, tolerance },
});

function decide(
  control: readonly (number | null)[],
  candidate: readonly (number | null)[],
  operator: Operator,
  tolerance: MetricTolerance,
) {
  const metric = buildMetric(operator, tolerance);
  const sides = { control: listRuns('control', control), candidate: listRuns('candidate', candidate) };
  return decideNonInferiority(metric, sides, SETTINGS);
}

const CONTROL = [10, 12, 9, 15, 11, 30, 8, 10, 14, 22, 9, 10];
const DIFFERENCES = [0.3, 1.2, -0.4, 2.5, 0.9, 4.8, 0.1, 0.7, 1.6, 3.3, -0.2, 0.5];
const CANDIDATE = CONTROL.map((value, index) => value + (DIFFERENCES[index] ?? 0));

describe('the bound', () => {
  // scipy 1.17.1 for Student's t, numpy 2.4.6 with 400,000 resamples for the bootstrap; the bound is the further one. Its
  // error with 1,999 resamples is about 3 % of the standard error.
  test.each<[Operator, MetricTolerance['type'], { effect: number; bound: number; error: number }]>([
    // Bootstrap: above the mean of 1.275 is 2.4471. Student: below it is 0.469995.
    ['le', 'absolute', { effect: 1.275, bound: 2.4471, error: 0.1 }],
    ['ge', 'absolute', { effect: 1.275, bound: 0.469995, error: 1e-5 }],
    // Student for ln(candidate / control): exp of 0.0679 + 0.0341. Bootstrap: below it is 1.0318.
    ['le', 'relative', { effect: 1.070275617768127, bound: 1.1073692365352854, error: 1e-5 }],
    ['ge', 'relative', { effect: 1.070275617768127, bound: 1.0318, error: 0.003 }],
  ])('of the effect for %s and an %s tolerance', (operator, type, { effect, bound, error }) => {
    const { non_inferiority } = decide(CONTROL, CANDIDATE, operator, { type, value: 0.5 });
    expect(non_inferiority?.effect).toBeCloseTo(effect, 9);
    expect(Math.abs((non_inferiority?.bound ?? 0) - bound)).toBeLessThan(error);
    expect(non_inferiority).toMatchObject({
      measure: type === 'relative' ? 'ratio' : 'difference',
      inputs: 12,
    });
  });
});

describe('the decision', () => {
  // The bounds are 2.45 and 1.107 above, 0.47 and 1.032 below the effect.
  test.each<[Operator, MetricTolerance, boolean, number]>([
    ['le', { type: 'absolute', value: 2.7 }, true, 2.7],
    ['le', { type: 'absolute', value: 2.2 }, false, 2.2],
    ['lt', { type: 'relative', value: 0.11 }, true, 1.11],
    ['lt', { type: 'relative', value: 0.1 }, false, 1.1],
    ['ge', { type: 'absolute', value: 0 }, true, 0],
    ['gt', { type: 'relative', value: 0.01 }, true, 0.99],
  ])('%s with a tolerance of %o is %s', (operator, tolerance, passed, threshold) => {
    expect(decide(CONTROL, CANDIDATE, operator, tolerance)).toMatchObject({ passed, threshold });
  });

  test('of a candidate that is lower, when more is better', () => {
    const tolerance = { type: 'relative', value: 0.05 } as const;
    const control = Array.from({ length: 10 }, (_, index) => 100 + index);
    const share = (factor: number) => control.map((value) => value * factor);
    expect(decide(control, share(0.96), 'ge', tolerance).passed).toBe(true);
    expect(decide(control, share(0.94), 'ge', tolerance).passed).toBe(false);
    // All ratios are 0.95, which is exactly the tolerance.
    expect(decide(control, share(0.95), 'ge', tolerance).passed).toBe(true);
    expect(decide(control, share(0.95), 'gt', tolerance).passed).toBe(false);
  });

  test('the reason names bound, tolerance and estimate', () => {
    const control = Array.from({ length: 10 }, () => 100);
    const candidate = control.map(() => 102);
    expect(decide(control, candidate, 'le', { type: 'relative', value: 0.01 }).reason).toBe(
      'The one-sided 95 % bound of the mean ratio of candidate to control for cost, 1.02, is above 1.01; the estimate is 1.02.',
    );
  });

  test.each<[string, (number | null)[], string]>([
    ['nine inputs', [1, 1, 1, 1, 1, 1, 1, 1, 1], 'Both sides solved 9 inputs'],
    ['four inputs', [1, 1, 1, 1], 'Both sides solved 4 inputs'],
    ['a canceled run', [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, null], 'canceled'],
    ['a value below 0', [1, 1, 1, 1, 1, 1, 1, 1, 1, -1], 'give an absolute tolerance'],
    ['no number', [null, null], 'No input has a number as cost on both sides.'],
  ])('is not met with %s', (_, values, reason) => {
    const decision = decide(values, values, 'le', { type: 'relative', value: 0.5 });
    expect(decision.passed).toBe(false);
    expect(decision.reason).toContain(reason);
  });
});

test.each<[string, Partial<NonInferioritySettings>, string]>([
  ['a flag', { value_type: 'flag' }, 'cost is a flag'],
  ['a time under unequal load', { listIndicatorBlockers: () => ['Unequal load.'] }, 'Unequal load.'],
])('the rule is not met for %s', (_, changes, reason) => {
  const runs = { control: listRuns('control', CONTROL), candidate: listRuns('candidate', CANDIDATE) };
  const metric = buildMetric('le', { type: 'absolute', value: 100 });
  expect(decideNonInferiority(metric, runs, SETTINGS).passed).toBe(true);
  const decision = decideNonInferiority(metric, runs, { ...SETTINGS, ...changes });
  expect(decision).toMatchObject({ passed: false, reason: expect.stringContaining(reason) });
});

test('without a worse input, the reason says how many others may be worse', () => {
  const ten = CONTROL.slice(0, 10);
  // 0.05^(1 / 10) = 0.741: with 26 % of worse inputs, ten of them show none in 5 % of experiments.
  const better = ten.map((value, index) => value * (0.99 - index / 1000));
  expect(decide(ten, better, 'le', { type: 'relative', value: 0.01 }).reason).toContain(
    'On no input the candidate is worse; on up to 25.9\u00a0% of other inputs it may be.',
  );
});

test.each([
  [12, '5 of 12'],
  [14, null],
])('T3: a geometric mean of runs with a time limit of %i says how many inputs end there', (limit, count) => {
  const [control, candidate] = [CONTROL, CANDIDATE].map((values) =>
    values.map((value) => Math.min(value, limit)),
  ) as [number[], number[]];
  const sides = { control: listRuns('control', control), candidate: listRuns('candidate', candidate) };
  const rule = {
    ...buildMetric('le', { type: 'relative', value: 0.2 }),
    statistic: 'shifted_geometric_mean',
  } as const;
  const { passed, reason } = decideNonInferiority(rule, sides, SETTINGS);
  expect(passed).toBe(true);
  if (count === null) expect(reason).not.toContain('largest value');
  else expect(reason).toContain(`Both sides ended at the largest value on ${count} inputs`);
});

describe('simulated candidates whose true loss is the tolerance pass in at most 5 %', () => {
  const EXPERIMENTS = 1000;
  /** Two standard errors of a share of 5 % of 1,000 experiments are 1.4 %. */
  const SHARE_MAX = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / EXPERIMENTS);

  function countPasses(inputs: number, sizeSpread: number, loss: number): number {
    const generator = new RandomGenerator(`non-inferiority ${inputs} ${sizeSpread} ${loss}`);
    let passes = 0;
    for (let experiment = 0; experiment < EXPERIMENTS; experiment += 1) {
      const control = Array.from({ length: inputs }, () => Math.exp(sizeSpread * generator.normal()));
      const candidate = control.map(
        (value) => value * Math.exp(Math.log(1 + loss) + 0.05 * generator.normal()),
      );
      if (decide(control, candidate, 'le', { type: 'relative', value: 0.02 }).passed) passes += 1;
    }
    return passes;
  }

  test.each([
    [10, 0.5],
    [10, 1.5],
    [20, 1.5],
    [50, 0.5],
  ])('%d inputs, sizes with a logarithmic spread of %d', (inputs, sizeSpread) => {
    expect(countPasses(inputs, sizeSpread, 0.02) / EXPERIMENTS).toBeLessThan(SHARE_MAX);
  });

  test('20 inputs, sizes with a logarithmic spread of 1.5, and an absolute tolerance', () => {
    const experiments = 500;
    const generator = new RandomGenerator('absolute non-inferiority');
    // The mean of these sizes is exp(1.5^2 / 2).
    const tolerance = { type: 'absolute', value: 0.02 * Math.exp(1.125) } as const;
    const drawValue = (size: number) => size * (1 + 0.05 * generator.normal());
    const passes = Array.from({ length: experiments }, () => {
      const sizes = Array.from({ length: 20 }, () => Math.exp(1.5 * generator.normal()));
      const candidate = sizes.map((size) => drawValue(1.02 * size));
      return decide(sizes.map(drawValue), candidate, 'le', tolerance).passed;
    });
    // Without the bound for large inputs, 12 % passed. Two standard errors of a share of 5 % are 1.9 %.
    expect(passes.filter(Boolean).length / experiments).toBeLessThan(0.069);
  });

  test('and equal candidates pass in most cases with 50 inputs', () => {
    // The bound is 1.68 x 5 % / √50 = 1.2 % above the effect, and 2 % are 1.6 of these standard errors beyond it.
    expect(countPasses(50, 1.5, 0) / EXPERIMENTS).toBeGreaterThan(0.8);
  });
});

interface Case {
  control?: readonly number[];
  candidate: readonly number[];
  operator: Operator;
  tolerance?: MetricTolerance;
  metric_type?: Metric['metric_type'];
  statistic?: string;
  value_type?: 'number' | 'flag';
  clusterings?: string[];
}

const TEN = Array.from({ length: 10 }, (_, index) => 100 + index);
const NONE = { type: '', value: 0 } as const;
const relative = (value: number) => ({ type: 'relative', value }) as const;
const absolute = (value: number) => ({ type: 'absolute', value }) as const;
const share = (factor: number) => TEN.map((value) => value * factor);
const shift = (amount: number) => TEN.map((value) => value + amount);

function check({
  control = TEN,
  candidate,
  operator,
  tolerance = NONE,
  metric_type = 'direct-comparison',
  statistic = 'mean',
  value_type = 'number',
  clusterings = [],
}: Case) {
  const runs = {
    control: listRuns('control', control),
    candidate: listRuns('candidate', candidate.slice(0, control.length)),
  };
  return decideRule(
    { field: 'cost', statistic, metric_type, params: { operator, tolerance } },
    collectEvidence(runs, 'cost'),
    {
      value_type,
      clusterings,
      tie_tolerance: 1e-9,
      shift: 0,
      listIndicatorBlockers: () => [],
      failure_margin: undefined,
      resampler: new Resampler({ seed: 'others', resamples: 1999 }),
    },
  );
}

describe('a met rule that the data show for other inputs has no warning', () => {
  // Every input has the same effect, so the bound is the effect.
  test.each<[string, Case, 'ratio' | 'difference', number]>([
    ['le', { candidate: share(1.005), operator: 'le', tolerance: relative(0.01) }, 'ratio', 1.005],
    ['ge', { candidate: share(0.995), operator: 'ge', tolerance: relative(0.01) }, 'ratio', 0.995],
    ['lt, absolute', { candidate: shift(1), operator: 'lt', tolerance: absolute(2) }, 'difference', 1],
    ['no tolerance', { candidate: shift(-1), operator: 'le' }, 'difference', -1],
    [
      'a gain of 5, less is better',
      {
        candidate: shift(-6),
        operator: 'le',
        tolerance: absolute(-5),
        metric_type: 'difference-threshold',
      },
      'difference',
      -6,
    ],
    [
      'a gain of 5, more is better',
      { candidate: shift(6), operator: 'ge', tolerance: absolute(5), metric_type: 'difference-threshold' },
      'difference',
      6,
    ],
    [
      'negative values with a share of their magnitude',
      {
        control: share(-1),
        candidate: share(-1).map((value) => value + 0.5),
        operator: 'le',
        tolerance: relative(0.01),
      },
      'difference',
      0.5,
    ],
  ])('%s', (_, rule, measure, bound) => {
    const decision = check(rule);
    expect(decision).toMatchObject({
      passed: true,
      warnings: [],
      non_inferiority: { measure, within_tolerance: true, inputs: 10 },
    });
    expect(decision.non_inferiority?.bound).toBeCloseTo(bound, 9);
  });
});

describe('a met rule that the data do not show for other inputs has a warning', () => {
  /** Means of half a unit above and below the control: the mean difference is 0, and its bound is above 0. */
  const scattered = TEN.map((value, index) => value + (index % 2 === 0 ? 0.5 : -0.5));
  const END = 'Add `hypothesis: non-inferiority` to the rule to decide about other inputs.';

  test('with the bound of the loss', () => {
    const { passed, warnings, non_inferiority } = check({ candidate: scattered, operator: 'le' });
    expect(passed).toBe(true);
    expect(non_inferiority).toMatchObject({ within_tolerance: false, effect: 0 });
    // The standard error is 0.527 / sqrt(10) = 0.167; times Student's 1.833 it is 0.306.
    expect(non_inferiority?.bound).toBeGreaterThan(0.3);
    const bound = Number(non_inferiority?.bound?.toPrecision(6));
    expect(warnings).toEqual([
      `The rule is met on these inputs, but the data do not show that the candidate loses at most 0 in cost on others: the one-sided 95 % bound of the loss is ${bound}. ${END}`,
    ]);
  });

  test('in percent for a relative tolerance, when more is better', () => {
    const candidate = TEN.map((value, index) => value * (index % 2 === 0 ? 1.02 : 0.98));
    const { warnings, non_inferiority } = check({ candidate, operator: 'ge', tolerance: relative(0.01) });
    const loss = Number((100 * (1 - (non_inferiority?.bound ?? 0))).toFixed(1));
    expect(loss).toBeGreaterThan(1.2);
    expect(warnings).toEqual([
      `The rule is met on these inputs, but the data do not show that the candidate loses at most 1\u00a0% in cost on others: the one-sided 95 % bound of the loss is ${loss}\u00a0%. ${END}`,
    ]);
  });

  test('with the gain that the rule asks for', () => {
    const candidate = TEN.map((value, index) => value - (index % 2 === 0 ? 4 : 8));
    const { warnings } = check({
      candidate,
      operator: 'le',
      tolerance: absolute(-5.9),
      metric_type: 'difference-threshold',
    });
    expect(warnings[0]).toMatch(
      /the candidate gains at least 5\.9 in cost on others: the one-sided 95 % bound of the gain is 4\.\d+\./,
    );
  });

  test('with the reason why the data allow no decision', () => {
    const { warnings, non_inferiority } = check({
      control: TEN.slice(0, 4),
      candidate: share(0.9),
      operator: 'le',
      tolerance: relative(0.01),
    });
    expect(non_inferiority).toMatchObject({ bound: null, within_tolerance: false, inputs: 4 });
    expect(warnings).toEqual([
      `The rule is met on these inputs, but the data do not show that the candidate loses at most 1\u00a0% in cost on others. Both sides solved 4 inputs; non-inferiority needs at least 10. ${END}`,
    ]);
  });

  test('for a flag, with the inputs on which the candidate may be worse', () => {
    const flags = TEN.map(() => 1);
    const rule = { control: flags, candidate: flags, operator: 'ge', value_type: 'flag' } as const;
    // Clopper and Pearson: 1 - 0.05^(1 / 10) = 0.259.
    expect(check({ ...rule, tolerance: absolute(0.05) }).warnings).toEqual([
      'The rule is met on these inputs. On up to 25.9\u00a0% of other inputs, the candidate may be worse in cost: add inputs.',
    ]);
    expect(check({ ...rule, tolerance: absolute(0.3) }).warnings).toEqual([]);
    // T1: ten inputs of five depots are five observations: 1 - 0.05^(1 / 5) = 0.451.
    expect(check({ ...rule, clusterings: ['depot'], tolerance: absolute(0.3) }).warnings).toEqual([
      'The rule is met on these inputs. On up to 45.1\u00a0% of other inputs, the candidate may be worse in cost: add inputs.',
    ]);
  });
});

test.each<[string, Partial<Case>]>([
  ['not met', { operator: 'gt' }],
  ['an equality', { operator: 'eq', tolerance: absolute(100) }],
  ['a count', { statistic: 'count' }],
  ['an absolute threshold', { metric_type: 'absolute-threshold', tolerance: absolute(1000) }],
])('a rule that is %s has no warning', (_, changes) => {
  const candidate = TEN.map((value, index) => value + (index % 2 === 0 ? 0.5 : -0.5));
  const decision = check({ candidate, operator: 'le', ...changes });
  expect(decision.warnings).toEqual([]);
  expect(decision.passed).toBe(changes.operator !== 'gt');
});

describe('T3: a met rule on another statistic', () => {
  const warn = (statistic: string, step: number) =>
    check({
      candidate: TEN.map((value, index) => value + (index % 2 === 0 ? step : -step)),
      operator: 'le',
      statistic,
      tolerance: relative(0.01),
    }).warnings;

  test('has a warning when the data do not show it for other inputs', () => {
    expect(warn('p50', 3)).toEqual([
      expect.stringMatching(/loses at most 1\u00a0% in the p50 of cost on others: .* bound of the loss is /),
    ]);
    expect(warn('p95', 0.5)).toEqual([
      expect.stringContaining('Both sides solved 10 inputs; non-inferiority in p95 needs at least 59.'),
    ]);
  });

  test.each(['max', 'min', 'std'])('of %s has a warning that nothing bounds it', (statistic) => {
    const [text] = check({
      candidate: TEN,
      operator: 'le',
      statistic,
      tolerance: relative(0.01),
    }).warnings;
    expect(text).toContain(`The rule compares the ${statistic} of these runs`);
    expect(text).toContain('`hypothesis: non-inferiority`');
  });
});
