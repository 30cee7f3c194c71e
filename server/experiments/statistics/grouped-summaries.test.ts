import { describe, expect, test } from 'vitest';
import { summarizeGroups } from './grouped-summaries.ts';
import type { Observation } from './observations.ts';

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
