/** The fields of a run and their types, in each of its states, and the pages of the list. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  await pushApp(
    server,
    'app',
    nodeApp(`async (input) => {
      console.error('started');
      if (input.waits) await new Promise((resolve) => { process.on('SIGTERM', resolve); setInterval(() => {}, 1000); });
      if (input.fails) process.exit(4);
      process.stdout.write('{"a":1}', () => process.exit(0));
    }`),
  );
});
afterAll(() => server.close());

const path = (run: string, rest = ''): string => `/v1/applications/app/runs/${run}${rest}`;
const read = async (address: string): Promise<Record<string, unknown>> => {
  const response = await server.request('GET', address);
  expect(response.status).toBe(200);
  return response.body as Record<string, unknown>;
};
const cancel = (run: string) => server.request('PATCH', path(run, '/cancel'));

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const text = expect.any(String);
const number = expect.any(Number);
const flag = expect.any(Boolean);
const runType = { type: 'standard', definition_id: null, reference_id: null };

/** The fields of every response about a run, list items included. */
const createExpectedSummary = (v1: string, v2: string) => ({
  id: expect.stringMatching(/^[a-z0-9-]+$/),
  user_email: text,
  name: '',
  description: '',
  status: v1,
  status_v2: v2,
  created_at: expect.stringMatching(INSTANT),
  application_id: 'app',
  application_instance_id: 'latest',
  application_version_id: '',
  run_type: runType,
  execution_class: '6c9500mb870s',
  runtime: 'node',
  queuing_priority: 6,
  queuing_disabled: flag,
  statistics: { status: 'none', error: '', indicators: [] },
});

const measures = {
  duration: number,
  execution_duration: number,
  input_size: number,
  output_size: number,
  error: text,
};

const createExpectedRun = (v1: string, v2: string) => ({
  ...createExpectedSummary(v1, v2),
  ...measures,
  createdAt: expect.stringMatching(INSTANT),
  secrets_collection_id: text,
  metadata: expect.objectContaining({
    application_id: 'app',
    application_instance_id: 'latest',
    application_version_id: '',
    created_at: expect.stringMatching(INSTANT),
    ...measures,
    status: v1,
    status_v2: v2,
    execution_class: '6c9500mb870s',
    format: { input: { type: 'json' }, output: { type: 'json' } },
    queuing_disabled: flag,
    queuing_priority: 6,
    run_type: runType,
    runtime: 'node',
    options: { active_options: {}, options_summary: [], request_options: {} },
    attempt: number,
    containment: text,
  }),
});

/** Checks the three responses about a run, and returns its metadata. */
async function expectRun(run: string, v1: string, v2: string): Promise<Record<string, unknown>> {
  const metadata = await read(path(run, '/metadata'));
  expect(metadata).toEqual(createExpectedRun(v1, v2));
  expect(metadata.createdAt).toBe(metadata.created_at);
  const { output: _output, error_log: _errorLog, ...rest } = await read(path(run));
  expect(rest).toEqual(createExpectedRun(v1, v2));
  const { runs } = await read('/v1/applications/app/runs');
  const item = (runs as { id: string }[]).find(({ id }) => id === run);
  const { initiated_at, finished_at, execution_duration } = metadata.metadata as Record<string, unknown>;
  expect(item).toEqual({
    ...createExpectedSummary(v1, v2),
    options: {},
    request_options: {},
    options_summary: [],
    ...(initiated_at !== undefined && { initiated_at }),
    ...(finished_at !== undefined && { finished_at, execution_duration }),
  });
  return metadata.metadata as Record<string, unknown>;
}

test('B15: durations are whole milliseconds, in the run and in its metadata', async () => {
  const run = await createRunAndWait(server, 'app', { input: {} });
  for (const { duration, execution_duration } of [run, run.metadata]) {
    expect(execution_duration).toBeGreaterThan(0);
    expect([duration, execution_duration].filter((ms) => !Number.isInteger(ms))).toEqual([]);
  }
  // The column has all digits of a clock.
  const { database } = server.runningServer;
  await database.transact((tx) =>
    tx
      .updateTable('runs')
      .set({ execution_ms: 3350.1594619999996 })
      .where('id', '=', run.id as RunId)
      .execute(),
  );
  expect(await read(path(run.id))).toMatchObject({
    execution_duration: 3350,
    metadata: { execution_duration: 3350 },
  });
});

