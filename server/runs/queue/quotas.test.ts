/** Quotas: runs at once, and core hours of a month. */
import type { Quotas } from '@switchyard/contract/account/quotas.ts';
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { SLOTS_ONLY } from '../workers/offers.ts';
import { claimRuns } from './claim-runs.ts';

const SHELL = { executable_type: 'binary', runtime: 'binary', entrypoint: 'main.sh' } as const;
/** Runs until it is canceled. */
const WAITING_APP = { 'main.sh': '#!/bin/sh\necho started >&2\nexec sleep 600\n' };
const EXTERNAL = { configuration: { run_type: { type: 'external' } } };
const NOT_QUEUED = { configuration: { queuing: { disabled: true } } };
const HOUR_MS = 60 * 60 * 1000;

async function setQuotas(
  server: TestServer,
  body: object,
  token = server.token,
  path = '/v1/account/quotas',
): Promise<Quotas> {
  const response = await server.request('PUT', path, { body, token });
  expectStatus(response, 200);
  return response.body as Quotas;
}
async function readQuotas(server: TestServer, token = server.token): Promise<Quotas> {
  const response = await server.request('GET', '/v1/account/quotas', { token });
  expectStatus(response, 200);
  return response.body as Quotas;
}
const NO_QUOTA = { concurrent_runs: null, core_hours_per_month: null };

