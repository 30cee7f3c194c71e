/** The clean-up removes executables when nothing uses them any more, and never before. */
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { lockExecutable } from '../../apps/applications/executables-store.ts';
import { insertVersion } from '../../apps/versions/store.ts';
import { Contents } from '../../platform/blobs/contents.ts';
import { openDiskBlobs } from '../../platform/blobs/disk.ts';
import { systemClock } from '../../platform/clock.ts';
import { createMetrics } from '../../platform/http/metrics.ts';
import { createLog } from '../../platform/log.ts';
import { systemRandom } from '../../platform/random.ts';
import { resolveInstance } from '../../runs/submit/resolve-instance.ts';
import { submitStandard } from '../../runs/submit/submit.ts';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { countRowsByTable, listBlobs } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { INTERVAL_MS, removeUnusedExecutablesJob } from './unused-executables.ts';

const HOUR_MS = 60 * 60 * 1000;

let server: TestServer;
let shiftMs = 0;
afterEach(() => server.close());

async function start(env: Record<string, string> = {}): Promise<void> {
  shiftMs = 0;
  server = await startTestServer({
    env: { SWITCHYARD_CAPACITY: '1', ...env },
    // Shortens the interval of this job alone: after a jump of the clock, other jobs would remove a new blob.
    clock: {
      ...systemClock,
      now: () => Date.now() + shiftMs,
      after: (ms, callback) => systemClock.after(ms === INTERVAL_MS ? 20 : ms, callback),
    },
  });
}

const HIDING = {
  options: { items: [{ name: 'key', option_type: 'string', ui: { hidden_from: ['viewer'] } }] },
};
const push = (mark: string) =>
  pushApp(
    server,
    'app',
    {
      ...nodeApp(`(input) => {
        console.error('started');
        if (input?.waits) { setInterval(() => {}, 1000); return new Promise(() => process.on('SIGTERM', () => process.exit(0))); }
        return { mark: '${mark}' };
      }`),
      'data.txt': mark.repeat(100_000),
    },
    HIDING as never,
  );
const listExecutables = () =>
  server.runningServer.database.read.selectFrom('executables').selectAll().orderBy('id').execute();
const listArchives = async (): Promise<boolean[]> =>
  (await listExecutables()).map((one) => one.archive_removed_at === null);
/** Waits until the job has marked this many executables as unused, then advances the clock by an hour. */
async function waitUntilDue(unused: number): Promise<void> {
  await expect
    .poll(async () => (await listExecutables()).filter((one) => one.unused_since !== null).length)
    .toBe(unused);
  shiftMs += HOUR_MS + 1;
}
test('the archive of a replaced executable is removed after an hour, and its row with its last run', async () => {
  await start();
  await push('a');
  const run = await createRunAndWait(server, 'app', { input: {}, body: { options: { key: 'treasure' } } });
  await push('b');
  expect(await listArchives()).toEqual([true, true]);
  await expect.poll(async () => (await listExecutables())[0]?.unused_since).not.toBeNull();
  shiftMs += HOUR_MS - 1000;
  await push('c');
  await waitUntilDue(2);
  await expect.poll(listArchives).toEqual([false, true]);
  // The run is still complete, and the hidden option stays hidden.
  const { token } = await server.createKey('viewer');
  const seen = await server.request('GET', `/v1/applications/app/runs/${run.id}/metadata`, { token });
  expectStatus(seen, 200);
  expect(seen.text).not.toContain('treasure');
  expect((await server.request('GET', `/v1/applications/app/runs/${run.id}`)).text).toContain('treasure');
  expectStatus(await server.request('DELETE', `/v1/applications/app/runs/${run.id}`), 204);
  await expect.poll(listArchives).toEqual([true]);
  expect((await createRunAndWait(server, 'app', { input: {} })).output).toEqual({ mark: 'c' });
});

