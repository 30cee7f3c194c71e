/** Deletion removes all rows and blobs of a resource, also with concurrent requests, and nothing else. */
import type {
  ApplicationId,
  ExperimentId,
  RunId,
  VersionId,
  WorkerTokenId,
} from '@switchyard/contract/schemas/ids.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { replaceAllowedTokens } from '../../apps/marketplace/allowed-worker-tokens.ts';
import { insertSubscription } from '../../apps/marketplace/subscription-store.ts';
import { insertPlannedRuns } from '../../runs/store/planned-runs.ts';
import { acquireRoute, insertCapture } from '../../runs/store/routes.ts';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
} from '../../testing/fixtures/apps.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { startOnlineTest } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus, uploadContent } from '../../testing/fixtures/resources.ts';
import { createPendingDelivery } from '../../testing/fixtures/webhooks.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { openSocket, readResponse } from '../../testing/http/raw-sockets.ts';
import { countRowsByTable, listBlobs } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Tables of accounts, sessions, single sign-on, usage, the installation, older databases, processes and the audit log, whose rows stay. */
const RETAINED_TABLES = [
  'audit_entries',
  'audit_head',
  'accounts',
  'backup_holds',
  'members',
  'keys',
  ...['installation', 'installation_identity'],
  ...['migrations', 'migrations_lock'],
  'opened',
  'sessions',
  'sign_in_tickets',
  'device_authorizations',
  'removed_members',
  ...['sso_identities', 'sso_used_states'],
  ...['usage_records', 'usage_days', 'slot_minutes'],
  'cost_rates',
  'account_quotas',
  'account_licenses',
  'backups',
  'workers',
  'worker_tokens',
  'worker_jobs',
  'provisioner_state',
  'leases',
  'lost_workers',
  'registered_jobs',
  // Its rows exist only until their deliveries are enqueued.
  'experiment_events',
  // Its rows exist only while the account has a webhook for problems.
  'queue_problems',
];
const LARGE_TEXT = 'x'.repeat(100_000);
const APP = nodeApp(`(input) => {
  console.error('{"series": {"runs": 1}}\\nstarted');
  if (input?.waits) {
    setInterval(() => {}, 1000);
    return new Promise(() => process.on('SIGTERM', () => process.exit(0)));
  }
  return { input, assets: [{ name: 'Map', content: { text: 'x'.repeat(100000) } }] };
}`);

