/** The queue of an account: the fields of its runs, and the reason why each waits. */
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterEach, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const SMALL = '6c9500mb870s';
const LARGE = '16c60gb12h';
const QUEUE = '/v1/account/queue';
/** Runs until it is canceled. */
const ENDLESS_APP = nodeApp(
  `() => new Promise(() => { process.on('SIGTERM', () => process.exit(0)); console.error('started'); setInterval(() => {}, 1000); })`,
);

let server: TestServer;
afterEach(() => server.close());

async function start(capacity: string): Promise<void> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: capacity } });
  await pushApp(server, 'app', ENDLESS_APP);
}

interface Page {
  runs: ActiveRun[];
  items?: ActiveRun[];
  next_page_token?: string;
}
async function getQueue(query = ''): Promise<Page> {
  const response = await server.request('GET', QUEUE + query);
  expectStatus(response, 200);
  return response.body as Page;
}
const listIds = (page: Page): string[] => page.runs.map((run) => run.id);

const createQueuedRun = (priority = 6, name = SMALL, instance = 'latest'): Promise<string> =>
  createRun(server, 'app', {
    instance,
    input: {},
    body: { configuration: { execution_class: name, queuing: { priority } } },
  });
async function startRun(priority = 6, name = SMALL): Promise<string> {
  const run = await createQueuedRun(priority, name);
  await waitForLogLine(server, 'app', run, 'started');
  return run;
}
async function cancelRun(run: string): Promise<void> {
  expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`), 204);
  await waitForRunEnd(server, 'app', run);
}
const getMetadata = async (run: string) =>
  (await server.client.call('getRunMetadata', { params: { application_id: 'app', run_id: run } })).body;

test('is empty without queued and running runs', async () => {
  server = await startTestServer();
  expect(await getQueue()).toEqual({ runs: [] });
  expect(await getQueue('?pagereturn=true')).toEqual({ runs: [], items: [] });
});

test('has the fields that existing clients read, and the same reason for waiting as the metadata', async () => {
  await start('1');
  const blocker = await startRun();
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'One' },
  });
  await server.client.call('createInstance', {
    params: { application_id: 'app' },
    body: { id: 'i1', name: 'Instance one', version_id: 'v1' },
  });
  const queued = await createQueuedRun(3, SMALL, 'i1');
  const [first, second] = (await getQueue()).runs;
  const shared = {
    user_email: expect.any(String),
    name: '',
    description: '',
    status: 'running',
    created_at: expect.any(String),
    application_id: 'app',
    application_name: 'App app',
    execution_class: SMALL,
    queuing_disabled: false,
  };
  expect(first).toEqual({
    ...shared,
    id: blocker,
    status_v2: 'running',
    initiated_at: expect.any(String),
    application_instance_id: 'latest',
    application_version_id: '',
    queuing_priority: 6,
    attempt: 1,
  });
  const waiting = {
    place: 1,
    predicted_start_absence: 'few_past_runs',
    reason: 'slots_taken',
    message: 'The only slot that serves execution class 6c9500mb870s is taken; this run is next.',
    slots: { total: 1, free: 0 },
    slots_taken_since: first?.initiated_at,
    slot_holders: [
      { run_id: blocker, application_id: 'app', started_at: first?.initiated_at, network: false },
    ],
  };
  expect(second).toEqual({
    ...shared,
    id: queued,
    status_v2: 'queued',
    application_instance_id: 'i1',
    application_version_id: 'v1',
    queuing_priority: 3,
    attempt: 0,
    waiting: waiting,
  });
  expect((await getMetadata(queued)).metadata.waiting).toEqual(waiting);
  expect((await getMetadata(blocker)).metadata).not.toHaveProperty('waiting');
  await cancelRun(blocker);
  await cancelRun(queued);
  expect((await getMetadata(queued)).metadata).not.toHaveProperty('waiting');
});

test('R3: the reason of a run that waits for a minute names the runs in the slots, which may wait for it', async () => {
  await start('1');
  const blocker = await startRun(6);
  const queued = await createQueuedRun(6);
  const initiated_at = Date.now() - 60_000;
  const { database } = server.runningServer;
  await database.transact((tx) =>
    tx
      .updateTable('runs')
      .set({ initiated_at, network: 1 })
      .where('id', '=', blocker as RunId)
      .execute(),
  );
  const since = new Date(initiated_at).toISOString();
  const { waiting } = (await getMetadata(queued)).metadata;
  expect(waiting).toMatchObject({ reason: 'slots_taken', slots_taken_since: since });
  expect(waiting?.message).toContain(`No slot has become free since ${since}; they are held by ${blocker}.`);
  expect(waiting?.message).toContain(`${blocker} can reach the network.`);
  expect((await getQueue()).runs[1]?.waiting).toEqual(waiting);
});

test('a run of a class without slots waits for a worker', async () => {
  await start(`${SMALL}=1,0`);
  const run = await createQueuedRun(1, LARGE);
  const waiting = {
    ...{ place: 1, reason: 'no_worker', message: expect.stringContaining(LARGE) },
    ...{ workers: { active: 1, draining: 0 }, can_be_provisioned: false },
  };
  expect((await getMetadata(run)).metadata.waiting).toEqual(waiting);
  expect((await getQueue()).runs[0]?.waiting).toEqual(waiting);
});

test('a run that a shutdown interrupted is queued at its old position', async () => {
  await start('1');
  const first = await startRun();
  const second = await createQueuedRun();
  await server.restart({ SWITCHYARD_CAPACITY: `${LARGE}=1,0` });
  const page = await getQueue();
  expect(listIds(page)).toEqual([first, second]);
  expect(page.runs.map((run) => run.waiting?.place)).toEqual([1, 2]);
  expect(page.runs.map((run) => run.waiting?.reason)).toEqual(['no_worker', 'no_worker']);
});
