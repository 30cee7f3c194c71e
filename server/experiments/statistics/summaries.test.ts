import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Observation } from './observations.ts';
import { PERCENTILE_KEYS, summarize, summarizeGroups } from './summaries.ts';

function run(fields: Partial<Observation>, indicators: Record<string, unknown> = {}): Observation {
  return {
    instance_id: 'prod',
    version_id: 'v1',
    input_id: 'a',
    option_set: null,
    scenario_id: null,
    repetition: 0,
    status: 'succeeded',
    indicators: Object.entries(indicators).map(([name, value]) => ({ name, value })),
    ...fields,
  };
}

const listKeys = (runs: Observation[]) => [
  ...new Set(summarizeGroups(runs).summaries.map(({ group_keys }) => group_keys.join())),
];

describe('groupings', () => {
  test('are by instance, and by input and instance', () => {
    expect(listKeys([run({})])).toEqual(['instanceID,versionID', 'inputID,instanceID,versionID']);
  });

  test('add option sets and scenarios where a run has one', () => {
    expect(listKeys([run({}), run({ option_set: 'fast' })])).toEqual([
      'instanceID,versionID',
      'inputID,instanceID,versionID',
      'instanceID,versionID,optionSetID',
      'inputID,instanceID,versionID,optionSetID',
    ]);
    expect(listKeys([run({ scenario_id: 's', option_set: 's_0' })])).toContain(
      'inputID,instanceID,versionID,optionSetID,scenarioID',
    );
  });

  test('are empty without runs', () => {
    expect(summarizeGroups([])).toEqual({ summaries: [], omitted_groupings: [], omitted_indicators: 0 });
  });

  test('list the values of their keys, in the order of the runs', () => {
    const runs = [
      run({ instance_id: 'new' }),
      run({ instance_id: 'prod', input_id: 'b' }),
      run({ input_id: 'b' }),
    ];
    expect(
      summarizeGroups(runs).summaries.map(({ group_values, runs: { total } }) => [...group_values, total]),
    ).toEqual([
      ['new', 'v1', 1],
      ['prod', 'v1', 2],
      ['a', 'new', 'v1', 1],
      ['b', 'prod', 'v1', 2],
    ]);
  });

  test('separate values whose joined names are equal', () => {
    const runs = [run({ instance_id: 'a', version_id: 'b,c' }), run({ instance_id: 'a,b', version_id: 'c' })];
    expect(summarizeGroups(runs).summaries).toHaveLength(4);
  });

  test('beyond the limit of distributions are omitted and listed', () => {
    const runs = ['a', 'b', 'c'].map((input_id) => run({ input_id }, { 'result.value': 1, 'result.gap': 2 }));
    // One group by instance and three by input, with two indicators each: 2 + 6.
    expect(summarizeGroups(runs, 8).omitted_groupings).toEqual([]);
    const bounded = summarizeGroups(runs, 7);
    expect(bounded.omitted_groupings).toEqual([['inputID', 'instanceID', 'versionID']]);
    expect(bounded.summaries.map(({ group_keys }) => group_keys)).toEqual([['instanceID', 'versionID']]);
  });
});

test('indicators beyond the limit are omitted, those of the fewest runs first', () => {
  const runs = [run({}, { rare: 1 }), run({}, { common: 1, also: 1 }), run({}, { common: 1, also: 2 })];
  const found = summarizeGroups(runs, 2);
  expect(found.omitted_indicators).toBe(1);
  expect(found.summaries.map(({ indicator_keys }) => indicator_keys)).toEqual([['also', 'common']]);
});

