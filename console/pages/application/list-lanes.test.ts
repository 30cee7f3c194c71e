import { findMedian } from '@switchyard/contract/presentation/estimate-time.ts';
import { expect, test } from 'vitest';
import { listLanes, listMedians, listNumericIndicators, listVersionChanges } from './list-lanes.ts';

type LaneRun = Parameters<typeof listLanes>[0][number];

function buildRun(minute: number, instance: string, version: string, value?: number | string): LaneRun {
  return {
    id: `run-${minute}` as LaneRun['id'],
    status_v2: value === undefined ? 'failed' : 'succeeded',
    created_at: `2026-11-20T08:0${minute}:00.000Z`,
    statistics: {
      status: 'success',
      error: '',
      indicators: value === undefined ? [] : [{ name: 'result.value', value }],
    },
    application_instance_id: instance,
    application_version_id: version,
  };
}

const runs = [
  buildRun(5, 'trial', 'v2', 95),
  buildRun(4, 'production', 'v2', 90),
  buildRun(3, 'trial', 'v2', 97),
  buildRun(2, 'production', 'v1', 100),
  buildRun(1, 'production', 'v1', 'infeasible'),
  buildRun(0, 'trial', 'v1'),
];

test('the lane of the default instance is first, oldest run first', () => {
  const lanes = listLanes(runs, 'result.value', 'production');
  expect(lanes.map(({ instance }) => instance)).toEqual(['production', 'trial']);
  const at = Date.parse('2026-11-20T08:00:00.000Z');
  expect(lanes[1]?.points).toEqual([
    { run: 'run-0', at, version: 'v1', hasFailed: true },
    { run: 'run-3', at: at + 180_000, value: 97, version: 'v2', hasFailed: false },
    { run: 'run-5', at: at + 300_000, value: 95, version: 'v2', hasFailed: false },
  ]);
});

test('a lane marks its changes of version, and sums up each', () => {
  const [production, trial] = listLanes(runs, 'result.value', 'production');
  if (!production || !trial) throw new Error('Both have runs.');
  expect(listVersionChanges(production).map(({ run }) => run)).toEqual(['run-1', 'run-4']);
  expect(listMedians(production)).toEqual([
    { version: 'v2', median: 90, runs: 1 },
    { version: 'v1', median: 100, runs: 1 },
  ]);
  expect(listMedians(trial)).toEqual([{ version: 'v2', median: 96, runs: 2 }]);
});

test('the median of an even number of values is between the middle ones', () => {
  expect(findMedian([4, 1, 3])).toBe(3);
  expect(findMedian([4, 1, 3, 2])).toBe(2.5);
});

test('only indicators with a number in any run can be drawn', () => {
  expect(listNumericIndicators([buildRun(1, 'a', 'v1', 'text')])).toEqual([]);
  expect(listNumericIndicators([buildRun(1, 'a', 'v1', 'text'), buildRun(2, 'a', 'v1', 1)])).toEqual([
    'result.value',
  ]);
});
