import { expect, test } from 'vitest';
import { buildInstanceSeries, listNumericIndicators } from './indicator-points.ts';

type ChartRun = Parameters<typeof buildInstanceSeries>[0][number];

function buildRun(minute: number, instance: string, version: string, value: number | string): ChartRun {
  return {
    id: `run-${minute}` as ChartRun['id'],
    created_at: `2026-11-20T08:0${minute}:00.000Z`,
    statistics: { status: 'success', error: '', indicators: [{ name: 'result.value', value }] },
    application_instance_id: instance,
    application_version_id: version,
  };
}

test('each instance is a series, oldest first, that marks its changes of version', () => {
  const runs = [
    buildRun(4, 'production', 'v2', 90),
    buildRun(3, 'trial', 'v2', 95),
    buildRun(2, 'production', 'v1', 100),
    buildRun(1, 'production', 'v1', 'infeasible'),
  ];
  const at = Date.parse('2026-11-20T08:00:00.000Z');
  expect(buildInstanceSeries(runs, 'result.value')).toEqual([
    {
      instance: 'production',
      points: [
        { run: 'run-2', at: at + 120_000, value: 100, version: 'v1', isVersionChange: false },
        { run: 'run-4', at: at + 240_000, value: 90, version: 'v2', isVersionChange: true },
      ],
    },
    {
      instance: 'trial',
      points: [{ run: 'run-3', at: at + 180_000, value: 95, version: 'v2', isVersionChange: false }],
    },
  ]);
});

test('only numbers are offered as indicators, each once', () => {
  expect(listNumericIndicators([buildRun(1, 'a', 'v1', 'text')])).toEqual([]);
  expect(listNumericIndicators([buildRun(1, 'a', 'v1', 1), buildRun(2, 'a', 'v1', 2)])).toEqual([
    'result.value',
  ]);
});
