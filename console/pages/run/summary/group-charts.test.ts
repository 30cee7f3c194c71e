import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import { expect, test } from 'vitest';
import { groupCharts } from './group-charts.ts';

const create = (name: string, source: RunSeries['source'], y = 1): RunSeries => ({
  name,
  source,
  points: [[2, y]],
});

test('puts the progress of a solver into the first chart, and every other series into its own', () => {
  const series = [
    create('bound', 'log'),
    create('gap', 'log', 0.5),
    create('nodes', 'log'),
    create('objective', 'log'),
    create('memory', 'resources', 2_500_000),
    create('value', 'statistics'),
  ];
  const point = (y: number) => [{ x: 2, y }];
  expect(groupCharts(series)).toEqual([
    {
      title: 'Objective over time',
      series: [
        { name: 'objective', points: point(1), isOverSeconds: true },
        { name: 'bound', points: point(1), isOverSeconds: true },
        { name: 'gap', points: point(0.5), isRatio: true, isOverSeconds: true },
      ],
    },
    { title: 'Statistics over time', series: [{ name: 'value', points: point(1) }] },
    { title: 'nodes', series: [{ name: 'nodes', points: point(1), isOverSeconds: true }] },
    { title: 'Memory, MB', series: [{ name: 'memory', points: point(2.5), isOverSeconds: true }] },
  ]);
});

test('shows the statistics as the objective when the log has none, and no chart without series', () => {
  expect(groupCharts([create('value', 'statistics'), create('other', 'statistics')])).toMatchObject([
    { title: 'Objective over time', series: [{ name: 'value' }, { name: 'other' }] },
  ]);
  expect(groupCharts([])).toEqual([]);
});
