/** Benchmark views by hand: performance profiles, distributions, virtual solvers, primal integrals. */
import { describe, expect, test } from 'vitest';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { computeGroupIntegrals, computePrimalIntegral } from './anytime.ts';
import {
  type BenchmarkValue,
  buildBenchmark,
  computeDistributionFunctions,
  computePerformanceProfiles,
  computePrimalGap,
  computeVirtualGap,
  computeVirtualSolvers,
  type GroupedRun,
  summarizeVirtualSolvers,
  thinSteps,
} from './benchmark.ts';

/** Values by alternative, one for each of the inputs i0, i1, … */
const tabulate = (table: Record<string, (number | null)[]>): BenchmarkValue[] =>
  Object.entries(table).flatMap(([alternative, values]) =>
    values.map((value, index) => ({ alternative, input: `i${index}`, value })),
  );
const formatPoints = (functions: ReturnType<typeof computePerformanceProfiles>) =>
  Object.fromEntries(
    functions.map(({ alternative, points }) => [alternative, points.map(({ x, share }) => [x, share])]),
  );

/** `b` fails on the last of four inputs. */
const TABLE = tabulate({ a: [10, 20, 30, 40], b: [5, 20, 60, null] });

describe('performance profiles', () => {
  test('are the shares of inputs within a ratio of the best', () => {
    // Ratios of a: 2, 1, 1, 1; of b: 1, 1, 2 and never.
    expect(formatPoints(computePerformanceProfiles(TABLE))).toEqual({
      a: [
        [1, 0.75],
        [2, 1],
      ],
      b: [
        [1, 0.5],
        [2, 0.75],
      ],
    });
  });

  test('turn the ratio around where more is better', () => {
    // The best are 10, 20, 60, 40. Ratios of a: 1, 1, 2, 1; of b: 2, 1, 1.
    expect(formatPoints(computePerformanceProfiles(TABLE, true))).toEqual({
      a: [
        [1, 0.75],
        [2, 1],
      ],
      b: [
        [1, 0.5],
        [2, 0.75],
      ],
    });
  });

  test('count an input that was solved in a part of its runs by that part', () => {
    const values = [
      { alternative: 'a', input: 'i0', value: 1 },
      { alternative: 'b', input: 'i0', value: 2, solved_share: 0.75 },
    ];
    expect(formatPoints(computePerformanceProfiles(values))).toEqual({ a: [[1, 1]], b: [[2, 0.75]] });
  });

  test('agree with a count over every threshold', () => {
    const generator = new RandomGenerator('profiles');
    const names = ['a', 'b', 'c'];
    const values = Array.from({ length: 40 }, (_, index) =>
      names.map((alternative) => ({
        alternative,
        input: `i${index}`,
        value: generator.uniform() < 0.1 ? null : Math.exp(generator.normal()),
      })),
    ).flat();
    const profiles = computePerformanceProfiles(values);
    for (const { alternative, points } of profiles)
      for (const { x, share } of points) {
        const within = values.filter((one) => {
          const rivals = values.filter(({ input }) => input === one.input);
          const best = Math.min(...rivals.map(({ value }) => value ?? Number.POSITIVE_INFINITY));
          return one.alternative === alternative && one.value !== null && one.value / best <= x;
        });
        expect(share).toBeCloseTo(within.length / 40, 12);
      }
    expect(profiles).toHaveLength(3);
  });
});

test('distribution functions count values at or below each point, and failures nowhere', () => {
  const values = tabulate({ a: [2, 1, 2, null] });
  expect(formatPoints(computeDistributionFunctions(values))).toEqual({
    a: [
      [1, 0.25],
      [2, 0.75],
    ],
  });
});

test('a thinned curve has its first and its last point, and points of the whole curve only', () => {
  const points = Array.from({ length: 1000 }, (_, index) => ({ x: index, share: (index + 1) / 1000 }));
  const thin = thinSteps(points, 10);
  expect(thin).toHaveLength(10);
  expect([thin[0], thin.at(-1)]).toEqual([points[0], points.at(-1)]);
  for (const point of thin) expect(point).toBe(points[point.x]);
  expect(thinSteps(points, 1000)).toBe(points);
});

describe('virtual solvers', () => {
  test('have the best and the worst value of each input, and its winners', () => {
    expect(computeVirtualSolvers(TABLE)).toEqual([
      { input: 'i0', best: 5, worst: 10, winners: ['b'] },
      { input: 'i1', best: 20, worst: 20, winners: ['a', 'b'] },
      { input: 'i2', best: 30, worst: 60, winners: ['a'] },
      { input: 'i3', best: 40, worst: null, winners: ['a'] },
    ]);
  });

  test('are averaged over the inputs that all solved, and gaps count failures', () => {
    const values = TABLE.map((value) => ({ ...value, solved_share: value.value === null ? 0 : 1 }));
    const summary = summarizeVirtualSolvers({ values }, false);
    // Inputs i0 to i2: (5 + 20 + 30) / 3 and (10 + 20 + 60) / 3.
    expect(summary).toMatchObject({ best: 55 / 3, worst: 30, solved_by_all: 3 });
    // Gaps of a to the best: 5 / 10, 0, 0, 0; to the worst: 0, 0, 30 / 60, and 1 where b failed.
    expect(computeVirtualGap({ values }, 'a', summary)).toEqual({
      solved_share: 1,
      wins: 3,
      gap_to_best: 0.125,
      gap_to_worst: 0.375,
    });
    // Gaps of b to the best: 0, 0, 30 / 60, 1; to the worst: 5 / 10, 0, 0, 0.
    expect(computeVirtualGap({ values }, 'b', summary)).toEqual({
      solved_share: 0.75,
      wins: 2,
      gap_to_best: 0.375,
      gap_to_worst: 0.125,
    });
  });
});

