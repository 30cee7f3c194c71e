/** The workers of a server through the API, and their drain. Several processes: scale-out.test.ts. */
import type { Worker } from '@switchyard/contract/workers/workers.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { deregisterWorker, listActiveWorkers, registerWorker } from '../workers/workers.ts';

/** Runs for a second. */
const APP = { 'main.sh': '#!/bin/sh\necho started >&2\nsleep 1\necho "{}"\n' };
const SHELL = { executable_type: 'binary', runtime: 'binary', entrypoint: 'main.sh' } as const;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    env: { SWITCHYARD_CAPACITY: '2,16c60gb12h=1', SWITCHYARD_LABELS: 'region=eu,gpu' },
  });
  await pushApp(server, 'app', APP, SHELL);
});
afterAll(() => server.close());

interface Body {
  items: Worker[];
  may_drain: boolean;
}
async function readWorkers(token = server.token): Promise<Body> {
  const response = await server.request('GET', '/v1/account/workers', { token });
  expectStatus(response, 200);
  return response.body as Body;
}
async function readWorker(): Promise<Worker> {
  const [worker] = (await readWorkers()).items;
  if (!worker) throw new Error('There is no worker.');
  return worker;
}
const drainPath = (worker: Worker) => `/v1/account/workers/${worker.id}/drain`;

describe('a worker', () => {
  test('has its slots, and the runs of the account that it executes', async () => {
    const run = await createRun(server, 'app');
    await waitForLogLine(server, 'app', run, 'started');
    const worker = await readWorker();
    expect(worker).toMatchObject({
      status: 'active',
      host: expect.stringMatching(/./),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      draining_since: null,
      kind: 'process',
      labels: ['gpu', 'region=eu'],
      cores: null,
      memory_bytes: null,
      other_runs: 0,
      runs: [{ run_id: run, application_id: 'app', execution_class: '6c9500mb870s' }],
    });
    expect(worker.slots.map(({ slots, busy }) => [slots, busy])).toEqual([
      [1, 0],
      [2, 1],
    ]);
    expect(worker.slots[0]?.execution_classes).toEqual(['16c60gb12h']);
    await waitForRunEnd(server, 'app', run);
    expect((await readWorker()).runs).toEqual([]);
  });

  test('that is drained finishes its runs and starts no other until the drain ends', async () => {
    const running = await createRun(server, 'app');
    await waitForLogLine(server, 'app', running, 'started');
    const worker = await readWorker();
    const { token } = await server.createKey('operator');
    const drained = await server.request('POST', drainPath(worker), { token });
    expectStatus(drained, 200);
    expect(drained.body).toMatchObject({ status: 'draining', runs: [{ run_id: running }] });
    const waiting = await createRun(server, 'app');
    expect(await waitForRunEnd(server, 'app', running)).toMatchObject({ status_v2: 'succeeded' });
    const again = await server.request('POST', drainPath(worker), { token });
    expect((again.body as Worker).draining_since).toBe((drained.body as Worker).draining_since);
    const { body } = await server.client.call('getQueue');
    expect(body.runs).toMatchObject([
      {
        id: waiting,
        status_v2: 'queued',
        waiting: { reason: 'no_worker', message: expect.stringContaining('(1 of 1 drains)') },
      },
    ]);
    expectStatus(await server.request('DELETE', drainPath(worker), { token }), 200);
    expect(await waitForRunEnd(server, 'app', waiting)).toMatchObject({ status_v2: 'succeeded' });
    expect(await readWorker()).toMatchObject({ status: 'active', draining_since: null });
  });

  test('is active again after a restart', async () => {
    const worker = await readWorker();
    expectStatus(await server.request('POST', drainPath(worker)), 200);
    await server.restart();
    const restarted = await readWorker();
    expect(restarted.status).toBe('active');
    expect(restarted.id).not.toBe(worker.id);
    expectError(await server.request('POST', drainPath(worker)), 404, worker.id);
  });

  test('without a heartbeat for 10 s is unresponsive', async () => {
    const { database } = server.runningServer;
    const row = { folder_id: 'elsewhere', capacity: '{"shared":1,"own":{}}' };
    await database.transact((tx) =>
      tx
        .insertInto('workers')
        .values({
          ...{ id: 'worker-old', ...row, heartbeat_at: Date.now() - 11_000 },
          ...{ host: '', version: '', started_at: 0, kind: 'process', containment: 'limits' },
        })
        .execute(),
    );
    const found = (await readWorkers()).items.find(({ id }) => id === 'worker-old');
    expect(found).toMatchObject({ status: 'unresponsive', started_at: '1970-01-01T00:00:00.000Z' });
    await database.transact((tx) => tx.deleteFrom('workers').where('id', '=', 'worker-old').execute());
  });
});

test('a remote worker shows what it offers', async () => {
  const { database } = server.runningServer;
  const offer = { labels: ['gpu'], resources: { cores: 1.5, memoryBytes: 2 ** 33 }, scope: null };
  const details = {
    host: 'node-7',
    version: '1.7.0',
    startedAt: Date.now(),
    capacity: { shared: 3, perClass: {} },
  };
  const worker = {
    ...{ id: 'worker-remote', folderId: 'worker-remote', kind: 'remote' as const, ...details, offer },
    ...{ scratchBytes: 2 ** 40, tokenId: 'token', jobId: null, containment: 'limits' as const },
  };
  await registerWorker(database, worker, Date.now());
  const visible = { kind: 'remote', labels: ['gpu'], cores: 1.5, memory_bytes: 2 ** 33 };
  const read = async () => (await readWorkers()).items.find(({ id }) => id === 'worker-remote');
  expect(await read()).toMatchObject(visible);
  const active = await listActiveWorkers(database.read, Date.now());
  expect(active.find(({ id }) => id === 'worker-remote')?.offer).toEqual(offer);
  await deregisterWorker(database, worker.id);
  expect(await read()).toBeUndefined();
});

test('a viewer sees workers and may not drain them', async () => {
  const { token } = await server.createKey('viewer');
  expect(await readWorkers(token)).toMatchObject({ may_drain: false });
  expect((await readWorkers()).may_drain).toBe(true);
});

test('an account beside others sees no host and no run of others, and may not drain', async () => {
  const other = await createOtherAccount(server, 'admin');
  const run = await createRun(server, 'app');
  await waitForLogLine(server, 'app', run, 'started');
  const { items, may_drain } = await readWorkers(other.token);
  expect(may_drain).toBe(false);
  expect(items).toMatchObject([{ host: '', runs: [], other_runs: 1 }]);
  const [worker] = items;
  if (!worker) throw new Error('There is no worker.');
  for (const method of ['POST', 'DELETE'])
    expectError(await server.request(method, drainPath(worker), { token: other.token }), 403, 'root');
  // Root operates the server.
  expectStatus(await server.request('POST', drainPath(worker)), 200);
  expectStatus(await server.request('DELETE', drainPath(worker)), 200);
  await waitForRunEnd(server, 'app', run);
});
