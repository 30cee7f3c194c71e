/** The stream of a run over HTTP: complete, in order, continued after a lost connection, and refused where it has to be. */
import { KEY_STREAMS_MAX } from '@switchyard/contract/limits.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { readEvents } from '@switchyard/contract/read-events.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileSchema } from '../../platform/http/requests/validation.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { expectError } from '../../testing/fixtures/resources.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import {
  listLines,
  listStatuses,
  type OpenedStream,
  openStream,
  type StreamedEvent,
} from '../../testing/http/event-streams.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const LINES = 3_000;
const EXPECTED = Array.from({ length: LINES }, (_, n) => `line ${n}`);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(
    server,
    'app',
    nodeApp(`async (input) => {
      const write = (text) => new Promise((resolve) => process.stderr.write(text, resolve));
      for (let n = 0; n < (input.lines ?? 0); n += 1) await write('line ' + n + '\\n');
      for (let n = 0; n < (input.wideLines ?? 0); n += 1) await write('x'.repeat(50_000) + '\\n');
      if (input.waits) await new Promise((resolve) => { process.on('SIGTERM', resolve); setInterval(() => {}, 1000); });
      process.stdout.write('{}', () => process.exit());
    }`),
  );
});
afterAll(() => server.close());

const path = (run: string): string => `/v1/applications/app/runs/${run}/events`;
const open = (run: string, lastEventId?: string): Promise<OpenedStream> =>
  openStream(server, path(run), lastEventId);
const cancel = (run: string) => server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);

/** Reads a few events at a time and closes the connection after them, until the stream says that it is complete. */
async function readWithInterruptions(run: string, eventsEach: number): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  for (;;) {
    const stream = await open(run, events.at(-1)?.id);
    if (stream.status === 204) return events;
    for (let count = 0; count < eventsEach; count += 1) {
      const event = await stream.next();
      if (event === undefined) break;
      events.push(event);
    }
    await stream.close();
  }
}

describe('the stream of a run', () => {
  test('has each line once and in order for every reader, and ends with the terminal status', async () => {
    const run = await createRun(server, 'app', { input: { lines: LINES } });
    const [first, second, interrupted] = await Promise.all([
      open(run).then((stream) => stream.readAll()),
      open(run).then((stream) => stream.readAll()),
      readWithInterruptions(run, 1),
    ]);
    for (const events of [first, second, interrupted]) {
      expect(listLines(events)).toEqual(EXPECTED);
      expect(events.at(-1)).toMatchObject({ event: 'status', data: { status_v2: 'succeeded' } });
      // A reader gets the latest status: on a busy machine the run can end before the next reading.
      const statuses = listStatuses(events);
      expect(statuses).toEqual(['queued', 'running', 'succeeded'].filter((one) => statuses.includes(one)));
    }
    const later = await (await open(run)).readAll();
    expect(listLines(later)).toEqual(EXPECTED);
    expect(listStatuses(later)).toEqual(['succeeded']);
  });

  test('has new lines and the new status without a request', async () => {
    const run = await createRun(server, 'app', { input: { lines: 2, waits: true } });
    await waitForLogLine(server, 'app', run, 'line 1');
    const stream = await open(run);
    expect(await stream.next()).toMatchObject({ event: 'status', data: { status_v2: 'running' } });
    expect(listLines([(await stream.next()) as StreamedEvent])).toEqual(['line 0', 'line 1']);
    await cancel(run);
    // A run of more than a second has also the series of its resources.
    const rest = (await stream.readAll()).filter(({ event }) => event !== 'series');
    expect(rest).toMatchObject([{ event: 'status', data: { status_v2: 'canceled' } }]);
  });

  test('ends when the server stops, and the next start continues after the last event', async () => {
    const external = { configuration: { run_type: { type: 'external' } } };
    const run = await createRun(server, 'app', { input: {}, body: external });
    const before = await open(run);
    const first = await before.next();
    expect(first).toMatchObject({ event: 'status', data: { status_v2: 'none' } });
    const rest = before.readAll();
    await server.restart();
    expect(await rest).toEqual([]);
    const after = await open(run, first?.id);
    const result = { status: 'succeeded', execution_duration: 5 };
    await server.request('PUT', `/v1/applications/app/runs/${run}`, { body: { result } });
    const events = await after.readAll();
    expect(listStatuses(events)).toEqual(['succeeded']);
    expect((await open(run, events.at(-1)?.id)).status).toBe(204);
  });

  test('asks the client to connect again when the run is deleted, which is a 404 then', async () => {
    const run = await createRun(server, 'app', { input: { lines: 1, waits: true } });
    const stream = await open(run);
    await waitForLogLine(server, 'app', run, 'line 0');
    await server.request('DELETE', `/v1/applications/app/runs/${run}`);
    expect((await stream.readAll()).at(-1)).toMatchObject({
      event: 'resync',
      data: { reason: 'the run was deleted' },
    });
    expect((await open(run)).status).toBe(404);
  });
});

