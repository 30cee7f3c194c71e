/** Requests that wait for the end of a run. */
import { constants } from 'node:http2';
import { RUN_WAIT_SECONDS_MAX } from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { createRun, createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { expectError } from '../../testing/fixtures/resources.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { openHttp2Session, openHttp2Stream } from '../../testing/http/tls-clients.ts';
import {
  startTestServer,
  type TestServer,
  type TestServerSettings,
} from '../../testing/servers/test-server.ts';

/** More than the memory of handlers has room for with the part of one that reads an output. */
const WAITING_REQUESTS = 150;

let server: TestServer;
beforeAll(async () => {
  server = await startWithApp();
});
afterAll(() => server.close());

/** The app runs until it is canceled if the input says so. */
async function startWithApp(settings?: TestServerSettings): Promise<TestServer> {
  const started = await startTestServer(settings);
  await pushApp(
    started,
    'app',
    nodeApp(`async (input) => {
      if (input.waits) await new Promise((resolve) => { process.on('SIGTERM', resolve); setInterval(() => {}, 1000); });
      process.stdout.write(JSON.stringify({ solution: input }), () => process.exit());
    }`),
  );
  return started;
}

const path = (run: string, seconds: number | string, part = ''): string =>
  `/v1/applications/app/runs/${run}${part}?wait_seconds=${seconds}`;
const cancel = (run: string, on = server) => on.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);

async function createRunning(on = server): Promise<string> {
  const run = await createRun(on, 'app', { input: { waits: true } });
  await waitUntil('the run is running', async () => (await readStatus(on, run)) === 'running');
  return run;
}

async function readStatus(on: TestServer, run_id: string): Promise<string> {
  const params = { application_id: 'app', run_id };
  return (await on.client.call('getRunMetadata', { params })).body.status_v2;
}

/** Returns a clock and the number of the waits of the maximum length that have begun by it and not ended. */
function countWaits(): { clock: Clock; readonly count: number } {
  const waits = new Set<object>();
  const after: Clock['after'] = (delayMs, callback) => {
    const wait = {};
    if (delayMs === RUN_WAIT_SECONDS_MAX * 1000) waits.add(wait);
    const cancel = systemClock.after(delayMs, callback);
    return () => {
      waits.delete(wait);
      cancel();
    };
  };
  return {
    clock: { ...systemClock, after },
    get count() {
      return waits.size;
    },
  };
}

describe('a request that waits for the end of a run', () => {
  test('has the output of a run that was queued when it began', async () => {
    const run = await createRun(server, 'app', { input: { n: 7 } });
    const { status, body } = await server.request('GET', path(run, RUN_WAIT_SECONDS_MAX));
    expect(status).toBe(200);
    expect(body).toMatchObject({ status_v2: 'succeeded', output: { solution: { n: 7 } } });
  });

  test('has a run that ended before at once', async () => {
    const { id } = await createRunAndWait(server, 'app', { input: {} });
    const { body } = await server.request('GET', path(id, RUN_WAIT_SECONDS_MAX, '/metadata'));
    expect(body).toMatchObject({ status_v2: 'succeeded' });
  });

  test('has the running run after its time', async () => {
    const run = await createRunning();
    const begin = performance.now();
    const { body } = await server.request('GET', path(run, 1));
    expect(performance.now() - begin).toBeGreaterThanOrEqual(990);
    expect(body).toMatchObject({ status_v2: 'running' });
    await cancel(run);
  });

  test('has a response time without its wait', async () => {
    await using own = await startWithApp();
    const run = await createRunning(own);
    await own.request('GET', path(run, 1));
    const { text } = await own.request('GET', '/metrics');
    const [, seconds] =
      /^switchyard_http_request_seconds_sum\{operation="getRun",.*\} (.+)$/m.exec(text) ?? [];
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(seconds)).toBeLessThan(0.9);
  });

  test('gets the 404 when the run is deleted meanwhile', async () => {
    const run = await createRunning();
    const waiting = server.request('GET', path(run, RUN_WAIT_SECONDS_MAX));
    await server.request('DELETE', `/v1/applications/app/runs/${run}`);
    expectError(await waiting, 404, run);
  });

  test('has an external run when its result arrives', async () => {
    const run = await createRun(server, 'app', {
      input: {},
      body: { configuration: { run_type: { type: 'external' } } },
    });
    const waiting = server.request('GET', path(run, RUN_WAIT_SECONDS_MAX, '/metadata'));
    const result = { status: 'succeeded', execution_duration: 3 };
    await server.request('PUT', `/v1/applications/app/runs/${run}`, { body: { result } });
    expect((await waiting).body).toMatchObject({ status_v2: 'succeeded' });
  });

  test.each(['-1', String(RUN_WAIT_SECONDS_MAX + 1), '1.5', 'long', '', '1&wait_seconds=2'])(
    'refuses %j seconds',
    async (value) => {
      const { id } = await createRunAndWait(server, 'app', { input: {} });
      for (const part of ['', '/metadata'])
        expectError(await server.request('GET', path(id, value, part)), 400, 'wait_seconds');
    },
  );

  test('needs so little memory that many of one member can wait', async () => {
    const run = await createRunning();
    let responses = 0;
    const waiting = Array.from({ length: WAITING_REQUESTS }, async () => {
      const response = await server.request('GET', path(run, RUN_WAIT_SECONDS_MAX));
      responses += 1;
      return response;
    });
    // A request for content, which comes after all of them, needs the largest part of the memory.
    const other = await createRunAndWait(server, 'app', { input: {} });
    const { status } = await server.request('GET', `/v1/applications/app/runs/${other.id}`);
    expect([status, responses]).toEqual([200, 0]);
    await cancel(run);
    for (const { body } of await Promise.all(waiting)) expect(body).toMatchObject({ status_v2: 'canceled' });
  });

  test('ends when its caller disconnects, or cancels its stream of HTTP/2', async () => {
    const waits = countWaits();
    await using own = await startWithApp({ clock: waits.clock, env: { SWITCHYARD_TLS: 'self-signed' } });
    const run = await createRunning(own);
    const abort = new AbortController();
    const { signal } = abort;
    const headers = { authorization: `Bearer ${own.token}` };
    const aborted = fetch(own.url + path(run, RUN_WAIT_SECONDS_MAX), { headers, signal }).catch(
      () => 'aborted',
    );
    await waitUntil('a request waits', async () => waits.count === 1);
    abort.abort();
    expect(await aborted).toBe('aborted');
    await waitUntil('no request waits', async () => waits.count === 0);
    const session = await openHttp2Session(own.url);
    const stream = openHttp2Stream(session, own, { ':path': path(run, RUN_WAIT_SECONDS_MAX) });
    await waitUntil('a stream waits', async () => waits.count === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await waitUntil('no stream waits', async () => waits.count === 0);
    expect(session.destroyed).toBe(false);
    session.destroy();
  });

  test('gets the run as it is when the server shuts down', async () => {
    const own = await startWithApp();
    const run = await createRunning(own);
    const waiting = own.request('GET', path(run, RUN_WAIT_SECONDS_MAX));
    // The request has begun when a later one on the same server has its response.
    await readStatus(own, run);
    await own.close();
    expect((await waiting).body).toMatchObject({ id: run });
  });
});
