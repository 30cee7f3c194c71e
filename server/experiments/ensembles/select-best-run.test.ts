/** The rules of an ensemble on rows of child runs: the best run, the dropped runs and the reasons. */
import type { EnsembleRule } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { describe, expect, test } from 'vitest';
import type { EnsembleDefinition } from '../../runs/run-columns.ts';
import type { ChildRun } from '../../runs/store/ensemble-runs.ts';
import { buildCanceledResult, collectOutcomes, formatFailure, selectBestRun } from './select-best-run.ts';

type Value = number | string | boolean | undefined;

/**
 * The indicators of one run, each run in its own group; the runs are named a, b, c … in order. A run that did not succeed
 * has a status in place of values.
 */
type Row = readonly Value[] | 'failed' | 'canceled' | 'gone' | 'refused';

const NAMES = 'abcdefgh';
const PATHS = ['result.x', 'result.y'];

function buildOutcomes(rows: readonly Row[], rules: readonly Partial<EnsembleRule>[]) {
  const definition: EnsembleDefinition = {
    run_groups: rows.map((_, at) => ({
      id: `g${at}`,
      instance_id: 'latest' as never,
      options: {},
      repetitions: 1,
    })),
    rules: rules.map((rule, at) => ({
      id: `r${at}`,
      statistics_path: `$.${PATHS[at]}`,
      objective: 'minimize',
      tolerance: { type: 'absolute', value: 0 },
      index: at,
      ...rule,
    })),
  };
  const refusals = new Map<number, string>();
  const children = rows.flatMap((row, at): ChildRun[] => {
    if (row === 'refused') refusals.set(at, 'There is no instance.');
    if (row === 'gone' || row === 'refused') return [];
    const values = typeof row === 'string' ? [] : row;
    const indicators = values.flatMap((value, index) =>
      value === undefined ? [] : [{ name: PATHS[index] ?? '', value }],
    );
    return [
      {
        id: (NAMES[at] ?? '') as RunId,
        status: typeof row === 'string' ? row : 'succeeded',
        error: row === 'failed' ? 'exit code 3' : '',
        instance_id: 'latest',
        version_id: '',
        labels: JSON.stringify({ run_group_id: `g${at}`, repetition: 0 }),
        statistics_status: indicators.length > 0 ? 'success' : 'none',
        statistics_error: '',
        indicators: JSON.stringify(indicators),
      },
    ];
  });
  // The database returns child runs in no defined order.
  return { definition, outcomes: collectOutcomes(definition, children.toReversed(), refusals) };
}
function selectBest(rows: readonly Row[], ...rules: Partial<EnsembleRule>[]) {
  const { definition, outcomes } = buildOutcomes(rows, rules);
  return selectBestRun(definition, outcomes);
}
const within = (type: 'absolute' | 'relative', value: number) => ({ tolerance: { type, value } });

describe('the best run is', () => {
  const cases: [string, string | null, Row[], ...Partial<EnsembleRule>[]][] = [
    ['the lowest', 'b', [[3], [1], [2]], {}],
    ['the highest', 'a', [[3], [1], [2]], { objective: 'maximize' }],
    ['the only one', 'a', [[7]], {}],
    ['the first in the order of groups among equal runs', 'b', [[2], [1], [1]], {}],
    [
      'the one that the next rule selects among equal runs',
      'c',
      [
        [1, 5],
        [2, 1],
        [1, 4],
      ],
      {},
      {},
    ],
    [
      'one at the bound of an absolute tolerance, when the next rule selects it',
      'b',
      [
        [10, 9],
        [12, 1],
        [12.5, 0],
      ],
      within('absolute', 2),
      {},
    ],
    [
      'one at the bound of a relative tolerance, when the next rule selects it',
      'b',
      [
        [100, 9],
        [110, 1],
        [111, 0],
      ],
      within('relative', 0.1),
      {},
    ],
    [
      'one at the bound of a tolerance in spite of rounding',
      'b',
      [
        [1, 9],
        [1.1, 1],
      ],
      within('relative', 0.1),
      {},
    ],
    [
      'one at the bound of a tolerance below the highest value',
      'c',
      [
        [100, 9],
        [89, 0],
        [90, 1],
      ],
      { objective: 'maximize', ...within('relative', 0.1) },
      {},
    ],
    [
      'one within a relative tolerance of a negative best value',
      'b',
      [
        [-100, 9],
        [-90, 1],
        [-89, 0],
      ],
      within('relative', 0.1),
      {},
    ],
    [
      'one with the value 0 when the best value is 0 and the tolerance is relative',
      'a',
      [
        [0, 9],
        [1e-300, 0],
      ],
      within('relative', 5),
      {},
    ],
    [
      'one with minus zero when the best value is 0',
      'b',
      [
        [0, 9],
        [-0, 1],
      ],
      within('relative', 0),
      {},
    ],
    [
      'one within an absolute tolerance of a best value of 0',
      'b',
      [
        [0, 9],
        [3, 1],
      ],
      within('absolute', 3),
      {},
    ],
    [
      'one at the bound of a tolerance of 100\u00a0%',
      'b',
      [
        [4, 9],
        [8, 1],
        [8.1, 0],
      ],
      within('relative', 1),
      {},
    ],
    [
      'no run with a whole number beyond the tolerance, however large the number is',
      'a',
      [
        [9_007_199_254_740_980, 9],
        [9_007_199_254_740_990, 1],
      ],
      within('absolute', 9),
      {},
    ],
    ['the highest of very large numbers', 'b', [[-1.7e308], [1.7e308]], { objective: 'maximize' }],
    [
      'selected by the index of rules, not their order',
      'a',
      [
        [1, 2],
        [2, 1],
      ],
      { index: 7 },
      { index: 3, statistics_path: 'result.x' },
    ],
    [
      'not one that lacks the indicator',
      'b',
      [
        [undefined, 1],
        [5, 2],
      ],
      {},
      {},
    ],
    ['not one that reports nan', 'b', [['nan'], [5]], {}],
    ['not one that reports the number as text', 'b', [['1'], [5]], {}],
    ['not one that reports true', 'b', [[true], [5]], {}],
    [
      'the first when no run has the indicator',
      'a',
      [
        [undefined, 1],
        [undefined, 1],
      ],
      {},
    ],
    [
      'selected by the next rule when no run has the indicator',
      'b',
      [
        [undefined, 2],
        [undefined, 1],
      ],
      {},
      {},
    ],
    ['the first of those without statistics', 'a', [[], []], {}],
    ['not one that did not succeed', 'd', ['failed', 'canceled', 'gone', [9]], {}],
    ['null when no run succeeded', null, ['failed', 'canceled', 'gone', 'refused'], {}],
  ];
  test.each(cases)('%s', (_, best, rows, ...rules) => {
    expect(selectBest(rows, ...rules).best_run_id).toBe(best);
  });
});