describe('a run in the status', () => {
  test('queued, then running, then canceled', async () => {
    const run = await createRun(server, 'app', { input: { waits: true } });
    await waitForLogLine(server, 'app', run, 'started');
    const queued = await createRun(server, 'app', { input: {} });
    const waiting = await expectRun(queued, 'running', 'queued');
    expect(waiting).toMatchObject({ attempt: 0, containment: '', execution_duration: 0, input_size: 2 });
    expect(waiting).not.toHaveProperty('initiated_at');
    const running = await expectRun(run, 'running', 'running');
    expect(running).toMatchObject({ attempt: 1, initiated_at: expect.stringMatching(INSTANT) });
    expect(['sandbox', 'limits']).toContain(running.containment);
    expect(running).not.toHaveProperty('finished_at');
    await cancel(queued);
    await expectRun(queued, 'failed', 'canceled');
    await cancel(run);
    await waitForRunEnd(server, 'app', run);
    expect(await expectRun(run, 'failed', 'canceled')).toMatchObject({ attempt: 1 });
  });

  test('succeeded', async () => {
    const { id } = await createRunAndWait(server, 'app', { input: {} });
    const metadata = await expectRun(id, 'succeeded', 'succeeded');
    expect(metadata).toMatchObject({
      attempt: 1,
      error: '',
      output_size: 7,
      initiated_at: expect.stringMatching(INSTANT),
      finished_at: expect.stringMatching(INSTANT),
      limits: { cores: number, memory_bytes: number, duration_ms: 870_000 },
    });
    const at = (name: string): number => Date.parse(metadata[name] as string);
    expect(at('initiated_at')).toBeGreaterThanOrEqual(at('created_at'));
    expect(at('finished_at')).toBeGreaterThanOrEqual(at('initiated_at'));
    expect(metadata.duration).toBe(at('finished_at') - at('created_at'));
    expect(metadata.execution_duration).toBeGreaterThan(0);
  });

  test('failed', async () => {
    const { id } = await createRunAndWait(server, 'app', { input: { fails: true } });
    const metadata = await expectRun(id, 'failed', 'failed');
    expect(metadata.error).toContain('exit code 4');
    expect(await read(path(id, '/output'))).toEqual({
      error_log: { error: metadata.error, stdout: '', stderr: 'started\n' },
    });
  });
});

describe('the list', () => {
  const list = (query = '') => server.request('GET', `/v1/applications/many/runs${query}`);
  const listIds = (body: unknown): string[] => (body as { runs: { id: string }[] }).runs.map((run) => run.id);
  const created: string[] = [];
  beforeAll(async () => {
    await pushApp(server, 'many', nodeApp('() => ({})'));
    const blocker = await createRun(server, 'app', { input: { waits: true } });
    await waitForLogLine(server, 'app', blocker, 'started');
    for (let n = 0; n < 7; n += 1) created.push(await createRun(server, 'many', { input: n }));
  });

  /** Sorts the runs like the list: newest first, runs of one instant by id. */
  async function sortCreated(): Promise<{ id: string; at: string }[]> {
    const all = await Promise.all(
      created.map(async (id) => ({
        id,
        at: String((await read(`/v1/applications/many/runs/${id}/metadata`)).created_at),
      })),
    );
    return all.sort((one, other) => (one.at + one.id < other.at + other.id ? 1 : -1));
  }

  test('has the newest run first, and its pages skip and repeat no run while others are added', async () => {
    const order = (await sortCreated()).map((run) => run.id);
    expect(listIds((await list()).body)).toEqual(order);
    const seen: string[] = [];
    let token = '';
    for (let page = 0; ; page += 1) {
      const { body } = await list(`?limit=2${token && `&pagetoken=${encodeURIComponent(token)}`}`);
      seen.push(...listIds(body));
      token = (body as { next_page_token?: string }).next_page_token ?? '';
      if (!token) break;
      expect(listIds(body)).toHaveLength(2);
      if (page === 1) await createRun(server, 'many', { input: 'new' }).then((id) => created.push(id));
    }
    expect(seen).toEqual(order);
  });

  test('has items on request, and gets a 400 for an invalid token', async () => {
    const { body } = await list('?pagereturn=true&limit=1');
    const page = body as { runs: unknown; items: unknown; next_page_token: string };
    expect(page.items).toEqual(page.runs);
    expect((await list(`?limit=1&pagetoken=${page.next_page_token}x`)).status).toBe(400);
    expect((await list(`?limit=1&start=2020-01-01T00:00:00Z&pagetoken=${page.next_page_token}`)).status).toBe(
      400,
    );
  });

  test('of a time window includes its start and excludes its end', async () => {
    const order = await sortCreated();
    const [newest, oldest] = [order[0], order.at(-1)];
    const inside = order.filter((run) => run.at >= (oldest?.at ?? '') && run.at < (newest?.at ?? ''));
    const { body } = await list(`?start=${oldest?.at}&end=${newest?.at}`);
    expect(listIds(body)).toEqual(inside.map((run) => run.id));
    expect(listIds((await list(`?end=${oldest?.at}`)).body)).toEqual([]);
    expect(listIds((await list('?end=2020-01-01T00:00:00Z')).body)).toEqual([]);
  });

  test.each([
    '?limit=0',
    '?limit=51',
    '?limit=x',
    '?start=yesterday',
    '?end=2020-13-01T00:00:00Z',
    '?start=2021-01-01T00:00:00Z&end=2020-01-01T00:00:00Z',
    '?start=2020-01-01T00:00:00Z&end=2020-01-01T00:00:00Z',
  ])('gets a 400 for %s', async (query) => {
    expect((await list(query)).status).toBe(400);
  });
});