let server: TestServer;
let clock: ManualClock;
afterEach(() => server.close());
async function start(capacity = '2'): Promise<void> {
  clock = createManualClock(Date.now());
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: capacity } });
  await pushApp(server, 'app', { ...APP, 'data.txt': LARGE_TEXT });
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'One' },
  });
  await server.client.call('createInstance', {
    params: { application_id: 'app' },
    body: { id: 'i1', name: 'Instance one', version_id: 'v1' },
  });
}
async function remove(path: string): Promise<void> {
  expectStatus(await server.request('DELETE', `/v1/applications/${path}`), 204);
}
const read = (run: string, rest = '') => server.request('GET', `/v1/applications/app/runs/${run}${rest}`);
async function startRunning(application = 'app', instance = 'latest'): Promise<string> {
  const run = await createRun(server, application, { instance, input: { waits: true } });
  await waitForLogLine(server, application, run, 'started');
  return run;
}
const app = { params: { application_id: 'app' } };
async function createSecrets(): Promise<void> {
  await server.client.call('createSecretsCollection', {
    ...app,
    body: { id: 'keys', name: 'Any name', secrets: [{ type: 'env', location: 'KEY', value: 'treasure' }] },
  });
}
/** Creates online tests without results, with results, with a refused copy, and one that is still running. */
async function createOnlineTests(): Promise<void> {
  const shadow = '/v1/applications/app/experiments/shadow';
  expectStatus(await server.request('PUT', `${shadow}/noted/stop`), 204);
  await server.client.call('createInstance', { ...app, body: { id: 'i2', name: 'Two', version_id: 'v1' } });
  await startOnlineTest(server, 'app', 'shadow', { id: 'refused', baseline: 'i1', candidate: 'i2' });
  await remove('app/instances/i2');
  await createRun(server, 'app', { instance: 'i1', input: { waits: true } });
  await startOnlineTest(server, 'app', 'shadow', { id: 'empty', baseline: 'latest', candidate: 'i1' });
  expectStatus(await server.request('PUT', `${shadow}/empty/stop`), 204);
  await startOnlineTest(server, 'app', 'switchback', { id: 'turns', baseline: 'latest', candidate: 'i1' });
  // The test counts this run after its deletion.
  await remove(`app/runs/${await createRun(server, 'app', { instance: 'latest', input: {} })}`);
  await expect
    .poll(async () => {
      const rows = await countRowsByTable(server);
      const { body } = await server.request('GET', `${shadow}/refused`);
      const { refused_runs } = body as { refused_runs: unknown[] };
      const found = [refused_runs.length, rows.experiment_results ?? 0, rows.unsettled_experiments ?? 0];
      return found.every((count) => count > 0);
    })
    .toBe(true);
}
/** Counts the rows of the tables that must become empty, without tables that are. */
async function countRemaining(): Promise<Record<string, number>> {
  const rows = Object.entries(await countRowsByTable(server));
  return Object.fromEntries(rows.filter(([name, count]) => count > 0 && !RETAINED_TABLES.includes(name)));
}
/** Inserts a planned run that cannot start, and a route of a test with one captured run. */
async function planAndRoute(run: RunId): Promise<void> {
  const { database } = server.runningServer;
  const { application_uid, input_content_id } = await database.read
    .selectFrom('runs')
    .select(['application_uid', 'input_content_id'])
    .where('id', '=', run)
    .executeTakeFirstOrThrow();
  const by = { userEmail: 'a@example.com', key: null, plannedAt: 1 };
  const plan = { ownerUid: 'x', applicationUid: application_uid, ...by, experiment: null };
  const planned = { position: 0, instanceId: 'gone', versionId: '', options: {} };
  const route = { experimentUid: 'x', experimentId: 'x' as ExperimentId };
  await database.transact(async (tx) => {
    await insertPlannedRuns(tx, plan, [{ ...planned, contentId: input_content_id, inputFormat: 'json' }]);
    await acquireRoute(tx, application_uid, 'i2', {
      ...route,
      rule: { kind: 'shadow', from: 0, until: null },
    });
    await insertCapture(tx, { experiment_uid: 'x', run_id: run, application_uid, at: 1 });
  });
}
/** Publishes the application, and gives it the row of a subscription, which only an application of another type has. */
async function publishAndSubscribe(): Promise<void> {
  const { id } = (await server.client.call('getAccount')).body;
  const body = { id: 'app' as ApplicationId, ref_app_id: 'app', title: 'Any title' };
  const params = { partner_id: id, marketplace_app_id: 'app' };
  const { subscription_id } = (await server.client.call('createMarketplaceApp', { params, body })).body;
  const version = { id: 'v1' as VersionId, ref_app_version_id: 'v1' };
  await server.client.call('createMarketplaceVersion', { params, body: version });
  const { database } = server.runningServer;
  const rows = database.read.selectFrom('applications').select('uid');
  const { uid } = await rows.where('id', '=', body.id).executeTakeFirstOrThrow();
  await database.transact(async (tx) => {
    const nobody = { email: '', key: null, at: 0 };
    await replaceAllowedTokens(tx, subscription_id, ['any' as WorkerTokenId], nobody);
    await insertSubscription(tx, {
      ...{ application_uid: uid, account_id: id, subscription_id: 'any', state: 'active' },
      ...{ partner_id: id, partner_name: 'Any name', app_title: 'Any title', created_at: 1 },
    });
  });
}
/** Stores a graph of the run, and the row of a child, which only a run with access to the API can create. */
async function addWorkflow(run: RunId): Promise<void> {
  const params = { application_id: 'app', run_id: run };
  const body = { pipeline_graph: { steps: [], nodes: [] } };
  await server.client.call('updateRunFlow', { params, body });
  const row = { parent_run_id: run, fingerprint: 'any', occurrence: 1, run_id: run, fence: 1 };
  await server.runningServer.database.transact((tx) => tx.insertInto('run_children').values(row).execute());
}
/** Makes all jobs run now. */
const activate = (): Promise<void> => server.restart();