test('each decision lists the considered, kept and dropped runs, with a reason for each drop', () => {
  const rules = [
    { id: 'cost', ...within('relative', 0.05) },
    { id: 'time', objective: 'maximize' as const, ...within('absolute', 1) },
  ];
  const { best_run_id, decisions, left_out } = selectBest(
    [[104, 3], 'failed', [100, 7], [105.1, 9], [101, 6], [102, 'inf'], [undefined, 8]],
    ...rules,
  );
  expect(best_run_id).toBe('c');
  expect(decisions).toEqual([
    {
      rule_id: 'cost',
      index: 0,
      statistics_path: '$.result.x',
      objective: 'minimize',
      tolerance: { type: 'relative', value: 0.05 },
      best: 100,
      considered: ['a', 'c', 'd', 'e', 'f', 'g'],
      kept: ['a', 'c', 'e', 'f'],
      dropped: [
        { run_id: 'd', value: 105.1, why: '105.1 is more than 5\u00a0% away from 100, the lowest.' },
        { run_id: 'g', value: null, why: 'It does not report "result.x".' },
      ],
    },
    {
      rule_id: 'time',
      index: 1,
      statistics_path: '$.result.y',
      objective: 'maximize',
      tolerance: { type: 'absolute', value: 1 },
      best: 7,
      considered: ['a', 'c', 'e', 'f'],
      kept: ['c', 'e'],
      dropped: [
        { run_id: 'a', value: 3, why: '3 is more than 1 away from 7, the highest.' },
        { run_id: 'f', value: null, why: 'Its value is "inf", which is not a number.' },
      ],
    },
  ]);
  expect(left_out).toEqual([
    { run_id: 'b', run_group_id: 'g1', repetition: 0, why: 'It failed: exit code 3' },
  ]);
});

test('a rule drops no run when no run has its indicator', () => {
  const [decision] = selectBest([[], []], {}).decisions;
  expect(decision).toMatchObject({ best: null, kept: ['a', 'b'], dropped: [] });
  expect(decision?.skipped).toBe('No remaining run reports a number for "result.x"; the rule drops none.');
});

test('the result lists the runs left out, and the failure names the first one', () => {
  const result = selectBest(['canceled', 'gone', 'refused', 'failed'], {});
  expect(result.left_out.map((one) => [one.run_id, one.run_group_id, one.why])).toEqual([
    ['a', 'g0', 'It was canceled.'],
    [null, 'g1', 'It was deleted.'],
    [null, 'g2', 'Its creation failed: There is no instance.'],
    ['d', 'g3', 'It failed: exit code 3'],
  ]);
  expect(result.decisions).toEqual([]);
  expect(formatFailure(result)).toBe(
    'None of the 4 runs of the ensemble succeeded; of the first: It was canceled.',
  );
  expect(formatFailure(selectBest(['failed'], {}))).toBe(
    'The only run of the ensemble did not succeed; It failed: exit code 3',
  );
});

test('a canceled ensemble run has no best run, and each child run has a reason', () => {
  const { outcomes } = buildOutcomes([[1], 'canceled', 'gone'], [{}]);
  const result = buildCanceledResult(outcomes);
  expect(result).toMatchObject({ best_run_id: null, decisions: [] });
  expect(result.left_out.map((one) => one.why)).toEqual([
    'It succeeded, but the ensemble was canceled.',
    'It was canceled.',
    'It did not exist when the ensemble was canceled: not yet created, or deleted.',
  ]);
});
