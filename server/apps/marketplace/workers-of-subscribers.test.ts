/** The program of a published app reaches workers of the server, and of a subscriber only if the publisher allows the token. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { buildEnd, type FakeWorker, registerFakeWorker } from '../../testing/fixtures/fake-worker.ts';
import { createVersion, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { publishApp } from '../../testing/http/marketplace.ts';
import { type AccountServer, createAccountServer } from '../../testing/servers/account-server.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';

let server: TestServer;
let publisher: AccountServer;
let subscriber: AccountServer;
let token: { id: string; token: string };
let worker: FakeWorker;
let application: string;
let own: string;

beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0' } });
  publisher = await createAccountServer(server);
  subscriber = await createAccountServer(server);
  token = await createWorkerToken(subscriber);
  worker = await registerFakeWorker(server, token.token);
  own = await createVersion(subscriber);
  // The sync begins before the subscription, and its wait lasts beyond it.
  const early = worker.sync({ wait_ms: 2000 });
  application = await createVersion(publisher);
  const offer = { id: 'planner', application, title: 'Planner', versions: ['v1'] };
  const subscription_id = await publishApp(publisher, offer);
  expectStatus(
    await subscriber.request('POST', '/v1/marketplace/subscriptions', { body: { subscription_id } }),
    201,
  );
  await createRun(subscriber, 'planner', { input: {} });
  expect((await early).jobs).toEqual([]);
});
afterAll(() => server.close());

const listJobs = async (one: FakeWorker) => (await one.sync({ wait_ms: 0 })).jobs.map(({ run_id }) => run_id);
const allow = (worker_tokens: string[], on = publisher) =>
  on.request('PUT', `/v1/marketplace/partners/${publisher.accountId}/apps/planner`, {
    body: { worker_tokens },
  });

const createSubscribedRun = () => createRun(subscriber, 'planner', { input: {} });

test.each([
  ['a run without a quota', async () => {}],
  [
    'a run within a quota',
    async () => {
      const body = { concurrent_runs: 50, core_hours_per_month: null };
      expectStatus(await subscriber.request('PUT', '/v1/account/quotas', { body }), 200);
    },
  ],
])('A4: a worker of the subscriber gets no program of the publisher: %s', async (_, prepare) => {
  await prepare();
  const hidden = await createSubscribedRun();
  const visible = await createRun(subscriber, own, { input: {} });
  const { jobs } = await worker.sync({ wait_ms: 0 });
  expect(jobs.map(({ run_id }) => run_id)).toEqual([visible]);
  const restricted = await createWorkerToken(subscriber, { applications: ['planner'] });
  const other = await registerFakeWorker(server, restricted.token, { folder_id: 'restricted' });
  expect(await listJobs(other)).toEqual([]);
  // The publisher sees no input of its subscribers.
  const ofPublisher = await createWorkerToken(publisher);
  const third = await registerFakeWorker(server, ofPublisher.token, { folder_id: 'publisher' });
  expect(await listJobs(third)).toEqual([]);
  const { body } = await subscriber.request('GET', `/v1/applications/planner/runs/${hidden}/metadata`);
  expect(body).toMatchObject({
    metadata: { waiting: { message: expect.stringContaining('may execute runs of this application') } },
  });
  for (const job of jobs) await worker.send(job, 'end', buildEnd({}));
});

test('A4: the publisher allows a worker token, and takes that back', async () => {
  const waiting = await createSubscribedRun();
  expectError(await allow(['wtk-unknown']), 400, 'worker_tokens has "wtk-unknown"');
  expectStatus(await allow([token.id], subscriber), 404);
  const allowed = await allow([token.id]);
  expectStatus(allowed, 200);
  expect(allowed.body).toMatchObject({ worker_tokens: [token.id] });
  const path = `/v1/marketplace/partners/${publisher.accountId}/apps/planner`;
  expect((await subscriber.request('GET', path)).body).toMatchObject({ worker_tokens: null });
  // Another token of the same account stays without the program.
  const another = await createWorkerToken(subscriber);
  const other = await registerFakeWorker(server, another.token, { folder_id: 'another' });
  expect(await listJobs(other)).toEqual([]);
  const { jobs } = await worker.sync({ free: [{ execution_classes: ['6c9500mb870s'], slots: 4 }] });
  expect(jobs.map(({ application_id }) => application_id)).toEqual(Array(4).fill('planner'));
  expect(jobs.map(({ run_id }) => run_id)).toContain(waiting);
  for (const job of jobs) await worker.send(job, 'end', buildEnd({}));
  expectStatus(await allow([]), 200);
  await createSubscribedRun();
  expect(await listJobs(worker)).toEqual([]);
  // A revoked token leaves the list.
  expectStatus(await allow([another.id]), 200);
  expectStatus(await subscriber.request('DELETE', `/v1/account/worker-tokens/${another.id}`), 204);
  expect((await publisher.request('GET', path)).body).toMatchObject({ worker_tokens: [] });
  const ofServer = await createWorkerToken(server, { all_accounts: true });
  const trusted = await registerFakeWorker(server, ofServer.token, { folder_id: 'server' });
  expect((await listJobs(trusted)).length).toBe(1);
});
