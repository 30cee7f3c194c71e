/** The queue as an account sees it: in the order of service, with the truth about why each run waits. */
import { createClient } from '@switchyard/contract/client.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterEach, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, nodeApp, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, listAllPages } from '../../testing/fixtures/resources.ts';
import { sendRequest } from '../../testing/http/request.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const SMALL = '6c9500mb870s';
const LARGE = '16c60gb12h';
const QUEUE = '/v1/account/queue';
/** Runs until it is canceled. */
const PATIENT = nodeApp(
  `() => new Promise(() => { process.on('SIGTERM', () => process.exit(0)); console.error('started'); setInterval(() => {}, 1000); })`,
);

let server: TestServer;
afterEach(() => server.close());

async function start(capacity: string): Promise<void> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: capacity } });
  await pushApp(server, 'app', PATIENT);
}

interface Page {
  runs: ActiveRun[];
  items?: ActiveRun[];
  next_page_token?: string;
}
async function queue(query = ''): Promise<Page> {
  const answer = await server.request('GET', QUEUE + query);
  expectStatus(answer, 200);
  return answer.body as Page;
}
const idsOf = (page: Page): string[] => page.runs.map((run) => run.id);

const create = (priority = 6, name = SMALL, instance = 'latest'): Promise<string> =>
  createRun(server, 'app', {
    instance,
    input: {},
    body: { configuration: { execution_class: name, queuing: { priority } } },
  });