describe('a benchmark', () => {
  const run = (group: string, input_id: string, value: number | string, repetition = 0): GroupedRun => ({
    group,
    run: {
      instance_id: group,
      version_id: '',
      input_id,
      option_set: null,
      scenario_id: null,
      repetition,
      status: typeof value === 'number' ? 'succeeded' : value,
      indicators: typeof value === 'number' ? [{ name: 'result.value', value }] : [],
    },
  });
  const build = (runs: GroupedRun[]) => buildBenchmark(runs, ['a', 'b'], 'result.value');

  test('averages repetitions, and keeps the share of runs that did not fail', () => {
    const runs = [run('a', 'x', 1), run('a', 'x', 3, 1), run('b', 'x', 5), run('b', 'x', 'failed', 1)];
    expect(build(runs).values).toEqual([
      { alternative: 'a', input: 'input x', value: 2, solved_share: 1 },
      { alternative: 'b', input: 'input x', value: 5, solved_share: 0.5 },
    ]);
  });

  test.each(['running', 'canceled'])('leaves out an input on which a group has only a %s run', (status) => {
    const found = build([run('a', 'x', 1), run('b', 'x', status), run('a', 'y', 1), run('b', 'y', 'failed')]);
    expect([...found.inputs.values()]).toEqual(['y']);
    expect(found.total).toBe(2);
  });

  test('takes inputs of one content for one input, and one id with two contents for two', () => {
    const withContent = (one: GroupedRun, content: string) => ({ ...one, run: { ...one.run, content } });
    const same = ['x', 'y'].flatMap((id) =>
      ['a', 'b'].map((group) => withContent(run(group, id, 1), 'same')),
    );
    expect(build(same).inputs.size).toBe(1);
    const other = ['one', 'two'].flatMap((content) =>
      ['a', 'b'].map((group) => withContent(run(group, 'x', 1), content)),
    );
    expect(build(other).inputs.size).toBe(2);
  });
});

describe('the primal integral', () => {
  test.each([
    [12, 10, 2 / 12],
    [10, 10, 0],
    [-5, 10, 1],
    [null, 10, 1],
    [0, 0, 0],
    [-12, -10, 2 / 12],
  ])('has the gap of %s to %d as %d', (value, reference, gap) => {
    expect(computePrimalGap(value, reference)).toBeCloseTo(gap, 12);
  });

  test('is the area under the gap, of improvements only', () => {
    const incumbents = [
      { seconds: 4, value: 10 },
      { seconds: 2, value: 20 },
      { seconds: 6, value: 15 },
    ];
    // No solution for 2 s, the gap 10 / 20 for 2 s, then 0: 2 + 1.
    expect(computePrimalIntegral(incumbents, 10, { until: 10 })).toBe(3);
    // Where more is better, 20 stays: 2 s of 1, then the gap 0 to 20.
    expect(computePrimalIntegral(incumbents, 20, { until: 10, maximize: true })).toBe(2);
    expect(computePrimalIntegral([], 10, { until: 10 })).toBe(10);
  });

  const run = (group: string, status: string, points: [number, number][], duration = 0): GroupedRun => ({
    group,
    run: {
      instance_id: group,
      version_id: '',
      input_id: 'x',
      option_set: null,
      scenario_id: null,
      repetition: 0,
      status,
      indicators: [{ name: 'run.duration', value: duration }],
      ...(points.length === 0 ? {} : { incumbents: points.map(([seconds, value]) => ({ seconds, value })) }),
    },
  });

  test('of groups follows every run to the end of the longest, with the best value of any run', () => {
    const runs = [
      run('a', 'succeeded', [
        [2, 20],
        [4, 10],
      ]),
      run('b', 'succeeded', [[1, 20]], 8),
    ];
    const found = computeGroupIntegrals(runs, ['a', 'b'], false);
    // a: 2 + 2 × 10 / 20 = 3 of 8 s. b: 1 + 7 / 2 = 4.5 of 8 s.
    expect(found?.get('a')).toEqual({ inputs: 1, seconds: 3, gap: 3 / 8 });
    expect(found?.get('b')).toEqual({ inputs: 1, seconds: 4.5, gap: 4.5 / 8 });
  });

  test('of a failed run is the whole time, and without incumbents there is none', () => {
    const solved = run('a', 'succeeded', [[2, 10]], 4);
    const found = computeGroupIntegrals([solved, run('b', 'failed', [])], ['a', 'b'], false);
    expect(found?.get('b')).toEqual({ inputs: 1, seconds: 4, gap: 1 });
    expect(computeGroupIntegrals([solved, run('b', 'succeeded', [])], ['a', 'b'], false)).toBeNull();
  });
});