test('a reader that stops reading delays no other reader, and gets the rest when it reads again', async () => {
  // More than the buffers of a connection hold.
  const run = await createRun(server, 'app', { input: { wideLines: 100 } });
  const stopped = await open(run);
  const events = await (await open(run)).readAll();
  expect(listLines(events)).toHaveLength(100);
  expect(listLines(await stopped.readAll())).toEqual(listLines(events));
});

test('a run of another account, another application or a missing one is a 404, and an invalid id a 400', async () => {
  const { id } = await createRunAndWait(server, 'app', { input: {} });
  const other = await createOtherAccount(server);
  const get = (url: string, options = {}) => server.request('GET', url, options);
  expectError(await get(path(id), { token: other.token }), 404, 'There is no application "app".');
  expectError(await get(path('run-missing')), 404, 'There is no run "run-missing"');
  for (const value of [
    'x',
    '~~',
    '1~0~gone',
    '1~0~running~',
    '-1~0~running',
    '1~x~running',
    `${'9'.repeat(20)}~0~running`,
  ])
    expectError(await get(path(id), { headers: { 'last-event-id': value } }), 400, 'Last-Event-ID');
});

test('W12: an event on the wire has the form that its operation declares, with JSON text as its data', async () => {
  const { id } = await createRunAndWait(server, 'app', { input: { lines: 2 } });
  const streams = [
    { path: path(id), schema: operations.streamRunEvents.responses[200].schema },
    { path: '/v1/account/events', schema: operations.streamAccountEvents.responses[200].schema },
  ];
  for (const stream of streams) {
    const headers = { authorization: `Bearer ${server.token}` };
    const { body } = await fetch(server.url + stream.path, { headers });
    const events = readEvents(body ?? new Blob().stream());
    const { value } = await events.next();
    await events.return(undefined);
    expect(compileSchema(stream.schema)(value), JSON.stringify(value)).toBe(true);
    expect(JSON.parse(value?.data ?? '')).toBeTypeOf('object');
  }
});

test('A9: a number beyond what the database holds is refused in every position of a stream and of a log', async () => {
  const { id } = await createRunAndWait(server, 'app', { input: { lines: 1 } });
  const log = `/v1/applications/app/runs/${id}/logs/live`;
  for (const number of ['9'.repeat(15), '9'.repeat(16), '9'.repeat(19), '9'.repeat(40), '1e400']) {
    const isNumber = number.length === 15;
    for (const position of [`${number}~0~running`, `0~${number}~running`]) {
      const response = await server.request('GET', path(id), { headers: { 'last-event-id': position } });
      expect([position, response.status]).toEqual([position, isNumber ? 200 : 400]);
    }
    for (const position of [number, `1.${number}`]) {
      const response = await server.request('GET', '/v1/account/events', {
        headers: { 'last-event-id': position },
      });
      expect([position, response.status]).toEqual([position, isNumber ? 200 : 400]);
    }
    const page = await server.request('GET', `${log}?since=${number}`);
    expect([number, page.status]).toEqual([number, isNumber ? 200 : 400]);
    expectError(
      await server.request('GET', `/v1/account/queue?pagereturn=true&pagetoken=${number}`),
      400,
      'pagetoken',
    );
    expectError(await server.request('GET', `/v1/applications?limit=${number}`), 400, 'limit');
  }
});

test('a key has a limited number of streams, and a HEAD request opens none', async () => {
  const run = await createRun(server, 'app', { input: { waits: true } });
  const opened = await Promise.all(Array.from({ length: KEY_STREAMS_MAX }, () => open(run)));
  expect(opened.every(({ status }) => status === 200)).toBe(true);
  expectError(await server.request('GET', path(run)), 429, `${KEY_STREAMS_MAX} open event streams`);
  for (const stream of opened.slice(1)) await stream.close();
  await waitUntil('the server has noticed', async () => {
    const stream = await open(run);
    await stream.close();
    return stream.status === 200;
  });
  for (let count = 0; count < 3; count += 1)
    expect((await server.request('HEAD', path(run))).status).toBe(200);
  await cancel(run);
  await waitForRunEnd(server, 'app', run);
});
