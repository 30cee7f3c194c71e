/** Heartbeats, shutdown and death of workers, and the requeue of their runs. */
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { computeClassCapacity } from './slots.ts';
import { DeadWorkerDetector, listActiveWorkers } from './workers.ts';

const LEASE_MS = 30_000;

let shift = 0;
/** The factor by which time passes faster, and its start. */
let speed = 1;
let since = 0;
const now = (): number => since + (Date.now() - since) * speed + shift;
let server: TestServer;
afterEach(async () => {
  shift = 0;
  speed = 1;
  await server.close();
});

async function start(): Promise<void> {
  server = await startTestServer({
    env: { SWITCHYARD_CAPACITY: '1' },
    clock: {
      ...systemClock,
      now,
      elapsed: now,
      after: (ms, callback) => systemClock.after(ms / speed, callback),
    },
  });
  await pushApp(
    server,
    'app',
    nodeApp(`(input) => {
      console.error('started by ' + process.pid);
      return new Promise((resolve) => setTimeout(() => resolve({ pid: process.pid }), input.ms));
    }`),
  );
}

async function insertWorker(id: string, heartbeat: number): Promise<void> {
  await server.runningServer.database.transact((tx) =>
    tx
      .insertInto('workers')
      .values({
        id,
        folder_id: `folder of ${id}`,
        capacity: '{"shared":1,"own":{}}',
        heartbeat_at: heartbeat,
        ...{ host: '', version: '', started_at: 0, kind: 'process', containment: 'limits' },
      })
      .execute(),
  );
}

const listWorkerIds = async (): Promise<string[]> =>
  (await server.runningServer.database.read.selectFrom('workers').select('id').orderBy('id').execute()).map(
    (row) => row.id,
  );

/** Writes the claim of a queued run by another worker. */
async function claimForWorker(worker: string, run: string): Promise<void> {
  await server.runningServer.database.transact((tx) =>
    tx
      .updateTable('runs')
      .set({ status: 'running', worker_id: worker, attempt: 1, fence: 1, initiated_at: now() })
      .where('id', '=', run as never)
      .execute(),
  );
}

async function queuedBehind(blocker: string): Promise<string> {
  await waitForLogLine(server, 'app', blocker, 'started');
  return createRun(server, 'app', { input: { ms: 0 } });
}

test('W2: a worker without heartbeats loses its runs, and another worker executes them', async () => {
  await start();
  since = Date.now();
  speed = 20;
  const run = await queuedBehind(await createRun(server, 'app', { input: { ms: 2000 } }));
  await insertWorker('worker-gone', now() - LEASE_MS - 1);
  await claimForWorker('worker-gone', run);
  const found = await waitForRunEnd(server, 'app', run);
  expect(found).toMatchObject({ status_v2: 'succeeded', metadata: { attempt: 2 } });
  const { lost_attempts: lost = [] } = found.metadata;
  expect(lost).toHaveLength(1);
  // The clock of the test turns back when its speed changes, so the times have no other order.
  expect(Date.parse(lost[0]?.finished_at ?? '')).toBeGreaterThanOrEqual(since);
  expect(await listWorkerIds()).not.toContain('worker-gone');
});

test('a registered worker keeps its runs', async () => {
  await start();
  const run = await queuedBehind(await createRun(server, 'app', { input: { ms: 2000 } }));
  await insertWorker('worker-elsewhere', Date.now() + LEASE_MS);
  await claimForWorker('worker-elsewhere', run);
  await server.restart();
  // The check for orphaned runs at the start comes before the execution of this run.
  await waitForRunEnd(server, 'app', await createRun(server, 'app', { input: { ms: 0 } }));
  const { body } = await server.client.call('getRunMetadata', {
    params: { application_id: 'app', run_id: run },
  });
  expect(body).toMatchObject({ status_v2: 'running', metadata: { attempt: 1 } });
});

test('a worker that died with its clock ahead loses its runs after one lease, not at that later time', async () => {
  await start();
  since = Date.now();
  speed = 20;
  const run = await queuedBehind(await createRun(server, 'app', { input: { ms: 2000 } }));
  await insertWorker('worker-ahead', now() + 60 * LEASE_MS);
  await claimForWorker('worker-ahead', run);
  const found = await waitForRunEnd(server, 'app', run);
  expect(found).toMatchObject({ status_v2: 'succeeded', metadata: { attempt: 2 } });
});

test('a worker with a recent heartbeat stays active, however far the clock jumps between two checks', async () => {
  let [time, elapsed] = [Date.now(), 0];
  server = await startTestServer();
  const { database } = server.runningServer;
  const detector = new DeadWorkerDetector(database, {
    ...systemClock,
    now: () => time,
    elapsed: () => elapsed,
  });
  await insertWorker('worker-elsewhere', time);
  for (const jump of [5, 10, 15]) {
    time += jump * LEASE_MS;
    elapsed += 1000;
    expect(await detector.removeDead()).not.toContain('worker-elsewhere');
  }
  elapsed += LEASE_MS;
  expect(await detector.removeDead()).toContain('worker-elsewhere');
});

test('a worker whose machine was suspended for an hour is not dead, and its runs continue', async () => {
  await start();
  const run = await createRun(server, 'app', { input: { ms: 1500 } });
  await waitForLogLine(server, 'app', run, 'started');
  shift = 60 * 60 * 1000;
  server.runningServer.database.notify('workers-changed');
  const found = await waitForRunEnd(server, 'app', run);
  expect(found).toMatchObject({ status_v2: 'succeeded', metadata: { attempt: 1 } });
});

test('a worker without the lease cannot write the end of the run, nor its log', async () => {
  await start();
  const run = await createRun(server, 'app', { input: { ms: 700 } });
  await waitForLogLine(server, 'app', run, 'started');
  const { database } = server.runningServer;
  // The run has been requeued and claimed again, so its fencing token is higher.
  await insertWorker('worker-elsewhere', Date.now() + LEASE_MS);
  await database.transact((tx) =>
    tx
      .updateTable('runs')
      .set({ worker_id: 'worker-elsewhere', attempt: 2, fence: 2 })
      .where('id', '=', run as never)
      .execute(),
  );
  const other = await createRun(server, 'app', { input: { ms: 0 } });
  await waitForRunEnd(server, 'app', other);
  const { body } = await server.client.call('getRun', { params: { application_id: 'app', run_id: run } });
  expect(body).toMatchObject({ status_v2: 'running', metadata: { attempt: 2 } });
  expect(body).not.toHaveProperty('output');
  const events = await database.read
    .selectFrom('run_events')
    .select('status')
    .where('run_id', '=', run as never)
    .orderBy('seq')
    .execute();
  expect(events.map((event) => event.status)).toEqual(['queued', 'running']);
});

test('a worker that stops offers no slot while it ends its runs', async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '2' } });
  await pushApp(
    server,
    'app',
    nodeApp(`() => new Promise((resolve) => {
      process.on('SIGTERM', () => setTimeout(() => process.exit(0), 500));
      console.error('started');
      setInterval(() => {}, 1000);
    })`),
  );
  await waitForLogLine(server, 'app', await createRun(server, 'app'), 'started');
  const { database } = server.runningServer;
  const slots = async (): Promise<number> =>
    computeClassCapacity(await listActiveWorkers(database.read, Date.now()), '6c9500mb870s').slots;
  expect(await slots()).toBe(2);
  const closed = server.runningServer.close();
  await expect.poll(slots, { interval: 20 }).toBe(0);
  await closed;
});
