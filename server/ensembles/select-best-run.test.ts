/** The rules on runs as the database has them: what is kept, what goes out and why. */
import type { EnsembleRule } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { describe, expect, test } from 'vitest';
import type { ChildRun } from '../runs/store/ensemble-runs.ts';
import type { EnsembleDefinition } from './definition.ts';
import { buildCanceledResult, collectOutcomes, formatFailure, selectBestRun } from './select-best-run.ts';

type Value = number | string | boolean | undefined;

/** Runs of one group each, in order, called a, b, c …; a status in place of values for those that did not succeed. */
type Row = readonly Value[] | 'failed' | 'canceled' | 'gone' | 'refused';

const NAMES = 'abcdefgh';
const PATHS = ['result.x', 'result.y'];

function situation(rows: readonly Row[], rules: readonly Partial<EnsembleRule>[]) {
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
  // In which order the database answers them is nobody's promise.
  return { definition, outcomes: collectOutcomes(definition, children.toReversed(), refusals) };
}
function chosen(rows: readonly Row[], ...rules: Partial<EnsembleRule>[]) {
  const { definition, outcomes } = situation(rows, rules);
  return selectBestRun(definition, outcomes);
}
const within = (type: 'absolute' | 'relative', value: number) => ({ tolerance: { type, value } });

describe('the best is', () => {
  const cases: [string, string | null, Row[], ...Partial<EnsembleRule>[]][] = [
    ['the lowest', 'b', [[3], [1], [2]], {}],
    ['the highest', 'a', [[3], [1], [2]], { objective: 'maximize' }],
    ['the only one', 'a', [[7]], {}],
    ['of equals the first in the order of groups', 'b', [[2], [1], [1]], {}],
    [
      'of equals the one that the next rule finds',
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
      'within an absolute tolerance, its end included',
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
      'within a relative tolerance, its end included',
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
      'at the end of a tolerance in spite of rounding',
      'b',
      [
        [1, 9],
        [1.1, 1],
      ],
      within('relative', 0.1),
      {},
    ],
    [
      'of the highest, too',
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
      'within a part of the absolute value of a negative best',
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
      'nothing but zeros when the best is 0 and the tolerance relative',
      'a',
      [
        [0, 9],
        [1e-300, 0],
      ],
      within('relative', 5),
      {},
    ],
    [
      'minus zero as well',
      'b',
      [
        [0, 9],
        [-0, 1],
      ],
      within('relative', 0),
      {},
    ],
    [
      'within an absolute tolerance of 0',
      'b',
      [
        [0, 9],
        [3, 1],
      ],
      within('absolute', 3),
      {},
    ],
    [
      'all that a tolerance of 100 % holds',
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
      'no whole number beyond the tolerance, however large',
      'a',
      [
        [9_007_199_254_740_980, 9],
        [9_007_199_254_740_990, 1],
      ],
      within('absolute', 9),
      {},
    ],
    ['as large numbers want it', 'b', [[-1.7e308], [1.7e308]], { objective: 'maximize' }],
    [
      'by the index of rules, not their order',
      'a',
      [
        [1, 2],
        [2, 1],
      ],
      { index: 7 },
      { index: 3, statistics_path: 'result.x' },
    ],
    [
      'not one that lacks the number',
      'b',
      [
        [undefined, 1],
        [5, 2],
      ],
      {},
      {},
    ],
    ['not one that says nan', 'b', [['nan'], [5]], {}],
    ['not one whose number is text', 'b', [['1'], [5]], {}],
    ['not one that says true', 'b', [[true], [5]], {}],
    [
      'the first when no run has the number',
      'a',
      [
        [undefined, 1],
        [undefined, 1],
      ],
      {},
    ],
    [
      'found by the next rule when no run has the number',
      'b',
      [
        [undefined, 2],
        [undefined, 1],
      ],
      {},
      {},
    ],
    ['the first of those without statistics', 'a', [[], []], {}],
    ['none of those that did not succeed', 'd', ['failed', 'canceled', 'gone', [9]], {}],
    ['none when none succeeded', null, ['failed', 'canceled', 'gone', 'refused'], {}],
  ];
  test.each(cases)('%s', (_, best, rows, ...rules) => {
    expect(chosen(rows, ...rules).best_run_id).toBe(best);
  });
});

test('each rule says what it looked at, what it kept, and why it dropped the rest', () => {
  const rules = [
    { id: 'cost', ...within('relative', 0.05) },
    { id: 'time', objective: 'maximize' as const, ...within('absolute', 1) },
  ];
  const { best_run_id, decisions, left_out } = chosen(
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
        { run_id: 'd', value: 105.1, why: '105.1 is more than 5 % away from 100, the lowest.' },
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

test('a rule that no run has the number for drops none, and says so', () => {
  const [decision] = chosen([[], []], {}).decisions;
  expect(decision).toMatchObject({ best: null, kept: ['a', 'b'], dropped: [] });
  expect(decision?.skipped).toBe('No run that was left has a number for "result.x"; the rule drops none.');
});

test('what was left out is told, and is what the failure names', () => {
  const result = chosen(['canceled', 'gone', 'refused', 'failed'], {});
  expect(result.left_out.map((one) => [one.run_id, one.run_group_id, one.why])).toEqual([
    ['a', 'g0', 'It was canceled.'],
    [null, 'g1', 'It was deleted.'],
    [null, 'g2', 'It could not be made: There is no instance.'],
    ['d', 'g3', 'It failed: exit code 3'],
  ]);
  expect(result.decisions).toEqual([]);
  expect(formatFailure(result)).toBe(
    'None of the 4 runs of the ensemble succeeded; of the first: It was canceled.',
  );
  expect(formatFailure(chosen(['failed'], {}))).toBe(
    'The only run of the ensemble did not succeed; It failed: exit code 3',
  );
});

test('of a canceled ensemble no run is chosen, and each says why', () => {
  const { outcomes } = situation([[1], 'canceled', 'gone'], [{}]);
  const result = buildCanceledResult(outcomes);
  expect(result).toMatchObject({ best_run_id: null, decisions: [] });
  expect(result.left_out.map((one) => one.why)).toEqual([
    'It succeeded, but the ensemble was canceled.',
    'It was canceled.',
    'The ensemble was canceled before it was made, or it was deleted.',
  ]);
});
