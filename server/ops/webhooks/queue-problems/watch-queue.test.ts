/** Webhooks for problems get one event when it begins and one when it ends. */
import type { QueueProblemInfo, WebhookEvent } from '@switchyard/contract/account/webhook-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMetrics } from '../../../platform/http/metrics.ts';
import { createLog } from '../../../platform/log.ts';
import { systemRandom } from '../../../platform/random.ts';
import { recordLostWorker } from '../../../runs/workers/lost-workers.ts';
import { createRun, nodeApp, pushApp } from '../../../testing/fixtures/apps.ts';
import { createWebhook } from '../../../testing/fixtures/webhooks.ts';
import { createManualClock } from '../../../testing/host/manual-clock.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../testing/http/webhook-receiver.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';
import { watchQueueJob } from './watch-queue.ts';

const WAITING_S = 600;
const STALLED_S = 100;
const clock = createManualClock(Date.UTC(2026, 10, 20, 8));
let server: TestServer;
let receiver: WebhookReceiver;

beforeAll(async () => {
  // No slot serves the default class, so every run waits.
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0,8c16gb12h=1' }, clock });
  await pushApp(server, 'app', nodeApp('() => ({})'));
  receiver = await startWebhookReceiver();
  await createWebhook(server, `${receiver.url}/problem`, { event_types: ['queue.trouble'] });
  await createWebhook(server, `${receiver.url}/runs`);
});
afterAll(async () => {
  await receiver.close();
  await server.close();
});

let seen = 0;
/** Returns the events of problems since the last call, by kind and sequence. */
async function readNewEvents(): Promise<(Pick<WebhookEvent, 'sequence'> & { data: QueueProblemInfo })[]> {
  const rows = await server.runningServer.database.read
    .selectFrom('webhook_events')
    .select('body')
    .where('body', 'like', '%"queue.trouble"%')
    .execute();
  const events: (Pick<WebhookEvent, 'sequence'> & { data: QueueProblemInfo; event_id: string })[] = rows.map(
    ({ body }) => JSON.parse(body),
  );
  const sorted = events.toSorted((one, other) => (one.event_id < other.event_id ? -1 : 1));
  const unread = sorted.slice(seen);
  seen = sorted.length;
  return unread;
}

const isoAt = (at: number): string => new Date(at).toISOString();

/** Advances the clock and checks twice at the same time, as two processes do. */
async function check(seconds = 0): Promise<void> {
  clock.advance(seconds * 1000);
  const { database } = server.runningServer;
  // The worker of the server sends heartbeats by real time.
  await database.transact((tx) => tx.updateTable('workers').set({ heartbeat_at: clock.now() }).execute());
  const job = () =>
    watchQueueJob({
      ...{ database, clock, random: systemRandom, log: createLog('silent'), metrics: createMetrics() },
      publicUrl: () => 'https://yard.example',
      problemThresholds: { waitingMs: WAITING_S * 1000, stalledMs: STALLED_S * 1000, hostFaults: 3 },
    }).runOnce();
  await Promise.all([job(), job()]);
}

const cancel = (run: string) => server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);

/** Writes faults of the host on a queued run. */
const setFaults = (run: string, host_faults: number) =>
  server.runningServer.database.transact((tx) =>
    tx
      .updateTable('runs')
      .set({ host_faults, host_fault: 'No space left on device.' })
      .where('id', '=', run as RunId)
      .execute(),
  );

beforeEach(async () => {
  expect(await readNewEvents()).toEqual([]);
});