describe('a group', () => {
  test('counts every run, and summarises the values of those that succeeded', () => {
    const [group] = summarizeGroups([
      run({}, { 'result.value': 4 }),
      run({}, { 'result.value': 6 }),
      run({}, { 'result.value': 'nan' }),
      run({}, { 'run.duration': 1 }),
      run({}),
      run({ status: 'failed' }, { 'result.value': 1000 }),
      run({ status: 'canceled' }, { 'result.value': 1000 }),
      run({ status: 'running' }),
    ]).summaries;
    expect(group?.runs).toEqual({
      total: 8,
      succeeded: 5,
      failed: 1,
      canceled: 1,
      pending: 1,
      without_statistics: 1,
    });
    expect(group?.indicator_keys).toEqual(['result.value', 'run.duration']);
    expect(group?.indicator_distributions['result.value']).toMatchObject({
      count: 2,
      mean: 5,
      min: 4,
      max: 6,
    });
    expect(group?.indicator_counts).toEqual({
      'result.value': { usable: 2, unusable: 1, missing: 2 },
      'run.duration': { usable: 1, unusable: 0, missing: 4 },
    });
  });

  test('has no distribution of an indicator without a number', () => {
    const [group] = summarizeGroups([run({}, { 'result.value': 'nan', 'result.custom.ok': true })]).summaries;
    expect(group?.indicator_keys).toEqual([]);
    expect(group?.indicator_distributions).toEqual({});
    expect(group?.indicator_counts['result.custom.ok']).toEqual({ usable: 0, unusable: 1, missing: 0 });
  });

  test('counts the last value of a name that a run reports twice, and accepts any name', () => {
    const twice = run({}, {});
    twice.indicators = [
      { name: 'result.value', value: 1 },
      { name: 'result.value', value: 2 },
      { name: '__proto__', value: 3 },
    ];
    const [group] = summarizeGroups([twice]).summaries;
    expect(group?.indicator_distributions['result.value']).toMatchObject({ count: 1, mean: 2 });
    expect(group?.indicator_keys).toEqual(['__proto__', 'result.value']);
    expect(JSON.stringify(group?.indicator_distributions)).toContain('"__proto__"');
  });
});

const listPercentiles = (values: unknown[]) =>
  PERCENTILE_KEYS.map((key) => summarize(values)?.percentiles[key]);

