/** The words beside the status of a run, by the end of its last solve. */
import { expect, test } from 'vitest';
import type { RunSeries, RunSolve } from '../run-series.ts';
import { describeSolve, findMainSolve, findSolveCaveat, listMainSeries } from './describe-solve.ts';

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

test('a linear program that repeats the solution of a search says nothing about the search', () => {
  const search = create({ solve: 0, nodes: 812, objective: 11_413.171302, status: 'time_limit', gap: 0.006 });
  const repeated = create({ solve: 1, objective: 11_413.1713, status: 'optimal', gap: 0 });
  expect(findMainSolve([search, repeated])).toBe(search);
  expect(findSolveCaveat([search, repeated])).toContain('stopped by its time limit');
  const other = { ...repeated, objective: 11_000 };
  expect(findMainSolve([search, other])).toBe(other);
  expect(findMainSolve([repeated])).toBe(repeated);
});

test('a picture shows the series of the last solve with an objective, and those of no solve', () => {
  const key = (name: string, solve: number | null, ...values: number[]): RunSeries => ({
    ...{ name, solve, source: 'log', points: values.map((value, x) => [x, value]) },
  });
  const own = [key('cost', null, 1), key('bound', 1, 5), key('objective', 1, 9, 8)];
  const [cost, ...rest] = own;
  const before = [key('bound', 0, 1), key('objective', 0, 3, 2)];
  expect(listMainSeries([...(cost ? [cost] : []), ...before, ...rest, key('bound', 2, 7)])).toEqual(own);
  // A linear program that repeats the last solution.
  expect(listMainSeries([...own, key('objective', 2, 8)])).toEqual(own);
  expect(listMainSeries([key('bound', 0, 1), key('bound', 1, 2)])).toEqual([key('bound', 1, 2)]);
  expect(listMainSeries([])).toEqual([]);
});
