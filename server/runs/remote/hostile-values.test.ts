/**
 * A worker that sends values at and beyond every bound of the protocol. A value is refused with a sentence, or stored as one that
 * every reader can show: no list of the server fails for it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import {
  buildEnd,
  type FakeWorker,
  registerFakeWorker,
  WORKER_REGISTRATION,
} from '../../testing/fixtures/fake-worker.ts';
import { COMPLETE_WORKER_BODIES } from '../../testing/http/complete-worker-bodies.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';

let server: TestServer;
let token: string;
let worker: FakeWorker;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0' } });
  token = (await createWorkerToken(server)).token;
  worker = await registerFakeWorker(server, token);
  await pushApp(server, 'app', nodeApp('async (input) => input'));
});
afterAll(() => server.close());

/** Values at and beyond the bounds of numbers and of texts. */
const NUMBERS = [2 ** 60, Number.MAX_SAFE_INTEGER, 8_640_000_000_000_001, 1e308, -1, 0.5];
const TEXTS = ['', 'a\0b\ud83d', '/../..', 'x'.repeat(70_000)];

function listEdges(value: unknown): unknown[] {
  if (typeof value === 'number') return NUMBERS;
  return typeof value === 'string' ? TEXTS : [null, []];
}

/** Returns the body with each of its values replaced by each edge of its type. */
function* listLies(body: object): Generator<[field: string, edge: unknown, lie: object]> {
  const list = (value: unknown, path: string[]): [string[], unknown][] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]): [string[], unknown][] => [
          [[...path, key], inner],
          ...list(inner, [...path, key]),
        ])
      : [];
  for (const [path, value] of list(body, []))
    for (const edge of listEdges(value)) {
      const lie: Record<string, unknown> = structuredClone({ ...body });
      let container = lie;
      for (const key of path.slice(0, -1)) container = Object(container[key]);
      container[path.at(-1) ?? ''] = edge;
      yield [path.join('.'), edge, lie];
    }
}

const describeLie = (field: string, edge: unknown): string =>
  `${field} = ${JSON.stringify(edge)?.slice(0, 40)}`;

/** Expects that the lists which every account reads, and the paths of the run, have no error. */
async function expectReadable(lie: string, run?: string, ofRun: readonly string[] = []): Promise<void> {
  for (const path of ['/v1/account/workers', '/v1/account/queue', '/v1/applications/app/runs']) {
    const { status, text } = await server.request('GET', path);
    expect(status, `${path} after ${lie}: ${text}`).toBe(200);
  }
  for (const path of ofRun)
    expectNoFault(await server.request('GET', `/v1/applications/app/runs/${run}${path}`), lie);
}

function expectNoFault({ status, text }: TestResponse, lie: string): void {
  expect(status, `${lie}: ${text}`).toBeLessThan(500);
  if (status >= 400) expect(text.length, text.slice(0, 200)).toBeLessThan(1000);
}

