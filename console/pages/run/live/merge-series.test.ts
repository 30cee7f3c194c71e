import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import { expect, test } from 'vitest';
import { mergeSeries } from './merge-series.ts';

const create = (name: string, source: RunSeries['source'], ...points: number[][]): RunSeries => ({
  name,
  source,
  points,
});
const before = {
  series: [create('cost', 'log', [0, 9]), create('cost', 'statistics', [0, 8])],
  phases: [{ x: 0, phase: 'root' as const, solver: 'HiGHS', solve: 0 }],
};
const phase = { x: 1, phase: 'search' as const, solver: 'HiGHS', solve: 0 };

test('appends points to the series of the same name and source, and adds new series', () => {
  const change = {
    reset: false,
    series: [create('cost', 'log', [1, 7]), create('cpu', 'resources', [1, 2])],
    phases: [phase],
  };
  expect(mergeSeries(before, change)).toEqual({
    series: [
      create('cost', 'log', [0, 9], [1, 7]),
      create('cost', 'statistics', [0, 8]),
      create('cpu', 'resources', [1, 2]),
    ],
    phases: [...before.phases, phase],
  });
});

test('replaces everything but the statistics after a reset', () => {
  const change = { reset: true, series: [create('bound', 'log', [2, 5])], phases: [phase] };
  expect(mergeSeries(before, change)).toEqual({
    series: [create('cost', 'statistics', [0, 8]), create('bound', 'log', [2, 5])],
    phases: [phase],
  });
});