test('after the deletion of an application no row and no blob remains', async () => {
  await start();
  await pushApp(server, 'app', { ...APP, 'data.txt': `${LARGE_TEXT}2` });
  await createSecrets();
  const upload = await uploadContent(server, 'app', JSON.stringify({ text: LARGE_TEXT }));
  await uploadContent(server, 'app', 'never used');
  const params = { application_id: 'app' };
  const unfinished = (await server.client.call('createRunUpload', { params })).body.upload_url;
  const part = { token: null, body: LARGE_TEXT, headers: { 'upload-offset': '0' } };
  expectStatus(await server.request('PATCH', unfinished, part), 204);
  await server.client.call('createRunUpload', app);
  const done = await createRunAndWait(server, 'app', { body: { upload_id: upload } });
  expect(done.status_v2).toBe('succeeded');
  await server.client.call('createInput', { ...app, body: { id: 'kept', name: 'Kept', run_id: done.id } });
  expectStatus(await server.request('POST', `/v1/applications/app/runs/${done.id}/replay`), 202);
  const tags = { tags: ['reference'] };
  expectStatus(await server.request('PUT', `/v1/applications/app/runs/${done.id}/tags`, { body: tags }), 200);
  const shares = `/v1/applications/app/runs/${done.id}/shares`;
  expectStatus(await server.request('POST', shares, { body: { parts: ['log'] } }), 201);
  const view = { name: 'All', table: {} };
  await server.client.call('createRunView', { params: { application_id: 'app' }, body: view });
  await publishAndSubscribe();
  await addWorkflow(done.id as RunId);
  await server.client.call('setApplicationQuotas', {
    ...app,
    body: { concurrent_runs: 8, core_hours_per_month: null },
  });
  const policy = { keep_days: 3650 };
  expectStatus(await server.request('PUT', '/v1/applications/app/retention', { body: policy }), 200);
  const rule = { id: 'r', statistics_path: 'x', objective: 'minimize' as const, index: 0 };
  await server.client.call('createEnsemble', {
    ...app,
    body: {
      id: 'best',
      name: 'The best',
      run_groups: [{ id: 'g', instance_id: 'latest', repetitions: 2 }],
      rules: [rule],
    },
  });
  const ensemble = { run_type: { type: 'ensemble', definition_id: 'best' } };
  await createRunAndWait(server, 'app', { input: {}, body: { configuration: ensemble } });
  await server.client.call('createInputSet', {
    ...app,
    body: { id: 'set', name: 'A set', run_ids: [done.id] },
  });
  await createBatchExperiment(server, 'app', { id: 'over', input_set_id: 'set', instance_ids: ['i1'] });
  const [traced] = (await waitForBatchEnd(server, 'app', 'over')).runs;
  await remove(`app/runs/${traced?.id}`);
  expectStatus(
    await server.request('POST', '/v1/applications/app/experiments/acceptance', {
      body: {
        name: 'Accepted',
        control: { instance_id: 'i1' },
        candidate: { instance_id: 'latest' },
        metrics: [
          {
            field: 'result.value',
            statistic: 'mean',
            metric_type: 'direct-comparison',
            params: { operator: 'le' },
          },
        ],
        input_set_id: 'set',
      },
    }),
    201,
  );
  const external = { run_type: { type: 'external' } };
  await server.request('POST', '/v1/applications/app/runs', {
    body: { input: { n: LARGE_TEXT }, configuration: external },
    headers: { 'idempotency-key': 'once' },
  });
  await startRunning('app', 'i1');
  await startRunning();
  await startOnlineTest(server, 'app', 'shadow', { id: 'noted', baseline: 'i1', candidate: 'latest' });
  await createRun(server, 'app', { instance: 'i1', input: { waits: true, text: LARGE_TEXT } });
  const sides = [{ instance_id: 'i1' }, { ensemble_id: 'best' }];
  await createBatchExperiment(server, 'app', { input_set_id: 'set', runs: sides, features: ['bytes'] });
  await planAndRoute(done.id as RunId);
  await createOnlineTests();
  const hook = await createPendingDelivery(server);
  const before = await countRowsByTable(server);
  const empty = Object.keys(before).filter((name) => before[name] === 0 && !RETAINED_TABLES.includes(name));
  // A new table needs a row above, so that this test proves its deletion.
  expect(empty).toEqual([]);
  expect(listBlobs(server).length).toBeGreaterThan(4);

  await remove('app');
  expectError(await server.request('GET', '/v1/applications/app'), 404);
  expectStatus(await server.request('DELETE', `/v1/webhooks/${hook}`), 204);
  // Events and stored responses have a retention time.
  await expect.poll(countRemaining).toEqual({
    answers: before.answers,
    run_events: expect.any(Number),
  });
  clock.advance(8 * DAY_MS);
  await activate();
  await expect.poll(countRemaining).toEqual({});
  await expect.poll(() => listBlobs(server)).toEqual([]);
});

test('the deletion of a run removes its own content alone', async () => {
  await start();
  const done = await createRunAndWait(server, 'app', { instance: 'i1', input: { text: LARGE_TEXT } });
  const waiting = await startRunning('app', 'i1');
  const blobs = listBlobs(server).length;
  await remove(`app/runs/${done.id}`);
  expectError(await read(done.id), 404);
  // Input, output and asset of the ended run.
  expect(listBlobs(server)).toHaveLength(blobs - 3);
  await remove(`app/runs/${waiting}`);
  const rows = await countRowsByTable(server);
  expect([rows.runs, rows.assets, rows.log_chunks]).toEqual([0, 0, 0]);
  // The archive has two rows: that of the executable and, for a day, that of the upload.
  expect(rows.contents).toBe(2);
});

