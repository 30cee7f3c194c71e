/** The words beside the status of a run, by the end of its last solve. */
import { expect, test } from 'vitest';
import type { RunSolve } from '../run-series.ts';
import { describeSolve, findSolveCaveat, listMainSeries } from './describe-solve.ts';

const create = (facts: Partial<RunSolve>): RunSolve => ({
  ...{ solve: 0, x: 0, solver: 'HiGHS', version: '1.16.0', status: null, objective: null, bound: null },
  ...{ gap: null, nodes: null, seconds: null, threads: null, seed: null },
  ...facts,
});

test.each<[Partial<RunSolve>, string, string | undefined]>([
  [{}, 'HiGHS 1.16.0', undefined],
  [{ version: null, status: 'optimal', objective: 3, gap: 0 }, 'HiGHS: optimal', undefined],
  [{ status: 'feasible', objective: 3 }, 'HiGHS 1.16.0: feasible, not proven optimal', undefined],
  [
    { status: 'time_limit', objective: 3, gap: 0.0272 },
    'HiGHS 1.16.0: stopped by its time limit, gap 2.7\u00a0%',
    'stopped by its time limit, gap 2.7\u00a0%',
  ],
  [
    { status: 'time_limit' },
    'HiGHS 1.16.0: stopped by its time limit without a solution',
    'stopped by its time limit without a solution',
  ],
  [
    { status: 'infeasible' },
    'HiGHS 1.16.0: infeasible: the model has no solution',
    'infeasible: the model has no solution',
  ],
])('%j', (facts, sentence, caveat) => {
  expect(describeSolve(create(facts))).toBe(sentence);
  expect(findSolveCaveat([create(facts)])).toBe(caveat);
});

test('the caveat of a run is that of its last solve', () => {
  const solves = [
    create({ solve: 0, objective: 5, status: 'optimal' }),
    create({ solve: 1, status: 'infeasible' }),
  ];
  expect(findSolveCaveat(solves)).toBe('infeasible: the model has no solution');
  expect(findSolveCaveat([])).toBeUndefined();
});

test('a picture shows the series of the last solve with an objective, and those of no solve', () => {
  const key = (name: string, solve: number | null) => ({ name, solve });
  const own = [key('cost', null), key('objective', 1), key('bound', 1)];
  const others = [key('objective', 0), key('bound', 2)];
  expect(
    listMainSeries([...own, ...others].sort((one, other) => (one.solve ?? -1) - (other.solve ?? -1))),
  ).toEqual(own);
  expect(listMainSeries([key('bound', 0), key('bound', 1)])).toEqual([key('bound', 1)]);
  expect(listMainSeries([])).toEqual([]);
});
