/** Runs that a remote worker executes: it reaches the server by HTTP alone, and gives the same results as one of the server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../testing/http/otlp-receiver.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import {
  createWorkerToken,
  startWorkerProcess,
  type WorkerProcess,
} from '../../testing/servers/worker-process.ts';

let receiver: OtlpReceiver;
let server: TestServer;
let worker: WorkerProcess;
let token: string;

const APP = nodeApp(`async (input) => {
  console.error('hello from ' + process.env.NEXTMV_RUN_ID);
  if (input.exit) process.exit(input.exit);
  if (input.wait) {
    console.error('waiting');
    await new Promise((resolve) => setTimeout(resolve, input.wait));
  }
  const { TRACEPARENT, TRACESTATE } = process.env;
  if (input.traced) return { TRACEPARENT, TRACESTATE };
  if (input.previous) {
    const { readFileSync } = await import('node:fs');
    const previous = JSON.parse(readFileSync(process.env.SWITCHYARD_PREVIOUS, 'utf8'));
    return { solution: previous.solution.length };
  }
  return {
    solution: input.bytes ? 'x'.repeat(input.bytes) : input,
    statistics: { result: { value: 42 }, schema: 'v1' },
    assets: [{ name: 'a', content: { text: 'asset' }, content_type: 'json' }],
  };
}`);

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  server = await startTestServer({
    env: {
      SWITCHYARD_CAPACITY: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_BSP_SCHEDULE_DELAY: '20',
    },
  });
  token = (await createWorkerToken(server)).token;
  worker = startWorkerProcess(server.url, token, ['--slots', '2', '--label', 'gpu']);
  await pushApp(server, 'remote', APP);
  await worker.waitForLine('Worker registered');
});
afterAll(async () => {
  await worker.kill();
  await server.close();
  await receiver.close();
});

const findWorkers = async () => {
  const { body } = await server.request('GET', '/v1/account/workers');
  return (body as { items: Record<string, unknown>[] }).items;
};

describe('a remote worker', () => {
  test('is listed with its labels and slots', async () => {
    expect(await findWorkers()).toMatchObject([
      { kind: 'remote', status: 'active', labels: ['gpu'], slots: [{ slots: 2, busy: 0 }] },
    ]);
  });

  test('executes a run with its output, statistics, assets and log', async () => {
    const { metadata, output, id } = await createRunAndWait(server, 'remote', { input: { place: 7 } });
    expect(metadata).toMatchObject({ status_v2: 'succeeded', error: '' });
    expect(metadata.statistics).toMatchObject({ result: { value: 42 } });
    expect(output).toMatchObject({ solution: { place: 7 } });
    const log = await server.request('GET', `/v1/applications/remote/runs/${id}/logs`);
    expect(log.body).toEqual({ log: `hello from ${id}\n` });
    const assets = await server.request('GET', `/v1/applications/remote/runs/${id}/assets`);
    expect(assets.body).toMatchObject({ items: [{ name: 'a' }] });
  });

  test('hands the app the output of the previous run, small or large', async () => {
    for (const bytes of [10, 300_000]) {
      const { id } = await createRunAndWait(server, 'remote', { input: { bytes } });
      const body = { previous_run_id: id };
      const { output } = await createRunAndWait(server, 'remote', { input: { previous: true }, body });
      expect(output).toMatchObject({ solution: bytes });
    }
  });

  test.each([
    [
      'an output and an input that are part of no other request',
      { bytes: 3_000_000, text: 'y'.repeat(200_000) },
    ],
    ['an output that is part of the request for the end', { bytes: 1000 }],
  ])('stores %s', async (_, input) => {
    const { metadata, output } = await createRunAndWait(server, 'remote', { input });
    expect(metadata).toMatchObject({ status_v2: 'succeeded', error: '' });
    expect((output as { solution: string }).solution).toHaveLength(input.bytes);
  });

  test('reports the failure of an app', async () => {
    const { metadata } = await createRunAndWait(server, 'remote', { input: { exit: 3 } });
    expect(metadata).toMatchObject({ status_v2: 'failed', error: expect.stringContaining('code 3') });
  });

  test('shows log lines while the app runs, and ends it on a cancel', async () => {
    const id = await createRun(server, 'remote', { input: { wait: 60_000 } });
    await waitForLogLine(server, 'remote', id, 'waiting');
    const cancel = await server.request('PATCH', `/v1/applications/remote/runs/${id}/cancel`);
    expect(cancel.status).toBeLessThan(300);
    expect((await waitForRunEnd(server, 'remote', id)).metadata.status_v2).toBe('canceled');
  });

  test('hands the app its span in the trace of the caller', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const created = await server.request('POST', '/v1/applications/remote/runs', {
      headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01`, tracestate: 'vendor=x' },
      body: { input: { traced: true } },
    });
    const { run_id: id } = created.body as { run_id: string };
    const { output } = await waitForRunEnd(server, 'remote', id);
    const spans = await receiver.until((received) => {
      const own = received.filter(({ attributes }) => attributes['switchyard.run.id'] === id);
      return own.some(({ name }) => name === 'run') && new Map(own.map((span) => [span.name, span]));
    });
    const run = spans.get('run');
    const execute = spans.get('execute');
    expect([...spans.keys()].sort()).toEqual(
      ['claim', 'execute', 'prepare', 'queued', 'run', 'store results'].sort(),
    );
    for (const [name, span] of spans) {
      expect(span.traceId, name).toBe(trace);
      if (name !== 'run') expect(span.parentSpanId, name).toBe(run?.spanId);
    }
    expect(output).toEqual({
      TRACEPARENT: `00-${trace}-${execute?.spanId}-01`,
      TRACESTATE: 'vendor=x',
    });
    const [remote] = await findWorkers();
    expect(execute?.attributes['switchyard.worker.id']).toBe(remote?.id);
  });

  test('executes many runs, each once', async () => {
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, value) => createRun(server, 'remote', { input: { value } })),
    );
    for (const [value, id] of ids.entries())
      expect((await waitForRunEnd(server, 'remote', id)).output).toMatchObject({ solution: { value } });
    const rows = await server.runningServer.database.read
      .selectFrom('runs')
      .select(['attempt', 'fence'])
      .where('id', 'in', ids as never[])
      .execute();
    expect(new Set(rows.map(({ attempt, fence }) => `${attempt} ${fence}`))).toEqual(new Set(['1 1']));
  });
});