test('the deletion of a run removes more log lines than one transaction can', async () => {
  await start();
  const run = await createRunAndWait(server, 'app', { input: {} });
  const row = { run_id: run.id as never, at: clock.now(), lines: '[]', lines_so_far: 0, chars_so_far: 0 };
  await server.runningServer.database.transact(async (tx) => {
    for (let seq = 100; seq < 1300; seq += 1)
      await tx
        .insertInto('log_chunks')
        .values({ ...row, seq })
        .execute();
  });
  await remove(`app/runs/${run.id}`);
  expect((await countRowsByTable(server)).log_chunks).toBe(0);
});

describe('deletion during use', () => {
  test('of an application refuses an upload under way, which leaves nothing', async () => {
    await start();
    const { body } = await server.client.call('createRunUpload', { params: { application_id: 'app' } });
    const { pathname, search } = new URL(body.upload_url);
    const socket = await openSocket(server.url);
    const part = 'x'.repeat(100_000);
    socket.write(
      `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n${part}`,
    );
    const blobs = listBlobs(server).length;
    await expect.poll(() => listBlobs(server).length).toBe(blobs + 1);
    await remove('app');
    await expect.poll(async () => (await countRowsByTable(server)).applications).toBe(0);
    const response = readResponse(socket);
    socket.write(part);
    expect((await response).status).toBe(404);
    const { contents, uploads } = await countRowsByTable(server);
    expect([contents, uploads]).toEqual([0, 0]);
    await expect.poll(() => listBlobs(server)).toEqual([]);
    expectStatus(await server.request('PUT', body.upload_url, { token: null, body: 'late' }), 404);
  });

  test('of an application refuses or removes resources of concurrent requests', async () => {
    await start();
    const path = '/v1/applications/app';
    const responses = await Promise.all([
      ...Array.from({ length: 10 }, () => server.request('POST', `${path}/runs`, { body: { input: {} } })),
      server.request('DELETE', path),
      ...Array.from({ length: 10 }, () => server.request('POST', `${path}/runs/uploadurl`)),
      ...Array.from({ length: 10 }, () => server.request('GET', `${path}/binary`)),
      ...Array.from({ length: 10 }, () =>
        server.request('POST', `${path}/versions`, { body: { name: 'Any name' } }),
      ),
    ]);
    for (const response of responses)
      expect([200, 201, 202, 204, 404], response.text).toContain(response.status);
    // Events stay for a week; there are some when a run was created before the deletion.
    const countWithoutEvents = async () => ({ ...(await countRemaining()), run_events: 0 });
    await expect.poll(countWithoutEvents).toEqual({ run_events: 0 });
  });
});

describe('retention times', () => {
  test('are a day for log lines, responses and uploads, and a week for events', async () => {
    await start();
    const countRetained = async () => {
      const { answers, uploads, log_chunks, run_events } = await countRowsByTable(server);
      return { answers, uploads, log_chunks, run_events };
    };
    await server.request('POST', '/v1/applications/app/runs', {
      body: { input: {} },
      headers: { 'idempotency-key': 'once' },
    });
    await createRunAndWait(server, 'app', { input: {} });
    await expect.poll(async () => (await countRetained()).run_events).toBe(6);
    const before = await countRetained();
    expect(before).toEqual({ answers: 1, uploads: 1, log_chunks: 2, run_events: 6 });
    clock.advance(DAY_MS - 60_000);
    await activate();
    // The clean-up jobs run at the start, so they have run by the end of another run.
    await createRunAndWait(server, 'app', { input: {} });
    expect(await countRetained()).toMatchObject({ answers: 1, uploads: 1, log_chunks: 3, run_events: 9 });
    clock.advance(120_000);
    await activate();
    await expect.poll(countRetained).toEqual({ answers: 0, uploads: 0, log_chunks: 0, run_events: 9 });
    clock.advance(6 * DAY_MS);
    await activate();
    await expect.poll(countRetained).toEqual({ answers: 0, uploads: 0, log_chunks: 0, run_events: 3 });
  });

  test('apply to more stored responses than one transaction removes', async () => {
    await start();
    const { database } = server.runningServer;
    const account_id = (await server.client.call('getAccount')).body.id as never;
    const row = { account_id, fingerprint: 'f', status: 200, body: null, created_at: clock.now() };
    await database.transact(async (tx) => {
      for (let n = 0; n < 1200; n += 1)
        await tx
          .insertInto('answers')
          .values({ ...row, idempotency_key: `key-${n}` })
          .execute();
    });
    clock.advance(DAY_MS + 1);
    await activate();
    await expect.poll(async () => (await countRowsByTable(server)).answers).toBe(0);
  });
});
