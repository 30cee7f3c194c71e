/** The queue of an account: its order and its pages. */
import { createClient } from '@switchyard/contract/client.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { afterEach, expect, test } from 'vitest';
import { insertApplication, insertQueuedRun } from '../../testing/database/insert-rows.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, listAllPages } from '../../testing/fixtures/resources.ts';
import { sendRequest } from '../../testing/http/request.ts';
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

/** Inserts copies of a queued run, which is faster than to create them. */
async function copyQueued(id: string, count: number, priority: number): Promise<void> {
  const { database } = server.runningServer;
  const row = await database.read
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', id as never)
    .executeTakeFirstOrThrow();
  for (let from = 0; from < count; from += 100) {
    const rows = Array.from({ length: Math.min(100, count - from) }, (_, index) => ({
      ...row,
      id: `run-copy-${priority}-${String(from + index).padStart(6, '0')}` as never,
      priority,
    }));
    await database.transact((tx) => tx.insertInto('runs').values(rows).execute(), { durable: false });
  }
}

test('lists running runs first, then queued ones in the order in which they start', async () => {
  await start('1');
  const blocker = await startRun();
  const priorities = [6, 9, 1, 6, 2, 1];
  const runs: string[] = [];
  for (const priority of priorities) runs.push(await createQueuedRun(priority));
  const order = [2, 5, 4, 0, 3, 1].map((index) => runs[index] ?? '');
  expect(listIds(await getQueue())).toEqual([blocker, ...order]);
  // When a run ends, the next one starts, and the others move up.
  let active = blocker;
  for (const next of order) {
    await cancelRun(active);
    await waitForLogLine(server, 'app', next, 'started');
    const page = await getQueue();
    expect(listIds(page)).toEqual(order.slice(order.indexOf(next)));
    expect(page.runs.map((run) => run.waiting?.place)).toEqual([
      undefined,
      ...page.runs.slice(1).map((_, index) => index + 1),
    ]);
    active = next;
  }
  await cancelRun(active);
  expect(await getQueue()).toEqual({ runs: [] });
});

test('each class with slots of its own has a queue; the classes with shared slots have one together', async () => {
  await start(`${SMALL}=1,1`);
  const small = await startRun(6, SMALL);
  const large = await startRun(6, LARGE);
  const queued = [
    await createQueuedRun(6, SMALL),
    await createQueuedRun(6, LARGE),
    await createQueuedRun(5, '8c16gb12h'),
  ];
  const page = await getQueue();
  expect(listIds(page)).toEqual([small, large, queued[2], queued[0], queued[1]]);
  expect(page.runs.map((run) => run.waiting?.place)).toEqual([undefined, undefined, 1, 1, 2]);
  for (const run of page.runs.slice(2)) {
    expect(run.waiting?.message).toContain(`that serves execution class ${run.execution_class} is taken`);
    expect((await getMetadata(run.id)).metadata.waiting).toEqual(run.waiting);
  }
});

test('the runs of other accounts are counted, but not listed', async () => {
  await start('1');
  const blocker = await startRun();
  const { token } = await createOtherAccount(server);
  const other = {
    client: createClient({ url: server.url, token }),
    request: (method: string, path: string, options = {}) =>
      sendRequest(server.url + path, method, token, options),
  };
  await pushApp(other, 'app', ENDLESS_APP);
  const otherRun = await createRun(other, 'app', { body: { configuration: { queuing: { priority: 1 } } } });
  const ownRun = await createQueuedRun();
  const page = await getQueue();
  expect(listIds(page)).toEqual([blocker, ownRun]);
  expect(page.runs[1]?.waiting?.place).toBe(2);
  expect(page.runs[1]?.waiting?.message).toContain('one run stands before it');
  const otherPage = (await other.request('GET', QUEUE)).body as Page;
  expect(listIds(otherPage)).toEqual([otherRun]);
  const firstPage = (await server.request('GET', `${QUEUE}?limit=1`)).body as Page;
  const pathWithToken = `${QUEUE}?pagetoken=${encodeURIComponent(firstPage.next_page_token ?? '')}`;
  expectError(await other.request('GET', pathWithToken), 400, 'pagetoken');
});

