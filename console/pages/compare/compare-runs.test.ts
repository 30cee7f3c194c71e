import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { type ComparedRun, compareRuns } from './compare-runs.ts';

function buildRun(values: {
  cost?: number | string;
  options?: Record<string, string>;
  milliseconds?: number;
}): ComparedRun {
  const type = { type: 'json' as const };
  return {
    id: 'run-1' as RunId,
    name: '',
    user_email: 'a@example.com',
    statistics: {
      status: 'success',
      error: '',
      indicators: values.cost === undefined ? [] : [{ name: 'cost', value: values.cost }],
    },
    metadata: {
      application_id: 'a',
      application_instance_id: 'latest',
      application_version_id: '',
      created_at: '2026-11-20T08:00:00.000Z',
      status: 'succeeded',
      status_v2: 'succeeded',
      duration: 0,
      execution_duration: values.milliseconds ?? 100,
      input_size: 2,
      output_size: 2,
      error: '',
      execution_class: '6c9500mb870s',
      format: { input: type, output: type },
      queuing_disabled: false,
      queuing_priority: 6,
      run_type: { type: 'standard', definition_id: null, reference_id: null },
      runtime: 'node:26',
      options: {
        active_options: {},
        request_options: {},
        options_summary: Object.entries(values.options ?? {}).map(([name, value]) => ({
          name,
          value,
          source: 'run' as const,
        })),
      },
      attempt: 1,
      containment: '',
    },
  };
}

function findRow(runs: readonly ComparedRun[], name: string) {
  return compareRuns(runs)
    .flatMap(({ rows }) => rows)
    .find((row) => row.name === name);
}

test.each([
  [12, 18, '+6 (+50\u00a0%)'],
  [-4, -5, '−1 (−25\u00a0%)'],
  [0, 3, '+3'],
  [7, 7, undefined],
  ['a', 3, undefined],
  [3, undefined, undefined],
])('the change from %s to %s is %s', (baseline, cost, expected) => {
  const row = findRow([buildRun({ cost: baseline }), buildRun(cost === undefined ? {} : { cost })], 'cost');
  expect(row?.values[1]?.change?.text).toBe(expected);
  expect(row?.isEqual).toBe(baseline === cost);
});

test('less run time is better, and an indicator has no direction', () => {
  const runs = [
    buildRun({ cost: 2 }),
    buildRun({ cost: 1, milliseconds: 50 }),
    buildRun({ milliseconds: 150 }),
  ];
  expect(findRow(runs, 'Run time')?.values).toEqual([
    { text: '100\u00a0ms' },
    { text: '50\u00a0ms', change: { text: '−50\u00a0ms (−50\u00a0%)', outcome: 'better' } },
    { text: '150\u00a0ms', change: { text: '+50\u00a0ms (+50\u00a0%)', outcome: 'worse' } },
  ]);
  expect(findRow(runs, 'cost')?.values[1]?.change).toEqual({ text: '−1 (−50\u00a0%)' });
});

test('an option that one run lacks is a difference', () => {
  const row = findRow([buildRun({ options: { __proto__x: '1' } }), buildRun({})], '__proto__x');
  expect(row).toEqual({ name: '__proto__x', isEqual: false, values: [{ text: '1' }, { text: '' }] });
});
