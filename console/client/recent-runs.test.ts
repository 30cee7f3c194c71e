import { expect, test } from 'vitest';
import { countFailures, type ListedRun, listFailing, summarizeObjective } from './recent-runs.ts';

const objective = { name: 'cost', label: 'Cost', unit: 'EUR', direction: 'minimize' } as const;

function buildRun(status_v2: ListedRun['status_v2'], value?: number | string, version = 'v1'): ListedRun {
  const indicators = value === undefined ? [] : [{ name: 'cost', value }];
  return {
    id: `run-${status_v2}` as ListedRun['id'],
    status_v2,
    created_at: '2026-11-20T08:00:00.000Z',
    application_version_id: version,
    statistics: { status: 'success', error: '', indicators },
  };
}

test.each([
  [[], 0, 0, undefined],
  [['queued', 'canceled', 'none'], 0, 0, undefined],
  [['failed'], 1, 1, undefined],
  [['failed', 'succeeded', 'failed', 'running', 'canceled'], 2, 3, 'bad'],
  [['failed', 'succeeded', 'succeeded', 'succeeded', 'succeeded', 'failed'], 2, 6, 'warning'],
  [['succeeded', 'succeeded', 'succeeded', 'failed', 'failed'], 2, 5, undefined],
] as const)('of %j, %s of %s failed: %s', (statuses, failed, counted, tone) => {
  const found = countFailures(statuses.map((status) => buildRun(status)));
  expect(found).toMatchObject({ failed, counted });
  expect(found.tone).toBe(tone);
});

test('failures that begin with a version name it', () => {
  const before = buildRun('succeeded', 1, 'v1');
  const failed = [buildRun('failed', undefined, 'v2'), buildRun('failed', undefined, 'v2')];
  expect(countFailures([...failed, before]).version).toBe('v2');
  expect(countFailures([...failed, buildRun('succeeded', 1, 'v2')]).version).toBeUndefined();
  expect(countFailures(failed).version).toBeUndefined();
});

test('a trend of the objective is oldest first, and skips runs that have not ended', () => {
  const runs = [
    buildRun('running', 1),
    buildRun('succeeded', 2000.4),
    buildRun('failed'),
    buildRun('succeeded', 4000),
  ];
  expect(summarizeObjective(runs, objective)).toEqual({
    last: 2000.4,
    trend: {
      values: [4000, undefined, 2000.4],
      label: 'Cost of 2 runs: from 4,000\u00a0EUR to 2,000\u00a0EUR',
    },
  });
});

test('a single or constant value is no trend, and a text no value', () => {
  expect(summarizeObjective([buildRun('succeeded', 3), buildRun('succeeded', 3)], objective)).toEqual({
    last: 3,
  });
  expect(summarizeObjective([buildRun('succeeded', 3), buildRun('succeeded', 'many')], objective)).toEqual({
    last: 3,
  });
  expect(summarizeObjective([buildRun('succeeded', 'many')], objective)).toEqual({});
});

test('the application with most failed runs needs someone first', () => {
  const row = { runs: 9, run_seconds: 1, core_seconds: 1, stored_bytes: 1, cost: null };
  const build = (id: string, failed_runs: number) => ({ ...row, application_id: id as never, failed_runs });
  expect(listFailing([build('one', 1), build('few', 2), build('many', 2), build('many', 3)])).toEqual([
    'many',
    'few',
  ]);
});
