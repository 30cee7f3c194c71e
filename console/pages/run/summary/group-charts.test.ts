import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import { expect, test } from 'vitest';
import { groupCharts } from './group-charts.ts';

const create = (name: string, source: RunSeries['source'], y = 1): RunSeries => ({
  name,
  source,
  solve: null,
  points: [[2, y]],
});
const point = (y: number) => [{ x: 2, y }];

test('puts the objective and its bound into the first chart, and every other series into its own', () => {
  const series = [
    create('bound', 'log'),
    create('gap', 'log', 0.5),
    create('memory', 'resources', 2_500_000),
    create('nodes', 'log'),
    create('objective', 'log'),
    create('value', 'statistics'),
  ];
  expect(groupCharts(series)).toEqual([
    {
      title: 'Objective',
      series: [
        { name: 'objective', points: point(1), isOverSeconds: true },
        { name: 'bound', points: point(1), isOverSeconds: true },
      ],
    },
    { title: 'nodes', series: [{ name: 'nodes', points: point(1), isOverSeconds: true }] },
    {
      title: 'Memory, MB',
      series: [{ name: 'memory', points: point(2.5), isOverSeconds: true, isSampled: true }],
    },
  ]);
});

test('a gap without a bound has a chart', () => {
  expect(groupCharts([create('gap', 'log', 0.5)])).toMatchObject([
    { title: 'gap', series: [{ isRatio: true }] },
  ]);
});

test('shows the first statistics as the objective when the log has none, over seconds if they say so', () => {
  expect(groupCharts([create('value over seconds', 'statistics'), create('other', 'statistics')])).toEqual([
    { title: 'Objective', series: [{ name: 'value over seconds', points: point(1), isOverSeconds: true }] },
    { title: 'other', series: [{ name: 'other', points: point(1) }] },
  ]);
  expect(groupCharts([])).toEqual([]);
});