test('pages skip and repeat no run while runs start, arrive and end', async () => {
  await start('1');
  const blocker = await startRun();
  const queued = [
    await createQueuedRun(),
    await createQueuedRun(),
    await createQueuedRun(),
    await createQueuedRun(),
  ];
  let arrived = '';
  const pages = await listAllPages(server, QUEUE, 1, async (page) => {
    // The run of this page ends, and the next one starts before its page is requested.
    if (page === 1) {
      await cancelRun(blocker);
      await waitForLogLine(server, 'app', queued[0] ?? '', 'started');
    }
    // A run of an earlier page ends, and a run with a higher priority arrives.
    if (page === 2) {
      arrived = await createQueuedRun(1);
      await cancelRun(queued[0] ?? '');
    }
    if (page === 3) await cancelRun(queued[2] ?? '');
  });
  expect(pages.flat()).toEqual([blocker, queued[0], arrived, queued[1], queued[3]]);
});

test('several running runs are in queue order on the pages', async () => {
  await start('3');
  const runs = [await startRun(6), await startRun(2), await startRun(6)];
  const queued = [await createQueuedRun(9), await createQueuedRun(1)];
  const order = [runs[1], runs[0], runs[2], queued[1], queued[0]];
  for (const limit of [1, 2, 3, 4, 5])
    expect((await listAllPages(server, QUEUE, limit)).flat()).toEqual(order);
});

test('a long queue has pages of 1000 runs, and positions are counted up to a bound', async () => {
  await start('1');
  await startRun();
  const last = await createQueuedRun(9);
  await copyQueued(last, 1005, 7);
  const whole = await getQueue();
  expect(whole.runs).toHaveLength(1000);
  expect(whole.runs[1]?.waiting?.place).toBe(1);
  expect(whole.runs[999]?.waiting?.place).toBe(999);
  const rest = await getQueue(
    `?pagetoken=${encodeURIComponent(whole.next_page_token ?? '')}&pagereturn=true`,
  );
  expect(rest.items).toEqual(rest.runs);
  expect(rest.runs.map((run) => run.waiting?.place)).toEqual([
    1000,
    ...Array.from({ length: 6 }, () => 1001),
  ]);
  expect(rest.runs.at(-1)?.id).toBe(last);
  expect(rest).not.toHaveProperty('next_page_token');
  expect((await getMetadata(last)).metadata.waiting).toEqual(rest.runs.at(-1)?.waiting);
  const beyondPage = rest.runs[0]?.id ?? '';
  expect((await getMetadata(beyondPage)).metadata.waiting).toEqual(rest.runs[0]?.waiting);
});

test('F1: the queue has every run, however many applications and label sets wait', async () => {
  await start('1');
  const { database } = server.runningServer;
  const { account_id } = await database.read
    .selectFrom('applications')
    .select('account_id')
    .executeTakeFirstOrThrow();
  const ids: string[] = [];
  await database.transact(async (tx) => {
    const sets = await insertApplication(tx, { account_id, id: 'sets' as never });
    for (let index = 0; index < 80; index += 1) {
      const uid = await insertApplication(tx, { account_id, id: `many-${index}` as never });
      const columns = { account_id, created_at: 1_000_000 - index, priority: 1 + (index % 9) };
      for (const application_uid of [uid, sets])
        ids.push(
          await insertQueuedRun(tx, { ...columns, application_uid, required_labels: `|label-${index}|` }),
        );
    }
  });
  expect(new Set(listIds(await getQueue()))).toEqual(new Set(ids));
  for (const limit of [20, 50]) {
    const listed = (await listAllPages(server, QUEUE, limit)).flat();
    expect(listed).toHaveLength(ids.length);
    expect(new Set(listed)).toEqual(new Set(ids));
  }
});

test('F1: a run that must not wait starts although runs wait that could not use its slot', async () => {
  await start('1');
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'One' },
  });
  await server.client.call('createInstance', {
    params: { application_id: 'app' },
    body: {
      ...{ id: 'gpu', name: 'GPU', version_id: 'v1' },
      configuration: { requirements: { labels: ['gpu'], licenses: { none: 1 } } },
    },
  });
  await createQueuedRun(1, SMALL, 'gpu');
  const body = { input: {}, configuration: { queuing: { disabled: true } } };
  const create = () => server.request('POST', '/v1/applications/app/runs', { body });
  expectStatus(await create(), 202);
  expectError(await create(), 429, 'asked not to be queued', 'no_capacity');
});
