import { expect, test } from 'vitest';
import { listLastChanges } from './last-changes.ts';

const create = (name: string, points: number[][], source: 'log' | 'resources' = 'log') => ({
  name,
  source,
  solve: null,
  points,
});

test('compares each number of the log at the last improvement with that at the one before', () => {
  const series = [
    create('objective', [
      [1, 9],
      [5, 7],
      [9, 7],
    ]),
    create('late', [
      [1.01, 3],
      [5.01, 2],
      [9, 4],
    ]),
    create('cpu', [[1, 2]], 'resources'),
  ];
  const improved = [
    [1, 9],
    [5, 7],
  ] as const;
  expect(listLastChanges(series, improved)).toEqual([
    { name: 'objective', value: 7, before: 9 },
    { name: 'late', value: 2, before: 3 },
  ]);
});

test('has no change before the second improvement, and the last values without one', () => {
  const series = [
    create('late', [
      [2, 3],
      [4, 1],
    ]),
  ];
  expect(listLastChanges(series, [[2, 9]])).toEqual([{ name: 'late', value: 3, before: undefined }]);
  expect(listLastChanges(series, [])).toEqual([{ name: 'late', value: 1, before: undefined }]);
});