function expectNear(actual: readonly (number | undefined)[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  expected.forEach((value, index) => {
    expect(actual[index]).toBeCloseTo(value, 9 - Math.ceil(Math.log10(1 + Math.abs(value))));
  });
}

describe('a distribution', () => {
  // numpy 2.4.6 and scipy 1.17.1: np.mean, np.std(ddof=1), gmean(x + shift) - shift, np.percentile(x, [1, 5, 10, ...]).
  test.each([
    {
      values: [-3.5, 0, 1.25, 2, 2, 7, 19, 44.5, 120, 1e3, 3e4],
      moments: [2835.659090909091, 9014.245530182161, 43.89690973451546],
      shift: 10,
      percentiles: [-3.15, -1.75, 0, 1.625, 7, 82.25, 1000, 15500, 27100],
    },
    {
      values: [-25, -4, 0, 3, 12.5],
      moments: [-2.7, 13.872634933566154, -11.51058167199519],
      shift: 26,
      percentiles: [-24.16, -20.8, -16.6, -4, 0, 3, 8.7, 10.6, 12.12],
    },
  ])('of $values matches numpy and scipy', ({ values, moments, shift, percentiles }) => {
    const found = summarize(values);
    expectNear([found?.mean, found?.std, found?.shifted_geometric_mean.value], moments);
    expect(found?.shifted_geometric_mean.shift).toBe(shift);
    expectNear(listPercentiles(values), percentiles);
    expect([found?.min, found?.max, found?.count]).toEqual([values[0], values.at(-1), values.length]);
  });

  test('has percentiles in both spellings', () => {
    const percentiles = summarize([1, 2, 3])?.percentiles;
    expect(Object.keys(percentiles ?? {}).sort()).toEqual(
      [...PERCENTILE_KEYS, ...PERCENTILE_KEYS.map((key) => key.toUpperCase())].sort(),
    );
    expect(percentiles?.P50).toBe(2);
    expect(percentiles?.P99).toBe(percentiles?.p99);
  });

  test('of one value is that value, with a standard deviation of 0', () => {
    const found = summarize([-2.5]);
    expect(found).toMatchObject({ min: -2.5, max: -2.5, mean: -2.5, count: 1, std: 0 });
    expect(found?.shifted_geometric_mean).toEqual({ value: -2.5, shift: 10 });
    expect(listPercentiles([-2.5])).toEqual(PERCENTILE_KEYS.map(() => -2.5));
  });

  test('is null without a usable value', () => {
    expect(summarize([])).toBe(null);
    expect(
      summarize([
        'nan',
        '+inf',
        '-inf',
        '3',
        true,
        false,
        null,
        undefined,
        Number.NaN,
        Number.POSITIVE_INFINITY,
      ]),
    ).toBe(null);
  });

  test('ignores values that are not finite numbers', () => {
    expect(summarize([1, 'nan', true, 3, Number.NEGATIVE_INFINITY])).toEqual(summarize([1, 3]));
  });

  test('contains zero, not minus zero', () => {
    const found = summarize([-0, -0]);
    expect(
      [found?.min, found?.mean, found?.shifted_geometric_mean.value].map((one) => Object.is(one, 0)),
    ).toEqual([true, true, true]);
  });
});

describe('extreme values', () => {
  test('do not overflow', () => {
    const found = summarize([1e308, 1e308, 1.5e308]);
    expect(found?.mean).toBeCloseTo(1.1666666666666667e308, -297);
    // sqrt(1/12) of 1e308: the deviation of 1, 1 and 1.5.
    expect((found?.std ?? 0) / 1e308).toBeCloseTo(Math.sqrt(1 / 12), 12);
    expect((found?.shifted_geometric_mean.value ?? 0) / 1e308).toBeCloseTo(1.5 ** (1 / 3), 10);
  });

  test('of both signs have finite results', () => {
    const found = summarize([-Number.MAX_VALUE, Number.MAX_VALUE]);
    expect(found).toMatchObject({ mean: 0, std: Number.MAX_VALUE });
    expect(found?.shifted_geometric_mean).toEqual({ value: -Number.MAX_VALUE, shift: Number.MAX_VALUE });
  });

  test('near zero keep their digits', () => {
    const found = summarize([5e-324, 15e-324]);
    expect(found?.mean).toBe(10e-324);
    const tiny = summarize([1e-200, 3e-200]);
    expect((tiny?.mean ?? 0) / 2e-200).toBeCloseTo(1, 14);
    expect((tiny?.std ?? 0) / 1e-200).toBeCloseTo(Math.SQRT2, 12);
    expect((tiny?.shifted_geometric_mean.value ?? 0) / 2e-200).toBeCloseTo(1, 12);
  });

  test.each([
    [[-9.999, 5], 10],
    [[-10, 5], 11],
    [[-1000, 5], 1001],
  ])('%j are shifted by %d', (values, shift) => {
    expect(summarize(values)?.shifted_geometric_mean.shift).toBe(shift);
  });
});

describe('any values', () => {
  const numbers = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
    minLength: 1,
    maxLength: 40,
  });

  test('have finite, ordered results within their range, independent of their order', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const found = summarize(values);
        if (found === null) throw new Error('no distribution');
        const { min, max, mean, std, shifted_geometric_mean } = found;
        const rising = [min, ...listPercentiles(values), max].map(Number);
        expect(rising).toEqual([...rising].sort((a, b) => a - b));
        for (const one of [mean, shifted_geometric_mean.value]) {
          expect(one).toBeGreaterThanOrEqual(min);
          expect(one).toBeLessThanOrEqual(max);
        }
        expect(Number.isFinite(std) && std >= 0 && Number.isFinite(shifted_geometric_mean.shift)).toBe(true);
        expect(summarize(values.toReversed())).toEqual(found);
      }),
    );
  });
});
