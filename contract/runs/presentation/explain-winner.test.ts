import { expect, test } from 'vitest';
import { explainWinner } from './explain-winner.ts';

type Result = Parameters<typeof explainWinner>[0];

function buildDecision(considered: string[], retained: string[], best: number): Result['decisions'][number] {
  return {
    rule_id: 'cost',
    index: 0,
    statistics_path: '$.result.value',
    objective: 'minimize',
    tolerance: { type: 'absolute', value: 0 },
    best,
    considered,
    kept: retained,
    dropped: [],
  };
}

const cases: [string, Pick<Result, 'best_run_id' | 'decisions'>, string | undefined][] = [
  ['no run succeeded', { best_run_id: null, decisions: [] }, undefined],
  [
    'one run succeeded',
    { best_run_id: 'a', decisions: [buildDecision(['a'], ['a'], 5)] },
    'It is the only run that succeeded.',
  ],
  [
    'the first rule decides',
    {
      best_run_id: 'a',
      decisions: [buildDecision(['a', 'b', 'c'], ['a'], 5), buildDecision(['a'], ['a'], 1)],
    },
    'Of 3 runs, it alone has the lowest result.value, 5.',
  ],
  [
    'the second rule decides',
    {
      best_run_id: 'b',
      decisions: [
        buildDecision(['a', 'b', 'c'], ['a', 'b'], 5),
        {
          ...buildDecision(['a', 'b'], ['b'], 9),
          objective: 'maximize',
          tolerance: { type: 'relative', value: 0.07 },
        },
      ],
    },
    'Rule 2 decided: of 2 equal runs, it alone has the highest result.value, 9, or a value within 7\u00a0% of the best.',
  ],
  [
    'no rule decides',
    { best_run_id: 'a', decisions: [buildDecision(['a', 'b'], ['a', 'b'], 5)] },
    '2 runs are equal under every rule, and it is the first of them in the order of the groups.',
  ],
];

test.each(cases)('the sentence when %s', (_, result, text) => {
  expect(explainWinner({ ...result, left_out: [] })).toBe(text);
});