describe('the quota of runs at once', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '3' } });
    await pushApp(server, 'app', WAITING_APP, SHELL);
  });
  afterAll(() => server.close());
  const cancel = async (run: string) => {
    expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`), 204);
    await waitForRunEnd(server, 'app', run);
  };

  test('lets further runs wait with that reason, until one ends or the quota is raised', async () => {
    await setQuotas(server, { ...NO_QUOTA, concurrent_runs: 1 });
    const runs = [];
    for (let count = 0; count < 3; count += 1) runs.push(await createRun(server, 'app'));
    const [first = '', second = '', third = ''] = runs;
    await waitForLogLine(server, 'app', first, 'started');
    expect(await readQuotas(server)).toMatchObject({ concurrent_runs: 1, running_runs: 1 });
    const { body } = await server.client.call('getQueue');
    expect(body.runs.map(({ id, waiting }) => [id, waiting?.reason])).toEqual([
      [first, undefined],
      [second, 'quota'],
      [third, 'quota'],
    ]);
    const metadata = await server.client.call('getRunMetadata', {
      params: { application_id: 'app', run_id: second },
    });
    expect(metadata.body.metadata.waiting).toMatchObject({
      place: 1,
      reason: 'quota',
      message:
        'The account executes 1 of at most 1 runs at once, which is its quota; the run waits until one ends.',
    });
    const refused = await server.request('POST', '/v1/applications/app/runs', { body: NOT_QUEUED });
    expectError(refused, 429, 'quota');
    await cancel(first);
    await waitForLogLine(server, 'app', second, 'started');
    await setQuotas(server, { ...NO_QUOTA, concurrent_runs: 2 });
    await waitForLogLine(server, 'app', third, 'started');
    for (const run of [second, third]) await cancel(run);
    await setQuotas(server, NO_QUOTA);
  });

  test('limits an application, and lets runs of others overtake', async () => {
    await pushApp(server, 'free', WAITING_APP, SHELL);
    const set = await setQuotas(
      server,
      { ...NO_QUOTA, concurrent_runs: 1 },
      server.token,
      '/v1/applications/app/quotas',
    );
    expect(set).toMatchObject({ application_id: 'app', concurrent_runs: 1, running_runs: 0 });
    const runs = [];
    for (const app of ['app', 'app', 'free']) runs.push(await createRun(server, app));
    const [first = '', second = '', other = ''] = runs;
    await waitForLogLine(server, 'app', first, 'started');
    await waitForLogLine(server, 'free', other, 'started');
    const { body } = await server.client.call('getQueue');
    const waiting = body.runs.filter(({ status_v2 }) => status_v2 === 'queued');
    expect(waiting).toMatchObject([
      {
        id: second,
        waiting: {
          reason: 'quota',
          message: expect.stringContaining('The application executes 1 of at most 1'),
        },
      },
    ]);
    expect(await readQuotas(server)).toMatchObject({
      running_runs: 2,
      applications: [{ application_id: 'app', application_name: expect.any(String), running_runs: 1 }],
    });
    const refused = await server.request('POST', '/v1/applications/app/runs', { body: NOT_QUEUED });
    expectError(refused, 429, 'The application executes as many runs');
    await cancel(first);
    await waitForLogLine(server, 'app', second, 'started');
    await cancel(second);
    expectStatus(await server.request('DELETE', '/v1/applications/free'), 204);
    await setQuotas(server, NO_QUOTA, server.token, '/v1/applications/app/quotas');
    expect((await readQuotas(server)).applications).toEqual([]);
  });

  test('lets runs of other accounts overtake a queue that waits for the quota', async () => {
    const other = await createOtherAccount(server, 'admin');
    await setQuotas(server, { ...NO_QUOTA, concurrent_runs: 1 });
    const runs = [];
    for (let count = 0; count < 6; count += 1) runs.push(await createRun(server, 'app'));
    expect(await readQuotas(server, other.token)).toMatchObject({ ...NO_QUOTA, running_runs: 0 });
    const { database } = server.runningServer;
    const own = (await server.client.call('getAccount')).body.id;
    const moveTo = (account: AccountId) =>
      database.transact((tx) =>
        tx
          .updateTable('runs')
          .set({ account_id: account })
          .where('id', '=', last as never)
          .execute(),
      );
    const last = runs.at(-1) ?? '';
    await waitForLogLine(server, 'app', runs[0] ?? '', 'started');
    await moveTo(other.id);
    database.notify('runs-queued');
    await expect
      .poll(() =>
        database.read
          .selectFrom('runs')
          .select('status')
          .where('id', '=', last as never)
          .executeTakeFirst(),
      )
      .toEqual({ status: 'running' });
    await moveTo(own);
    for (const run of runs.toReversed()) await cancel(run);
    await setQuotas(server, NO_QUOTA);
  });

  test('holds for workers that claim at the same time', async () => {
    // No real worker takes the runs: the worker of the server drains.
    const [worker] = (await server.client.call('getWorkers')).body.items;
    expectStatus(await server.request('POST', `/v1/account/workers/${worker?.id}/drain`), 200);
    await setQuotas(server, { ...NO_QUOTA, concurrent_runs: 5 });
    const runs = [];
    for (let count = 0; count < 12; count += 1) runs.push(await createRun(server, 'app'));
    const { database } = server.runningServer;
    const claims = Array.from({ length: 6 }, (_, index) =>
      database.transact((tx) =>
        claimRuns(tx, {
          workerId: `worker-${index}`,
          classes: ['6c9500mb870s', '8c16gb12h'],
          limit: 3,
          now: Date.now(),
          containment: 'limits',
          workflowCapacity: [16, 16, 16],
          offer: SLOTS_ONLY,
        }),
      ),
    );
    const claimed = (await Promise.all(claims)).flat().map(({ id }) => id);
    // In PostgreSQL a claim skips rows that another one has locked, so fewer runs than allowed may start at first.
    expect(claimed.length).toBeLessThanOrEqual(5);
    expect(claimed.length).toBeGreaterThan(0);
    expect(new Set(claimed).size).toBe(claimed.length);
    expect(await readQuotas(server)).toMatchObject({ running_runs: claimed.length });
  });
});

describe('the quota of core hours', () => {
  const clock = createManualClock(Date.parse('2026-11-30T22:00:00Z'));
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ clock });
    await pushApp(server, 'app', { 'main.sh': '#!/bin/sh\necho "{}"\n' }, SHELL);
    await insertUsage(11.5);
  });
  afterAll(() => server.close());

  async function insertUsage(hours: number, application = 'app', month = '2026-11-01'): Promise<void> {
    const { database } = server.runningServer;
    const [account] = await database.read.selectFrom('accounts').select('id').execute();
    if (!account) throw new Error('There is no account.');
    const measures = { runs: 1, failed_runs: 0, run_ms: 0, core_ms: Math.round(hours * HOUR_MS), bytes: 0 };
    const day = Date.parse(month) / (24 * HOUR_MS);
    const of = {
      account_id: account.id,
      application_id: application as ApplicationId,
      user_email: 'a@example.com',
    };
    await database.transact((tx) =>
      tx
        .insertInto('usage_days')
        // The last day of the month before is not counted.
        .values([day, day - 1].map((one) => ({ ...of, day: one, ...measures })))
        .execute(),
    );
  }
  const start = (body: object = {}) => server.request('POST', '/v1/applications/app/runs', { body });

  test('refuses new runs until the month ends, and no external run', async () => {
    const quotas = await setQuotas(server, { ...NO_QUOTA, core_hours_per_month: 11.5 });
    expect(quotas).toMatchObject({ used_core_hours: 11.5, resets_at: '2026-12-01T00:00:00.000Z' });
    const refused = await start();
    expectError(refused, 403, '11.5 of 11.5 core hours');
    expectError(refused, 403, '2026-12-01T00:00:00.000Z');
    expectError(
      await server.request('POST', '/v1/applications/app/experiments/batch', {
        body: { id: 'batch', name: 'Any name', input_set_id: 'missing', instance_ids: ['latest'] },
      }),
      403,
      'core hours',
    );
    expectStatus(await start(EXTERNAL), 202);
    await setQuotas(server, { ...NO_QUOTA, core_hours_per_month: 12 });
    expectStatus(await start(), 202);
    await setQuotas(server, { ...NO_QUOTA, core_hours_per_month: 0 });
    expectError(await start(), 403, 'core hours');
    await setQuotas(server, NO_QUOTA);
    const own = '/v1/applications/app/quotas';
    await setQuotas(server, { ...NO_QUOTA, core_hours_per_month: 11.5 }, server.token, own);
    expectError(await start(), 403, 'The application has used 11.5 of 11.5 core hours');
    await setQuotas(server, { ...NO_QUOTA, core_hours_per_month: 11 });
    clock.advance(2 * HOUR_MS);
    expectStatus(await start(), 202);
    expect(await readQuotas(server)).toMatchObject({ resets_at: '2027-01-01T00:00:00.000Z' });
  });

  test('W16: a use of seconds is not 0 in the refusal, nor in the quotas', async () => {
    await pushApp(server, 'small', { 'main.sh': '#!/bin/sh\necho "{}"\n' }, SHELL);
    await insertUsage(432 / HOUR_MS, 'small', '2026-12-01');
    const own = '/v1/applications/small/quotas';
    const quotas = await setQuotas(server, { ...NO_QUOTA, core_hours_per_month: 0.0001 }, server.token, own);
    expect(quotas).toMatchObject({ used_core_hours: 0.00012 });
    expectError(
      await server.request('POST', '/v1/applications/small/runs', { body: {} }),
      403,
      'The application has used 0.00012 of 0.0001 core hours',
    );
  });

  test.each([
    [{ ...NO_QUOTA, concurrent_runs: 0 }],
    [{ ...NO_QUOTA, concurrent_runs: 1.5 }],
    [{ ...NO_QUOTA, core_hours_per_month: -1 }],
    [{ ...NO_QUOTA, core_hours_per_month: 1e300 }],
    [{ concurrent_runs: 1 }],
    [{ ...NO_QUOTA, storage: 1 }],
  ])('refuses the quotas %j', async (body) => {
    expectError(await server.request('PUT', '/v1/account/quotas', { body }), 400);
  });
});