test('A1: a worker with more memory than a number holds is refused, and one that is stored hides no other', async () => {
  const resources = { cores: 4, memory_bytes: 2 ** 60 };
  const body = { ...WORKER_REGISTRATION, folder_id: 'unlimited', resources };
  const refused = await server.request('POST', '/v1/workers', { token, body });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain(
    `resources.memory_bytes is ${2 ** 60}; it must be 1 to ${Number.MAX_SAFE_INTEGER}`,
  );
  const stored = await registerFakeWorker(server, token, {
    folder_id: 'stored',
    resources: { cores: 4, memory_bytes: 2 ** 40 },
  });
  const { database } = server.runningServer;
  const change = (values: { memory_bytes?: number; capacity?: string }) =>
    database.transact((tx) => tx.updateTable('workers').set(values).where('id', '=', stored.id).execute());
  const run = await createRun(server, 'app', { input: {} });
  for (const values of [{ memory_bytes: 2 ** 60 }, { capacity: '{' }]) {
    await change(values);
    await expectReadable(JSON.stringify(values));
    // The sync of another worker reads all of them.
    expect((await worker.sync({ free: [], wait_ms: 0 })).jobs).toEqual([]);
  }
  const { body: workers } = await server.request('GET', '/v1/account/workers');
  expect((workers as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual([worker.id]);
  await database.transact((tx) => tx.deleteFrom('workers').where('id', '=', stored.id).execute());
  const job = await worker.awaitJob();
  expect(job.run_id).toBe(run);
  await worker.send(job, 'end', buildEnd({}));
});

describe('A1: a lying worker', () => {
  test('registers with every value beyond a bound', async () => {
    for (const [field, edge, body] of listLies(COMPLETE_WORKER_BODIES.registerWorker)) {
      const lie = describeLie(field, edge);
      const response = await server.request('POST', '/v1/workers', { token, body });
      expectNoFault(response, lie);
      if (response.status !== 201) continue;
      await expectReadable(lie);
      const { worker_id } = response.body as { worker_id: string };
      expect((await server.request('DELETE', `/v1/workers/${worker_id}`, { token })).status).toBe(204);
    }
  });

  test('syncs with every value beyond a bound', async () => {
    const state = { ...COMPLETE_WORKER_BODIES.syncWorker, free: [], workflow_capacity: [16] };
    const liar = await registerFakeWorker(server, token, { folder_id: 'liar' });
    for (const [field, edge, lie] of listLies(state)) {
      const body = { ...lie, wait_ms: field === 'wait_ms' && edge !== 5000 ? edge : 0 };
      expectNoFault(
        await server.request('POST', `/v1/workers/${liar.id}/sync`, { token, body }),
        describeLie(field, edge),
      );
    }
    await expectReadable('all syncs');
    await server.request('DELETE', `/v1/workers/${liar.id}`, { token });
  });

  test('writes lines, and ends attempts, with every value beyond a bound', async () => {
    let job = await startAttempt();
    const seq = () => job.fence * 100_000_000 + 1;
    const row = { seq: seq(), part: SERIES_PART };
    const log = {
      chunks: [{ seq: seq(), at: 1_763_625_600_000, lines: [[1_763_625_600_000_000, 'solved']] }],
      series: { replacement: row, addition: row },
    };
    for (const [field, edge, body] of listLies(log)) {
      const response = await worker.send(job, 'log', body);
      expectNoFault(response, describeLie(field, edge));
      if (response.status === 204)
        await expectReadable(describeLie(field, edge), job.run_id, ['/logs/live', '/series']);
    }
    const { outcome, ...end } = COMPLETE_WORKER_BODIES.endAttempt;
    for (const [field, edge, body] of listLies({ ...end, outcome, log: { ...end.log, times: 'gICA' } })) {
      const lie = describeLie(field, edge);
      const response = await worker.send(job, 'end', body);
      expectNoFault(response, lie);
      if (response.status !== 200) continue;
      await expectReadable(lie, job.run_id, ['', '/logs/times', '/logs/search?text=o']);
      // The run may be queued again, and the liar gets it once more.
      job = await startAttempt(job.run_id);
    }
    await worker.send(job, 'end', buildEnd({}));
  });

  /** Returns an attempt of a new run, or of the run if it was queued again. */
  async function startAttempt(previous?: string) {
    const before = previous && (await worker.sync({ wait_ms: 0 })).jobs[0];
    if (before) return before;
    await createRun(server, 'app', { input: {} });
    return worker.awaitJob();
  }
});

const SERIES_PART = {
  series: [{ name: 'objective', source: 'log', points: [[1, 2]] }],
  phases: [{ x: 1, phase: 'root', solver: 'highs', solve: 0 }],
};

test.each(['01', '+1', '1e0', '0x1', '1.0', ' 1', '0', '-1', '10000000', '9007199254740993', 'NaN'])(
  'A9: the fencing token %j is refused in every path',
  async (fence) => {
    const path = `/v1/workers/${worker.id}/runs/any/${encodeURIComponent(fence)}`;
    for (const [action, body] of [
      ['log', { chunks: [], series: { replacement: null, addition: null } }],
      ['proof', { endpoint: 'http://127.0.0.1:4747' }],
      ['end', buildEnd({})],
    ]) {
      const response = await server.request('POST', `${path}/${action}`, { token, body });
      expect(response.status).toBe(400);
      expect(response.text).toContain(`fence is ${JSON.stringify(fence).replaceAll('"', '\\"')}`);
    }
    expect((await server.request('PUT', `${path}/files`, { token, body: 'x' })).status).toBe(400);
  },
);

test('A1: a worker token has a bounded number of workers', async () => {
  const bounded = await createWorkerToken(server);
  const first = await registerFakeWorker(server, bounded.token, { folder_id: 'one' });
  const { database } = server.runningServer;
  const row = await database.read
    .selectFrom('workers')
    .selectAll()
    .where('id', '=', first.id)
    .executeTakeFirstOrThrow();
  const copies = Array.from({ length: 999 }, (_, index) => ({
    ...row,
    id: `worker-copy-${index}`,
    folder_id: `copy ${index}`,
  }));
  await database.transact((tx) => tx.insertInto('workers').values(copies).execute());
  await expect(registerFakeWorker(server, bounded.token, { folder_id: 'two' })).rejects.toThrow(
    'The worker token has 1000 registered workers, and may have 1000',
  );
  // A worker that starts again in its folder replaces itself.
  await registerFakeWorker(server, bounded.token, { folder_id: 'one' });
  expect((await server.request('DELETE', `/v1/account/worker-tokens/${bounded.id}`)).status).toBe(204);
});
