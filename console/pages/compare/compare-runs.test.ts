import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import type { JudgedIndicator, Meaning } from '../../client/indicator-meaning.ts';
import { type ComparedRun, compareRuns, judgeRuns } from './compare-runs.ts';

function buildRun(values: {
  cost?: number | string;
  options?: Record<string, string>;
  milliseconds?: number;
  late?: number;
  status?: 'succeeded' | 'failed';
}): ComparedRun {
  const type = { type: 'json' as const };
  return {
    id: 'run-1' as RunId,
    name: '',
    user_email: 'a@example.com',
    statistics: {
      status: 'success',
      error: '',
      indicators: Object.entries({ late: values.late, cost: values.cost }).flatMap(([name, value]) =>
        value === undefined ? [] : [{ name, value }],
      ),
    },
    metadata: {
      application_id: 'a',
      application_instance_id: 'latest',
      application_version_id: '',
      created_at: '2026-11-20T08:00:00.000Z',
      status: 'succeeded',
      status_v2: values.status ?? 'succeeded',
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

function createMeaning(cost: Partial<JudgedIndicator> = {}): Meaning {
  const describe = (name: string): JudgedIndicator => ({
    ...{ name, label: name, unit: '', direction: name === 'late' ? 'minimize' : null },
    ...(name === 'cost' && { label: 'Cost', ...cost }),
  });
  return {
    objective: describe('cost'),
    violations: [describe('late')],
    nameIndicator: (name) => name,
    baseline: null,
    describe,
  };
}

function findRow(runs: readonly ComparedRun[], name: string, cost: Partial<JudgedIndicator> = {}) {
  return compareRuns(runs, createMeaning(cost))
    .flatMap(({ rows }) => rows)
    .find((row) => row.name === name);
}

test.each<[number | string, number | string | undefined, string, string | undefined]>([
  [4.7, 1.8, '%', '▼ −2.9\u00a0pp'],
  [7, 7, '', undefined],
  ['a', 3, '', undefined],
  [3, undefined, '', undefined],
])('the change from %s to %s %s is %s', (baseline, cost, unit, expected) => {
  const runs = [buildRun({ cost: baseline }), buildRun(cost === undefined ? {} : { cost })];
  const row = findRow(runs, 'Cost', { unit });
  expect(row?.values[1]?.change?.text).toBe(expected);
  expect(row?.isEqual).toBe(baseline === cost);
});

test.each<[JudgedIndicator['direction'], ('better' | 'worse' | undefined)[], (true | undefined)[]]>([
  ['minimize', [undefined, 'better', 'worse'], [undefined, true, undefined]],
  ['maximize', [undefined, 'worse', 'better'], [undefined, undefined, true]],
  [null, [undefined, undefined, undefined], [undefined, undefined, undefined]],
])('with the direction %s, each run is judged and the best one marked', (direction, outcomes, best) => {
  const runs = [buildRun({ cost: 200 }), buildRun({ cost: 100 }), buildRun({ cost: 300 })];
  const values = findRow(runs, 'Cost', { direction })?.values ?? [];
  expect(values.map(({ change }) => change?.outcome)).toEqual(outcomes);
  expect(values.map(({ isBest }) => isBest)).toEqual(best);
});

test('the objective is first, then broken rules; values have their unit, and facts no direction', () => {
  const runs = [
    buildRun({ late: 5, cost: 86730.25, milliseconds: 2000 }),
    buildRun({ late: 2, cost: 84210, milliseconds: 1000 }),
  ];
  const [results, , facts] = compareRuns(runs, createMeaning({ unit: '€', direction: 'minimize' }));
  expect(results?.rows.map(({ name }) => name)).toEqual(['Cost', 'late']);
  expect(results?.rows[0]?.values[0]).toEqual({ text: '86,730\u00a0€', exact: '86,730.25' });
  expect(results?.rows[0]?.note).toBe('objective, less is better');
  const time = facts?.rows.find(({ name }) => name === 'Run time')?.values[1];
  expect(time).toMatchObject({ text: '1\u00a0s', change: { amount: '50\u00a0%', isLess: true } });
  expect(time?.change?.outcome).toBeUndefined();
});

test('an option that one run lacks is a difference', () => {
  const row = findRow([buildRun({ options: { __proto__x: '1' } }), buildRun({})], '__proto__x');
  expect(row).toEqual({ name: '__proto__x', isEqual: false, values: [{ text: '1' }, { text: '' }] });
});

const less = { direction: 'minimize' } as const;
test.each<[string, ComparedRun[], Partial<JudgedIndicator>, string | undefined]>([
  [
    'Cost is 50\u00a0% lower in B than in A. late: 3 fewer. B ran 100\u00a0ms longer.',
    [buildRun({ cost: 200, late: 5 }), buildRun({ cost: 100, late: 2, milliseconds: 200 })],
    less,
    'better',
  ],
  [
    'Cost is 50\u00a0% lower in B than in A.',
    [buildRun({ cost: 200 }), buildRun({ cost: 100 })],
    {},
    undefined,
  ],
  ['Cost is the same in A and B.', [buildRun({ cost: 2 }), buildRun({ cost: 2 })], less, undefined],
  ['B has no number for Cost.', [buildRun({ cost: 2 }), buildRun({})], less, undefined],
  [
    'B failed, so there is no result to compare.',
    [buildRun({ cost: 2 }), buildRun({ status: 'failed' })],
    less,
    'worse',
  ],
  [
    'B is the best of 3 runs by Cost, 50\u00a0% lower than A. C has no Cost.',
    [buildRun({ cost: 200 }), buildRun({ cost: 100 }), buildRun({ status: 'failed' })],
    less,
    'better',
  ],
  [
    'Cost is the same in 2 runs. C has no Cost.',
    [buildRun({ cost: 2 }), buildRun({ cost: 2 }), buildRun({})],
    less,
    undefined,
  ],
  ['No run has a number for Cost.', [buildRun({}), buildRun({}), buildRun({})], less, undefined],
  [
    'Cost differs. The application does not say whether less is better.',
    [buildRun({ cost: 200 }), buildRun({ cost: 100 }), buildRun({ cost: 300 })],
    {},
    undefined,
  ],
])('says: %s', (sentence, runs, cost, outcome) => {
  const verdict = judgeRuns(runs, createMeaning(cost));
  expect(verdict.lead + verdict.rest).toBe(sentence);
  expect(verdict.outcome).toBe(outcome);
});
