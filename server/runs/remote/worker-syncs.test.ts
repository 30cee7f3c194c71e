/** Syncs of workers: those that end while the server claims a run, and many that wait at the same time. */
import type { WorkerJob } from '@switchyard/contract/workers/job-schemas.ts';
import { SYNC_WAIT_MS } from '@switchyard/contract/workers/worker-protocol.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { buildEnd, type FakeWorker, registerFakeWorker } from '../../testing/fixtures/fake-worker.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';

const RUNS = 40;
/** The memory for requests at work suffices for 256 other requests of one member (server/platform/http/limits/request-memory.ts). */
const WAITING_WORKERS = 260;
/** As long as a claim takes, so that some waits end during one. */
const WAIT_MS = 2;
/** Each sync claims, too, so that the first after the creation should have the run; the others are for a slow machine. */
const SYNCS_MAX = 20;

let server: TestServer;
let token: string;
let worker: FakeWorker;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0' } });
  await pushApp(server, 'app', nodeApp('async (input) => input'));
  token = (await createWorkerToken(server)).token;
  worker = await registerFakeWorker(server, token);
});
afterAll(() => server.close());

test('a run that is claimed while a sync ends is sent by a sync after it', async () => {
  const sync = async (): Promise<WorkerJob | undefined> => (await worker.sync({ wait_ms: WAIT_MS })).jobs[0];
  for (let count = 0; count < RUNS; count += 1) {
    let isCreated = false;
    const creation = createRun(server, 'app', { input: {} }).finally(() => {
      isCreated = true;
    });
    let job: WorkerJob | undefined;
    while (!isCreated && !job) job = await sync();
    const id = await creation;
    for (let syncs = 0; syncs < SYNCS_MAX && !job; syncs += 1) job = await sync();
    expect(job?.run_id).toBe(id);
    if (job) await worker.send(job, 'end', buildEnd({}));
  }
});

test('more waiting workers of a token than a member may have requests at work do not delay the end of a run', async () => {
  await createRun(server, 'app', { input: {} });
  const job = await worker.awaitJob();
  const waiting = await Promise.all(
    Array.from({ length: WAITING_WORKERS }, (_, index) =>
      registerFakeWorker(server, token, { folder_id: `waiting-${index}` }),
    ),
  );
  let isAnyEnded = false;
  const syncs = waiting.map(async (one) => {
    await one.sync({ wait_ms: SYNC_WAIT_MS });
    isAnyEnded = true;
  });
  const end = await worker.send(job, 'end', buildEnd({}));
  expect(end).toMatchObject({ status: 200, body: { stored: true } });
  expect(isAnyEnded).toBe(false);
  // Another sync of a worker ends the one before.
  await Promise.all(waiting.map((one) => one.sync({ wait_ms: 1 })));
  await Promise.all(syncs);
});