async function running(priority = 6, name = SMALL): Promise<string> {
  const run = await create(priority, name);
  await waitForLogLine(server, 'app', run, 'started');
  return run;
}
async function finish(run: string): Promise<void> {
  expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`), 204);
  await waitForRunEnd(server, 'app', run);
}
const metadata = async (run: string) =>
  (await server.client.call('getRunMetadata', { params: { application_id: 'app', run_id: run } })).body;

/** Copies of a queued run, as many as no test could create. */
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

test('holds nothing while nothing runs', async () => {
  server = await startTestServer();
  expect(await queue()).toEqual({ runs: [] });
  expect(await queue('?pagereturn=true')).toEqual({ runs: [], items: [] });
});

test('what runs comes first, then what waits, in the order in which it is then served', async () => {
  await start('1');
  const blocker = await running();
  const asked = [6, 9, 1, 6, 2, 1];
  const runs: string[] = [];
  for (const priority of asked) runs.push(await create(priority));
  const order = [2, 5, 4, 0, 3, 1].map((index) => runs[index] ?? '');
  expect(idsOf(await queue())).toEqual([blocker, ...order]);
  // Each in turn is the one that starts when the one before it ends, and moves the others up.
  let held = blocker;
  for (const next of order) {
    await finish(held);
    await waitForLogLine(server, 'app', next, 'started');
    const page = await queue();
    expect(idsOf(page)).toEqual(order.slice(order.indexOf(next)));
    expect(page.runs.map((run) => run.waiting?.place)).toEqual([
      undefined,
      ...page.runs.slice(1).map((_, index) => index + 1),
    ]);
    held = next;
  }
  await finish(held);
  expect(await queue()).toEqual({ runs: [] });
});

test('says of each run what existing clients read, and of what waits why, as the metadata of the run does', async () => {
  await start('1');
  const blocker = await running();
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'One' },
  });
  await server.client.call('createInstance', {
    params: { application_id: 'app' },
    body: { id: 'i1', name: 'Instance one', version_id: 'v1' },
  });
  const waits = await create(3, SMALL, 'i1');
  const [first, second] = (await queue()).runs;
  const shared = {
    user_email: expect.any(String),
    name: '',
    description: '',
    status: 'running',
    created_at: expect.any(String),
    application_id: 'app',
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
  const why = {
    place: 1,
    reason: 'slots_taken',
    message: 'The only slot that serves execution class 6c9500mb870s is taken; this run is next.',
    slots_taken_since: first?.initiated_at,
    slot_holders: [
      { run_id: blocker, application_id: 'app', started_at: first?.initiated_at, network: false },
    ],
  };
  expect(second).toEqual({
    ...shared,
    id: waits,
    status_v2: 'queued',
    application_instance_id: 'i1',
    application_version_id: 'v1',
    queuing_priority: 3,
    attempt: 0,
    waiting: why,
  });
  expect((await metadata(waits)).metadata.waiting).toEqual(why);
  expect((await metadata(blocker)).metadata).not.toHaveProperty('waiting');
  await finish(blocker);
  await finish(waits);
  expect((await metadata(waits)).metadata).not.toHaveProperty('waiting');
});

test('R3: a run that waits for a minute names the runs in the slots, which may wait for it', async () => {
  await start('1');
  const blocker = await running(6);
  const waits = await create(6);
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
  const { waiting } = (await metadata(waits)).metadata;
  expect(waiting).toMatchObject({ reason: 'slots_taken', slots_taken_since: since });
  expect(waiting?.message).toContain(`No slot has become free since ${since}; they are held by ${blocker}.`);
  expect(waiting?.message).toContain(`${blocker} can reach the network.`);
  expect((await queue()).runs[1]?.waiting).toEqual(waiting);
});

test('classes with slots of their own are lines of their own; those that share are one', async () => {
  await start(`${SMALL}=1,1`);
  const small = await running(6, SMALL);
  const large = await running(6, LARGE);
  const waits = [await create(6, SMALL), await create(6, LARGE), await create(5, '8c16gb12h')];
  const page = await queue();
  expect(idsOf(page)).toEqual([small, large, waits[2], waits[0], waits[1]]);
  expect(page.runs.map((run) => run.waiting?.place)).toEqual([undefined, undefined, 1, 1, 2]);
  for (const run of page.runs.slice(2)) {
    expect(run.waiting?.message).toContain(`that serves execution class ${run.execution_class} is taken`);
    expect((await metadata(run.id)).metadata.waiting).toEqual(run.waiting);
  }
});

test('a class that nobody serves waits for a worker, and says so', async () => {
  await start(`${SMALL}=1,0`);
  const run = await create(1, LARGE);
  const why = { place: 1, reason: 'no_worker', message: expect.stringContaining(LARGE) };
  expect((await metadata(run)).metadata.waiting).toEqual(why);
  expect((await queue()).runs[0]?.waiting).toEqual(why);
});

test('the runs of other accounts are not shown, and counted before mine', async () => {
  await start('1');
  const blocker = await running();
  const { token } = await createOtherAccount(server);
  const other = {
    client: createClient({ url: server.url, token }),
    request: (method: string, path: string, options = {}) =>
      sendRequest(server.url + path, method, token, options),
  };
  await pushApp(other, 'app', PATIENT);
  const theirs = await createRun(other, 'app', { body: { configuration: { queuing: { priority: 1 } } } });
  const mine = await create();
  const page = await queue();
  expect(idsOf(page)).toEqual([blocker, mine]);
  expect(page.runs[1]?.waiting?.place).toBe(2);
  expect(page.runs[1]?.waiting?.message).toContain('one run stands before it');
  const seen = (await other.request('GET', QUEUE)).body as Page;
  expect(idsOf(seen)).toEqual([theirs]);
  const token2 = (await server.request('GET', `${QUEUE}?limit=1`)).body as Page;
  const borrowed = `${QUEUE}?pagetoken=${encodeURIComponent(token2.next_page_token ?? '')}`;
  expectError(await other.request('GET', borrowed), 400, 'pagetoken');
});

test('is paged without a repetition and without a gap, whatever starts, comes and ends meanwhile', async () => {
  await start('1');
  const blocker = await running();
  const waits = [await create(), await create(), await create(), await create()];
  const pages = await listAllPages(server, QUEUE, 1, async (page) => {
    // The run that was answered ends; the next starts before its page is asked for.
    if (page === 1) {
      await finish(blocker);
      await waitForLogLine(server, 'app', waits[0] ?? '', 'started');
    }
    // One that was answered already starts, and one comes that has its turn before it.
    if (page === 2) {
      await create(1);
      await finish(waits[0] ?? '');
    }
    if (page === 3) await finish(waits[2] ?? '');
  });
  expect(pages.flat()).toEqual([blocker, waits[0], waits[1], waits[3]]);
});

test('several that run are paged in their turn too', async () => {
  await start('3');
  const runs = [await running(6), await running(2), await running(6)];
  const waits = [await create(9), await create(1)];
  const order = [runs[1], runs[0], runs[2], waits[1], waits[0]];
  for (const limit of [1, 2, 3, 4, 5])
    expect((await listAllPages(server, QUEUE, limit)).flat()).toEqual(order);
});

test('a queue of any length is answered in parts, and its places are counted to a bound', async () => {
  await start('1');
  await running();
  const last = await create(9);
  await copyQueued(last, 1005, 7);
  const whole = await queue();
  expect(whole.runs).toHaveLength(1000);
  expect(whole.runs[1]?.waiting?.place).toBe(1);
  expect(whole.runs[999]?.waiting?.place).toBe(999);
  const rest = await queue(`?pagetoken=${encodeURIComponent(whole.next_page_token ?? '')}&pagereturn=true`);
  expect(rest.items).toEqual(rest.runs);
  expect(rest.runs.map((run) => run.waiting?.place)).toEqual([
    1000,
    ...Array.from({ length: 6 }, () => 1001),
  ]);
  expect(rest.runs.at(-1)?.id).toBe(last);
  expect(rest).not.toHaveProperty('next_page_token');
  expect((await metadata(last)).metadata.waiting).toEqual(rest.runs.at(-1)?.waiting);
  const at = rest.runs[0]?.id ?? '';
  expect((await metadata(at)).metadata.waiting).toEqual(rest.runs[0]?.waiting);
});

test('a run that a stop of the server cut short waits at its old place', async () => {
  await start('1');
  const first = await running();
  const second = await create();
  await server.restart({ SWITCHYARD_CAPACITY: `${LARGE}=1,0` });
  const page = await queue();
  expect(idsOf(page)).toEqual([first, second]);
  expect(page.runs.map((run) => run.waiting?.place)).toEqual([1, 2]);
  expect(page.runs.map((run) => run.waiting?.reason)).toEqual(['no_worker', 'no_worker']);
});