test('a run that waits for too long sends one event, and another once it has stopped waiting', async () => {
  const since = isoAt(clock.now());
  const run = await createRun(server, 'app');
  await check(WAITING_S - 1);
  await check(1);
  await check(5);
  expect(await readNewEvents()).toEqual([]);
  await check(5);
  await check(10);
  const [begin, ...others] = await readNewEvents();
  expect(others).toEqual([]);
  expect(begin).toMatchObject({
    sequence: 1,
    data: {
      kind: 'run_waiting',
      status: 'begun',
      since,
      count: 1,
      run_ids: [run],
      worker_ids: [],
      console_url: 'https://yard.example/console/queue',
    },
  });
  await cancel(run);
  await check(10);
  const endedAt = isoAt(clock.now());
  await check(59);
  expect(await readNewEvents()).toEqual([]);
  await check(1);
  await check(300);
  expect(await readNewEvents()).toMatchObject([
    { sequence: 2, data: { ...begin?.data, status: 'ended', ended_at: endedAt } },
  ]);
  // The clock moves past the claim of a delivery under way, which is then sent again.
  const delivered = await receiver.until((all) => {
    const problems = all.filter(({ path }) => path.endsWith('/problem'));
    const ids = new Set(problems.map(({ event }) => event.event_id));
    return ids.size > 1 && ids;
  });
  expect(delivered.size).toBe(2);
});

test('a growing queue without a start stalls until it is empty, also when it grows no more', async () => {
  const run = await createRun(server, 'app');
  await check(STALLED_S);
  await check(10);
  expect(await readNewEvents()).toEqual([]);
  const next = await createRun(server, 'app');
  await check(1);
  await check(9);
  expect(await readNewEvents()).toMatchObject([
    { data: { kind: 'queue_stalled', status: 'begun', count: 2, run_ids: [run, next] } },
  ]);
  await check(2 * STALLED_S);
  expect(await readNewEvents()).toEqual([]);
  await cancel(run);
  await cancel(next);
  await check(10);
  await check(60);
  expect(await readNewEvents()).toMatchObject([{ data: { kind: 'queue_stalled', status: 'ended' } }]);
});

test('faults of the host on queued runs add up, and a pause shorter than a minute ends nothing', async () => {
  const runs = [await createRun(server, 'app'), await createRun(server, 'app')];
  const [first = '', second = ''] = runs;
  await setFaults(first, 2);
  await check(10);
  await check(10);
  expect(await readNewEvents()).toEqual([]);
  await setFaults(second, 1);
  await check(10);
  await check(10);
  const [begin] = await readNewEvents();
  expect(begin?.data).toMatchObject({ kind: 'host_faults', count: 2, run_ids: runs });
  expect(begin?.data.message).toContain('3 times');
  await setFaults(first, 0);
  await check(10);
  await setFaults(first, 5);
  await check(10);
  await check(60);
  expect(await readNewEvents()).toEqual([]);
  for (const run of runs) await cancel(run);
  await check(10);
  await check(60);
  expect(await readNewEvents()).toMatchObject([{ data: { id: begin?.data.id, status: 'ended' } }]);
});

test('a dead worker is lost until another worker starts', async () => {
  const { database } = server.runningServer;
  const heartbeat_at = clock.now();
  clock.advance(60_000);
  await database.transact((tx) =>
    recordLostWorker(tx, { id: 'worker-gone', heartbeat_at, lost_at: clock.now() }),
  );
  await check(1);
  await check(10);
  expect(await readNewEvents()).toMatchObject([
    {
      data: {
        kind: 'worker_lost',
        since: isoAt(heartbeat_at),
        count: 1,
        worker_ids: ['worker-gone'],
        console_url: 'https://yard.example/console/workers',
      },
    },
  ]);
  await database.transact((tx) => tx.updateTable('workers').set({ started_at: clock.now() }).execute());
  await check(10);
  await check(60);
  expect(await readNewEvents()).toMatchObject([{ data: { kind: 'worker_lost', status: 'ended' } }]);
});

test('a disabled webhook ends the checks without an event', async () => {
  const run = await createRun(server, 'app');
  await check(WAITING_S);
  await check(10);
  expect(await readNewEvents()).toHaveLength(1);
  const { database } = server.runningServer;
  await database.transact((tx) => tx.updateTable('webhooks').set({ disabled_at: clock.now() }).execute());
  await check(10);
  expect(await database.read.selectFrom('queue_problems').selectAll().execute()).toEqual([]);
  await cancel(run);
});
