/** Warnings of met rules about means that the data do not show for other inputs. Expectations are arithmetic. */
import { describe, expect, test } from 'vitest';
import type { Metric, MetricTolerance, Operator } from '../acceptance-metrics.ts';
import { Resampler } from '../bootstrap.ts';
import type { Observation } from '../observations.ts';
import { collectEvidence, decideRule } from './decide-rule.ts';

const listRuns = (instance_id: string, values: readonly number[]): Observation[] =>
  values.map((value, index) => ({
    instance_id,
    version_id: 'v1',
    input_id: `in-${index}`,
    option_set: null,
    scenario_id: null,
    repetition: 0,
    status: 'succeeded',
    indicators: [{ name: 'cost', value }],
    clusters: { depot: `depot ${index % 5}` },
  }));

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

const CONTROL = Array.from({ length: 10 }, (_, index) => 100 + index);
const NONE = { type: '', value: 0 } as const;
const relative = (value: number) => ({ type: 'relative', value }) as const;
const absolute = (value: number) => ({ type: 'absolute', value }) as const;
const share = (factor: number) => CONTROL.map((value) => value * factor);
const shift = (amount: number) => CONTROL.map((value) => value + amount);

function decide({
  control = CONTROL,
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
    const decision = decide(rule);
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
  const scattered = CONTROL.map((value, index) => value + (index % 2 === 0 ? 0.5 : -0.5));
  const END = 'Add `hypothesis: non-inferiority` to the rule to decide about other inputs.';

  test('with the bound of the loss', () => {
    const { passed, warnings, non_inferiority } = decide({ candidate: scattered, operator: 'le' });
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
    const candidate = CONTROL.map((value, index) => value * (index % 2 === 0 ? 1.02 : 0.98));
    const { warnings, non_inferiority } = decide({ candidate, operator: 'ge', tolerance: relative(0.01) });
    const loss = Number((100 * (1 - (non_inferiority?.bound ?? 0))).toFixed(1));
    expect(loss).toBeGreaterThan(1.2);
    expect(warnings).toEqual([
      `The rule is met on these inputs, but the data do not show that the candidate loses at most 1\u00a0% in cost on others: the one-sided 95 % bound of the loss is ${loss}\u00a0%. ${END}`,
    ]);
  });

  test('with the gain that the rule asks for', () => {
    const candidate = CONTROL.map((value, index) => value - (index % 2 === 0 ? 4 : 8));
    const { warnings } = decide({
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
    const { warnings, non_inferiority } = decide({
      control: CONTROL.slice(0, 4),
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
    const flags = CONTROL.map(() => 1);
    const rule = { control: flags, candidate: flags, operator: 'ge', value_type: 'flag' } as const;
    // Clopper and Pearson: 1 - 0.05^(1 / 10) = 0.259.
    expect(decide({ ...rule, tolerance: absolute(0.05) }).warnings).toEqual([
      'The rule is met on these inputs. On up to 25.9\u00a0% of other inputs, the candidate may be worse in cost: add inputs.',
    ]);
    expect(decide({ ...rule, tolerance: absolute(0.3) }).warnings).toEqual([]);
    // T1: ten inputs of five depots are five observations: 1 - 0.05^(1 / 5) = 0.451.
    expect(decide({ ...rule, clusterings: ['depot'], tolerance: absolute(0.3) }).warnings).toEqual([
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
  const candidate = CONTROL.map((value, index) => value + (index % 2 === 0 ? 0.5 : -0.5));
  const decision = decide({ candidate, operator: 'le', ...changes });
  expect(decision.warnings).toEqual([]);
  expect(decision.passed).toBe(changes.operator !== 'gt');
});

describe('T3: a met rule on another statistic', () => {
  const warn = (statistic: string, step: number) =>
    decide({
      candidate: CONTROL.map((value, index) => value + (index % 2 === 0 ? step : -step)),
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
    const [text] = decide({
      candidate: CONTROL,
      operator: 'le',
      statistic,
      tolerance: relative(0.01),
    }).warnings;
    expect(text).toContain(`The rule compares the ${statistic} of these runs`);
    expect(text).toContain('`hypothesis: non-inferiority`');
  });
});
