/** Executables go when nothing uses them any more, and never before. */
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { lockExecutable } from '../applications/executables-store.ts';
import { Contents } from '../blobs/contents.ts';
import { openDiskBlobs } from '../blobs/disk.ts';
import { systemClock } from '../clock.ts';
import { createMetrics } from '../http/metrics.ts';
import { createLog } from '../log.ts';
import { systemRandom } from '../random.ts';
import { resolveInstance } from '../runs/submit/resolve-instance.ts';
import { submitStandard } from '../runs/submit/submit.ts';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../testing/fixtures/apps.ts';
import { expectStatus } from '../testing/fixtures/resources.ts';
import { countRowsByTable, listBlobs } from '../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';
import { insertVersion } from '../versions/store.ts';
import { INTERVAL_MS, removeUnusedExecutablesJob } from './unused-executables.ts';

const HOUR_MS = 60 * 60 * 1000;

let server: TestServer;
let shift = 0;
afterEach(() => server.close());

async function start(env: Record<string, string> = {}): Promise<void> {
  shift = 0;
  server = await startTestServer({
    env: { SWITCHYARD_CAPACITY: '1', ...env },
    // Only this job runs all the time: on a clock that leaps, other jobs would remove a blob that was just written.
    clock: {
      ...systemClock,
      now: () => Date.now() + shift,
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
const executables = () =>
  server.runningServer.database.read.selectFrom('executables').selectAll().orderBy('id').execute();
const archives = async (): Promise<boolean[]> =>
  (await executables()).map((one) => one.archive_removed_at === null);
/** Until what is unused has been noted, and an hour on. */
async function pass(unused: number): Promise<void> {
  await expect
    .poll(async () => (await executables()).filter((one) => one.unused_since !== null).length)
    .toBe(unused);
  shift += HOUR_MS + 1;
}
test('the archive of an executable that was replaced goes after an hour, and the rest with the last run of it', async () => {
  await start();
  await push('a');
  const run = await createRunAndWait(server, 'app', { input: {}, body: { options: { key: 'treasure' } } });
  await push('b');
  expect(await archives()).toEqual([true, true]);
  await expect.poll(async () => (await executables())[0]?.unused_since).not.toBeNull();
  shift += HOUR_MS - 1000;
  await push('c');
  await pass(2);
  await expect.poll(archives).toEqual([false, true]);
  // Of the run everything is known that was, and which of its options are hidden.
  const { token } = await server.createKey('viewer');
  const seen = await server.request('GET', `/v1/applications/app/runs/${run.id}/metadata`, { token });
  expectStatus(seen, 200);
  expect(seen.text).not.toContain('treasure');
  expect((await server.request('GET', `/v1/applications/app/runs/${run.id}`)).text).toContain('treasure');
  expectStatus(await server.request('DELETE', `/v1/applications/app/runs/${run.id}`), 204);
  await expect.poll(archives).toEqual([true]);
  expect((await createRunAndWait(server, 'app', { input: {} })).output).toEqual({ mark: 'c' });
});

test('one that a version, a queued or a running run uses stays, and goes when they have', async () => {
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
  await pass(1);
  // a by the version, b by what runs, c by what waits, d by nothing, e because it is active.
  await expect.poll(async () => (await executables()).length).toBe(4);
  expect(await archives()).toEqual([true, true, true, true]);
  expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${runs}/cancel`), 204);
  expect((await waitForRunEnd(server, 'app', waits)).output).toEqual({ mark: 'c' });
  expectStatus(await server.request('DELETE', '/v1/applications/app/versions/v1'), 204);
  await pass(3);
  await expect.poll(archives).toEqual([false, false, true]);
});

test('the blob goes with the archive once the upload is forgotten too', async () => {
  await start();
  await push('a');
  await push('b');
  await pass(1);
  await expect.poll(async () => (await executables()).length).toBe(1);
  expect(listBlobs(server)).toHaveLength(2);
  shift += 24 * HOUR_MS;
  await server.restart();
  await expect.poll(() => listBlobs(server).length).toBe(1);
  expect((await createRunAndWait(server, 'app', { input: {} })).output).toEqual({ mark: 'b' });
});

test('whatever is pushed, made and run at once, nothing that can be executed is without its archive', async () => {
  // The class of the runs has no slot: they stay queued.
  await start({ SWITCHYARD_CAPACITY: '16c60gb12h=1,0' });
  await push('a');
  const path = '/v1/applications/app';
  let pushing = true;
  const until = async (work: () => Promise<void>): Promise<void> => {
    while (pushing) await work();
  };
  const expectTaken = (answer: { status: number; text: string }, status: number): void => {
    if (answer.status === 400) expect(answer.text).toContain('was replaced and removed meanwhile');
    else expect(answer.status, answer.text).toBe(status);
  };
  await Promise.all([
    (async () => {
      for (let round = 0; round < 12; round += 1) {
        await push(String.fromCharCode(98 + round));
        shift += 2 * HOUR_MS;
      }
      pushing = false;
    })(),
    until(async () =>
      expectTaken(await server.request('POST', `${path}/runs`, { body: { input: {} } }), 202),
    ),
    until(async () =>
      expectTaken(await server.request('POST', `${path}/versions`, { body: { name: 'Any name' } }), 201),
    ),
  ]);
  const { read } = server.runningServer.database;
  const kept = new Set(
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
  expect(named.filter((row) => !kept.has(row.executable_id))).toEqual([]);
});

test('of one that begins to be used while it is removed either the use or the removal is in time', async () => {
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
  await expect.poll(async () => (await executables())[0]?.unused_since).not.toBeNull();
  // The removal is due, and comes upon the row while it is held.
  await database.transact(async (tx) => {
    expect(await lockExecutable(tx, first.id)).toBe(true);
    await insertVersion(tx, version);
    shift += HOUR_MS + 1;
    // Time for the job, which runs every 20 ms, to reach the row and wait for its lock.
    for (let asked = 0; asked < 200; asked += 1) expectStatus(await server.request('GET', '/healthz'), 200);
  });
  await expect.poll(async () => (await executables())[0]?.unused_since).toBeNull();
  expect(await archives()).toEqual([true, true]);
  expectStatus(await server.request('DELETE', '/v1/applications/app/versions/late'), 204);
  await pass(1);
  await expect.poll(async () => (await executables()).length).toBe(1);
  expect(await database.transact((tx) => lockExecutable(tx, first.id))).toBe(false);
});

test('a run that was about to be made of one that is removed meanwhile is refused, and leaves nothing', async () => {
  await start();
  await push('a');
  const { database } = server.runningServer;
  const application = await database.read.selectFrom('applications').selectAll().executeTakeFirstOrThrow();
  const target = await resolveInstance(database.read, application, undefined);
  await push('b');
  await pass(1);
  await expect.poll(async () => (await executables()).length).toBe(1);
  const clock = systemClock;
  const random = systemRandom;
  const blobs = await openDiskBlobs(join(server.dataFolder, 'blobs'));
  const contents = new Contents({ database, blobs, clock, random });
  const before = await countRowsByTable(server);
  const asked = {
    application,
    target,
    email: '',
    name: '',
    description: '',
    options: null,
    configuration: {},
    input: () => contents.prepare(Buffer.from('{}')),
  };
  await expect(
    submitStandard(
      { database, clock, random, store: (work, options) => database.transact(work, options) },
      asked,
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
