/** Remote workers whose network, server or machine fails: no run is lost, and each ends once. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { type Balancer, startBalancer } from '../../testing/servers/balancer.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import {
  createWorkerToken,
  startWorkerProcess,
  type WorkerProcess,
} from '../../testing/servers/worker-process.ts';

let server: TestServer;
let token: string;
let network: Balancer;
let worker: WorkerProcess;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0' } });
  token = (await createWorkerToken(server)).token;
  network = await startBalancer();
  network.use([server.url]);
  await pushApp(
    server,
    'app',
    nodeApp(`async (input) => {
      console.error('started');
      await new Promise((resolve) => setTimeout(resolve, input.wait ?? 0));
      console.error('last line');
      const previous = process.env.SWITCHYARD_PREVIOUS;
      const { readFileSync } = await import('node:fs');
      return { solution: input, ...(previous && { previous: JSON.parse(readFileSync(previous, 'utf8')) }) };
    }`),
  );
});
afterEach(async () => {
  network.use([server.url]);
  await worker.stop();
});
afterAll(async () => {
  await network.close();
  await server.close();
});

async function start(args: readonly string[] = [], url = network.url): Promise<void> {
  worker = startWorkerProcess(url, token, ['--slots', '2', ...args]);
  await worker.waitForLine('Worker registered');
}

const findAttempt = (id: string) =>
  server.runningServer.database.read
    .selectFrom('runs')
    .select(['attempt', 'fence', 'status'])
    .where('id', '=', id as never)
    .executeTakeFirstOrThrow();

test('a proxy that closes idle connections neither delays a run nor repeats it', async () => {
  const proxy = await startBalancer({ idleMs: 300 });
  proxy.use([server.url]);
  await start([], proxy.url);
  const { id, metadata } = await createRunAndWait(server, 'app', { input: { wait: 1500 } });
  expect(metadata.status_v2).toBe('succeeded');
  expect(await findAttempt(id)).toMatchObject({ attempt: 1, fence: 1 });
  await worker.stop();
  await proxy.close();
});

test('a network that is cut during a run delays its end, and its log stays whole', async () => {
  await start();
  const id = await createRun(server, 'app', { input: { wait: 1000 } });
  await waitForLogLine(server, 'app', id, 'started');
  network.use([]);
  network.cut();
  await worker.waitForLine('cannot be reached');
  network.use([server.url]);
  const run = await waitForRunEnd(server, 'app', id);
  expect(run).toMatchObject({ metadata: { status_v2: 'succeeded' }, output: { solution: { wait: 1000 } } });
  expect(await findAttempt(id)).toMatchObject({ attempt: 1, fence: 1 });
  const log = await server.request('GET', `/v1/applications/app/runs/${id}/logs`);
  expect(log.body).toEqual({ log: 'started\nlast line\n' });
});

test('a restart of the server during a run costs it no attempt', async () => {
  await start();
  const id = await createRun(server, 'app', { input: { wait: 2000 } });
  await waitForLogLine(server, 'app', id, 'started');
  network.use([]);
  await server.restart();
  network.use([server.url]);
  expect((await waitForRunEnd(server, 'app', id)).metadata.status_v2).toBe('succeeded');
  expect(await findAttempt(id)).toMatchObject({ attempt: 1, fence: 1 });
});

test('a worker that gets SIGTERM queues its runs again without an attempt, and leaves', async () => {
  await start();
  const id = await createRun(server, 'app', { input: { wait: 60_000 } });
  await waitForLogLine(server, 'app', id, 'started');
  expect(await worker.stop()).toBe(0);
  expect(await findAttempt(id)).toMatchObject({ attempt: 0, status: 'queued' });
  const { body } = await server.request('GET', '/v1/account/workers');
  expect(body).toMatchObject({ items: [] });
  await server.request('PATCH', `/v1/applications/app/runs/${id}/cancel`);
});

test('a worker that the server declared dead registers again, and its old run is not stored twice', async () => {
  await start();
  const previous = await createRunAndWait(server, 'app', { input: { day: 1 } });
  const body = { previous_run_id: previous.id };
  const id = await createRun(server, 'app', { input: { wait: 1500 }, body });
  await waitForLogLine(server, 'app', id, 'started');
  await server.request('DELETE', `/v1/applications/app/runs/${previous.id}`);
  // As after 30 s without a heartbeat.
  await server.runningServer.database.transact((tx) => tx.deleteFrom('workers').execute());
  server.runningServer.database.notify('workers-changed');
  await worker.waitForLine('registering again');
  const { metadata, output } = await waitForRunEnd(server, 'app', id);
  expect(metadata.status_v2).toBe('succeeded');
  // The second attempt starts from the same output, although its run is gone.
  expect(output).toMatchObject({ previous: { solution: { day: 1 } } });
  expect(await findAttempt(id)).toMatchObject({ attempt: 2, fence: 2 });
});

test('a worker with an idle time ends after it, and not while a run lasts', async () => {
  await start(['--idle', '1', '--job', 'job-7']);
  const { body } = await server.request('GET', '/v1/account/workers');
  expect((body as { items: object[] }).items).toHaveLength(1);
  const { metadata } = await createRunAndWait(server, 'app', { input: { wait: 1800 } });
  expect(metadata.status_v2).toBe('succeeded');
  expect(await worker.exited).toBe(0);
  const after = await server.request('GET', '/v1/account/workers');
  expect(after.body).toMatchObject({ items: [] });
});

test('a worker whose token is revoked ends with a message', async () => {
  const other = await createWorkerToken(server);
  worker = startWorkerProcess(network.url, other.token);
  await worker.waitForLine('Worker registered');
  await server.request('DELETE', `/v1/account/worker-tokens/${other.id}`);
  expect(await worker.exited).toBe(1);
  expect(worker.lines.at(-1)).toMatch(/The worker ended: .* was refused with 401/);
});