test('an executable stays while a version, a queued or a running run uses it', async () => {
  await start();
  await push('a');
  const params = { application_id: 'app' };
  await server.client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
  await push('b');
  const runs = await createRun(server, 'app', { input: { waits: true } });
  await waitForLogLine(server, 'app', runs, 'started');
  await push('c');
  const waits = await createRun(server, 'app', { input: {} });
  await push('d');
  await push('e');
  await waitUntilDue(1);
  // The version uses a, the running run b, the queued run c, nothing d; e is active.
  await expect.poll(async () => (await listExecutables()).length).toBe(4);
  expect(await listArchives()).toEqual([true, true, true, true]);
  expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${runs}/cancel`), 204);
  expect((await waitForRunEnd(server, 'app', waits)).output).toEqual({ mark: 'c' });
  expectStatus(await server.request('DELETE', '/v1/applications/app/versions/v1'), 204);
  await waitUntilDue(3);
  await expect.poll(listArchives).toEqual([false, false, true]);
});

test('the blob is removed with the archive once the upload has expired too', async () => {
  await start();
  await push('a');
  await push('b');
  await waitUntilDue(1);
  await expect.poll(async () => (await listExecutables()).length).toBe(1);
  expect(listBlobs(server)).toHaveLength(2);
  shiftMs += 24 * HOUR_MS;
  await server.restart();
  await expect.poll(() => listBlobs(server).length).toBe(1);
  expect((await createRunAndWait(server, 'app', { input: {} })).output).toEqual({ mark: 'b' });
});

test('concurrent pushes, versions and runs never use an executable without its archive', async () => {
  // The class of the runs has no slot: they stay queued.
  await start({ SWITCHYARD_CAPACITY: '16c60gb12h=1,0' });
  await push('a');
  const path = '/v1/applications/app';
  let pushing = true;
  const until = async (work: () => Promise<void>): Promise<void> => {
    while (pushing) await work();
  };
  const expectAccepted = (response: { status: number; text: string }, status: number): void => {
    if (response.status === 400) expect(response.text).toContain('was replaced and removed meanwhile');
    else expect(response.status, response.text).toBe(status);
  };
  await Promise.all([
    (async () => {
      for (let round = 0; round < 12; round += 1) {
        await push(String.fromCharCode(98 + round));
        shiftMs += 2 * HOUR_MS;
      }
      pushing = false;
    })(),
    until(async () =>
      expectAccepted(await server.request('POST', `${path}/runs`, { body: { input: {} } }), 202),
    ),
    until(async () =>
      expectAccepted(await server.request('POST', `${path}/versions`, { body: { name: 'Any name' } }), 201),
    ),
  ]);
  const { read } = server.runningServer.database;
  const withArchive = new Set(
    (
      await read
        .selectFrom('executables')
        .innerJoin('contents', 'contents.id', 'executables.content_id')
        .select('executables.id')
        .where('archive_removed_at', 'is', null)
        .execute()
    ).map((row) => row.id),
  );
  const named = [
    ...(await read.selectFrom('versions').select('executable_id').execute()),
    ...(await read.selectFrom('runs').select('executable_id').execute()),
  ];
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((row) => !withArchive.has(row.executable_id))).toEqual([]);
});

test('of a concurrent use and removal either the use or the removal succeeds', async () => {
  await start();
  await push('a');
  await push('b');
  const { database } = server.runningServer;
  const first = await database.read
    .selectFrom('executables')
    .selectAll()
    .orderBy('id')
    .executeTakeFirstOrThrow();
  const version = {
    application_uid: first.application_uid,
    id: 'late' as never,
    name: 'Late',
    description: '',
    executable_id: first.id,
    created_at: 0,
    updated_at: 0,
  };
  await expect.poll(async () => (await listExecutables())[0]?.unused_since).not.toBeNull();
  // The removal is due, and meets the row while it is locked.
  await database.transact(async (tx) => {
    expect(await lockExecutable(tx, first.id)).toBe(true);
    await insertVersion(tx, version);
    shiftMs += HOUR_MS + 1;
    // Time for the job, which runs every 20 ms, to reach the row and wait for its lock.
    for (let requests = 0; requests < 200; requests += 1)
      expectStatus(await server.request('GET', '/healthz'), 200);
  });
  await expect.poll(async () => (await listExecutables())[0]?.unused_since).toBeNull();
  expect(await listArchives()).toEqual([true, true]);
  expectStatus(await server.request('DELETE', '/v1/applications/app/versions/late'), 204);
  await waitUntilDue(1);
  await expect.poll(async () => (await listExecutables()).length).toBe(1);
  expect(await database.transact((tx) => lockExecutable(tx, first.id))).toBe(false);
});

test('a run of an executable that was removed meanwhile is refused and leaves nothing', async () => {
  await start();
  await push('a');
  const { database } = server.runningServer;
  const application = await database.read.selectFrom('applications').selectAll().executeTakeFirstOrThrow();
  const target = await resolveInstance(database.read, application, undefined);
  await push('b');
  await waitUntilDue(1);
  await expect.poll(async () => (await listExecutables()).length).toBe(1);
  const clock = systemClock;
  const random = systemRandom;
  const blobs = await openDiskBlobs(join(server.dataFolder, 'blobs'));
  const contents = new Contents({ database, blobs, clock, random });
  const before = await countRowsByTable(server);
  const runRequest = {
    application,
    target,
    email: '',
    key: null,
    name: '',
    description: '',
    options: null,
    configuration: {},
    input: () => contents.prepare(Buffer.from('{}')),
  };
  await expect(
    submitStandard(
      { database, clock, random, store: (work, options) => database.transact(work, options) },
      runRequest,
    ),
  ).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('was replaced and removed meanwhile'),
  });
  expect(await countRowsByTable(server)).toEqual(before);
});

test('the job does not fail on a server without executables', async () => {
  await start();
  const { database } = server.runningServer;
  const blobs = await openDiskBlobs(join(server.dataFolder, 'blobs'));
  const contents = new Contents({ database, blobs, clock: systemClock, random: systemRandom });
  const log = createLog('silent');
  const job = removeUnusedExecutablesJob({
    database,
    contents,
    clock: systemClock,
    log,
    metrics: createMetrics(),
  });
  await expect(job.runOnce()).resolves.not.toThrow();
});
