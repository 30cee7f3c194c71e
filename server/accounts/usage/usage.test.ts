/** Usage and cost of runs. */
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { Selectable } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, createRunAndWait, pushApp } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { sumUsage } from './count-usage.ts';
import type { UsageRecordsTable } from './schema.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const clock = createManualClock(Date.parse('2026-11-20T23:00:00Z'));
const SHELL_APP = { 'main.sh': '#!/bin/sh\ncat > /dev/null\necho "{}"\n' };
const SHELL = { executable_type: 'binary', runtime: 'binary', entrypoint: 'main.sh' } as const;
const EXTERNAL = { configuration: { run_type: { type: 'external' } } };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
  await pushApp(server, 'routing', SHELL_APP, SHELL);
  const run = await createRunAndWait(server, 'routing', { input: {} });
  expect(run.status_v2).toBe('succeeded');
  await server.client.call('createApplication', { body: { id: 'other', name: 'Other app' } });
  const failed = {
    ...EXTERNAL,
    result: { status: 'failed', error_message: 'No plan', execution_duration: 9 },
  };
  await createRun(server, 'other', { input: { a: 1 }, body: failed });
  clock.advance(DAY_MS);
  const open = await createRun(server, 'other', { input: {}, body: EXTERNAL });
  expectStatus(await server.request('PATCH', `/v1/applications/other/runs/${open}/cancel`), 204);
  // A run that has not ended is not counted.
  await createRun(server, 'other', { input: {}, body: EXTERNAL });
  // A deleted run stays counted.
  expectStatus(await server.request('DELETE', `/v1/applications/routing/runs/${run.id}`), 204);
});
afterAll(() => server.close());

interface Measures {
  runs: number;
  failed_runs: number;
  run_seconds: number;
  core_seconds: number;
  cost: number | null;
}
interface UsageBody {
  from: string;
  to: string;
  total: Measures;
  items: (Measures & { day?: string; application_id?: string; user_email?: string })[];
}
const readUsage = async (query = ''): Promise<UsageBody> => {
  const response = await server.request('GET', `/v1/account/usage${query}`);
  expectStatus(response, 200);
  return response.body as UsageBody;
};
const waitForRuns = (count: number) => expect.poll(async () => (await readUsage()).total.runs).toBe(count);

describe('usage', () => {
  test('counts each ended run once, by its day', async () => {
    await waitForRuns(3);
    const usage = await readUsage();
    expect([usage.from, usage.to]).toEqual(['2026-10-23', '2026-11-21']);
    expect(usage.total).toMatchObject({ runs: 3, failed_runs: 1, cost: null });
    expect(usage.items.map(({ day, runs }) => [day, runs])).toEqual([
      ['2026-11-20', 2],
      ['2026-11-21', 1],
    ]);
    await server.restart();
    await waitForRuns(3);
  });

  test('is grouped by application, user and day', async () => {
    await waitForRuns(3);
    const { items } = await readUsage('?group_by=application,day');
    expect(items.map(({ day, application_id, runs }) => [day, application_id, runs])).toEqual([
      ['2026-11-20', 'other', 1],
      ['2026-11-20', 'routing', 1],
      ['2026-11-21', 'other', 1],
    ]);
    const users = await readUsage('?group_by=user&application_id=other&from=2026-11-21');
    expect(users.items).toMatchObject([{ user_email: 'root@localhost', runs: 1, failed_runs: 0 }]);
    expect(users.total.runs).toBe(1);
  });

  test('has execution times of executed runs alone, and their cost', async () => {
    await waitForRuns(3);
    const rate = { currency: 'EUR', per_core_hour: 7200 };
    expectStatus(await server.request('PUT', '/v1/account/cost-rate', { body: rate }), 200);
    const { total, items } = await readUsage('?group_by=application');
    // The default execution class has 6 cores. Both are rounded to milliseconds.
    expect(total.run_seconds).toBeGreaterThan(0);
    expect(Math.abs(total.core_seconds - 6 * total.run_seconds)).toBeLessThan(0.004);
    // Two units of the currency for each core second.
    expect(total.cost).toBeCloseTo(2 * total.core_seconds, 2);
    expect(items.find((item) => item.application_id === 'other')).toMatchObject({
      ...{ application_name: 'Other app', run_seconds: 0, cost: 0 },
    });
    expectStatus(await server.request('DELETE', '/v1/account/cost-rate'), 204);
    expect((await readUsage()).total.cost).toBeNull();
  });

  test('is empty for another account', async () => {
    await waitForRuns(3);
    const { token } = await createOtherAccount(server, 'admin');
    const { body } = await server.request('GET', '/v1/account/usage', { token });
    expect(body).toMatchObject({ items: [], total: { runs: 0, core_seconds: 0, stored_bytes: 0 } });
  });

  test.each([
    ['?from=2026-11-22&to=2026-11-21', 'after to'],
    ['?from=2024-01-01&to=2026-11-21', '366 days'],
    ['?from=2026-02-30', 'from'],
    ['?group_by=minute', 'group_by'],
    ['?group_by=day,day,day,day', 'group_by'],
    ['?by=day', 'by'],
  ])('refuses %s', async (query, message) => {
    expectError(await server.request('GET', `/v1/account/usage${query}`), 400, message);
  });

  test.each([
    [{ currency: 'euro', per_core_hour: 1 }],
    [{ currency: 'EUR', per_core_hour: -1 }],
    [{ currency: 'EUR', per_core_hour: 1e300 }],
    [{ currency: 'EUR' }],
  ])('refuses the rate %j', async (body) => {
    expectError(await server.request('PUT', '/v1/account/cost-rate', { body }), 400);
  });
});

describe('the sum of records', () => {
  const record: Selectable<UsageRecordsTable> = {
    ...{ seq: 1, account_id: 'a' as AccountId, application_id: 'app' as ApplicationId },
    ...{ user_email: 'ada@example.com', ended_at: 0, status: 'succeeded', run_type: 'standard' },
    ...{ execution_class: '16c60gb12h', execution_ms: 1000, bytes: 10 },
    ...{ application_uid: 'application', slot_ms: 1000 },
  };

  test.each<[string, Selectable<UsageRecordsTable>[], number[][]]>([
    ['one run', [record], [[0, 1, 0, 1000, 16_000, 10]]],
    ['two runs of a day', [record, { ...record, status: 'failed' }], [[0, 2, 1, 2000, 32_000, 20]]],
    [
      'runs before and after midnight',
      [
        { ...record, ended_at: DAY_MS - 1 },
        { ...record, ended_at: DAY_MS },
      ],
      [
        [0, 1, 0, 1000, 16_000, 10],
        [1, 1, 0, 1000, 16_000, 10],
      ],
    ],
    ['an external run', [{ ...record, run_type: 'external' }], [[0, 1, 0, 0, 0, 10]]],
    ['a run that did not start', [{ ...record, execution_ms: null }], [[0, 1, 0, 0, 0, 10]]],
  ])('of %s', (_title, records, expected) => {
    const totals = sumUsage(records);
    expect(totals.map((t) => [t.day, t.runs, t.failed_runs, t.run_ms, t.core_ms, t.bytes])).toEqual(expected);
  });
});
