import { expect, test } from 'vitest';
import type { RunSeries } from '../run-series.ts';
import { mergeSeries } from './merge-series.ts';

const create = (name: string, source: RunSeries['source'], ...points: number[][]): RunSeries => ({
  name,
  source,
  solve: null,
  points,
});
const before = {
  series: [create('cost', 'log', [0, 9]), create('cost', 'statistics', [0, 8])],
  phases: [{ x: 0, phase: 'root' as const, solver: 'HiGHS', solve: 0 }],
  solves: [],
};
const phase = { x: 1, phase: 'search' as const, solver: 'HiGHS', solve: 0 };

test('appends points to the series of the same name and source, and adds new series', () => {
  const change = {
    reset: false,
    series: [create('cost', 'log', [1, 7]), create('cpu', 'resources', [1, 2])],
    phases: [phase],
    solves: [],
  };
  expect(mergeSeries(before, change)).toEqual({
    series: [
      create('cost', 'log', [0, 9], [1, 7]),
      create('cost', 'statistics', [0, 8]),
      create('cpu', 'resources', [1, 2]),
    ],
    phases: [...before.phases, phase],
    solves: [],
  });
});

test('replaces everything but the statistics after a reset', () => {
  const change = { reset: true, series: [create('bound', 'log', [2, 5])], phases: [phase], solves: [] };
  expect(mergeSeries(before, change)).toEqual({
    series: [create('cost', 'statistics', [0, 8]), create('bound', 'log', [2, 5])],
    phases: [phase],
    solves: [],
  });
});

test('points of lines without a time move to the time of the next line that has one', () => {
  const change = { reset: false, series: [create('cost', 'log', [0.4, 7])], phases: [], solves: [] };
  const late = { series: [create('cost', 'log', [0.1, 9], [8, 8])], phases: [], solves: [] };
  expect(mergeSeries(late, change).series).toEqual([create('cost', 'log', [0.1, 9], [0.4, 8], [0.4, 7])]);
});
