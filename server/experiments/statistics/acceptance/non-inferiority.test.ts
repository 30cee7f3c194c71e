/** Non-inferiority: the bound against Student's t and numpy, and the share of wrong passes by simulation. */
import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import type { Metric, MetricTolerance, Operator } from '../acceptance-metrics.ts';
import { Resampler } from '../bootstrap.ts';
import type { Observation } from '../observations.ts';
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
