import { expect, test } from 'vitest';
import { buildObjectiveTrend, computeFailureRate, type ListedRun } from './recent-runs.ts';

function buildRun(status_v2: ListedRun['status_v2'], value?: number | string): ListedRun {
  const indicators = value === undefined ? [] : [{ name: 'result.value', value }];
  return {
    id: 'run-1' as ListedRun['id'],
    status_v2,
    created_at: '2026-11-20T08:00:00.000Z',
    statistics: { status: 'success', error: '', indicators },
  };
}

test.each([
  [[], undefined],
  [['queued', 'canceled', 'none'], undefined],
  [['failed'], 1],
  [['failed', 'succeeded', 'succeeded', 'succeeded', 'running', 'canceled'], 0.25],
] as const)('the failure rate of %j is %s', (statuses, rate) => {
  expect(computeFailureRate(statuses.map((status_v2) => ({ status_v2 })))).toBe(rate);
});

test('a trend is oldest first, and skips runs that have not ended', () => {
  const runs = [
    buildRun('running', 1),
    buildRun('succeeded', 2000),
    buildRun('failed'),
    buildRun('succeeded', 4000.5),
  ];
  expect(buildObjectiveTrend(runs)).toEqual({
    values: [4000.5, undefined, 2000],
    label: 'Objective of 2 runs: from 4,000.5 to 2,000',
  });
});

test('a single value or text is no trend', () => {
  expect(buildObjectiveTrend([buildRun('succeeded', 3), buildRun('succeeded', 'many')])).toBeUndefined();
});
