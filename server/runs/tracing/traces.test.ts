/** Traces of requests and runs, as a collector receives them. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createEnsemble, ensembleRunType, runGroup } from '../../testing/fixtures/ensembles.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../../testing/http/otlp-receiver.ts';
import { startServerCluster } from '../../testing/servers/server-cluster.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const CREATE_RUN = 'POST /v1/applications/{application_id}/runs';
const PHASES = ['queued', 'claim', 'prepare', 'execute', 'store results'];
const APP = nodeApp(
  "(input) => { if (input.fails) { console.error(input.word); process.exit(3); } return { env: process.env.TRACEPARENT ?? '', state: process.env.TRACESTATE ?? '' }; }",
);

let receiver: OtlpReceiver;
let server: TestServer;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  server = await startTestServer({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=team%20a',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    },
  });
  await pushApp(server, 'app', APP);
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});

/** Creates a run with the headers, and returns its id. */
async function createTracedRun(
  headers: Record<string, string>,
  body: unknown = { input: {} },
): Promise<string> {
  const response = await server.request('POST', '/v1/applications/app/runs', { headers, body });
  expect(response.status, response.text).toBe(202);
  return (response.body as { run_id: string }).run_id;
}

const belongsTo = (run: string) => (span: ReceivedSpan) => span.attributes['switchyard.run.id'] === run;

/** Waits until the span of the run has arrived, which is the last of its trace, and returns the trace by span name. */
function waitForTrace({ until }: OtlpReceiver, run: string): Promise<Map<string, ReceivedSpan>> {
  return until((spans) => {
    const last = spans.find((span) => span.name === 'run' && belongsTo(run)(span));
    const trace = spans.filter((span) => span.traceId === last?.traceId);
    const request = trace.some((span) => span.name === CREATE_RUN);
    return last && request && new Map(trace.map((span) => [span.name, span]));
  });
}

describe('the trace of a run', () => {
  test('continues that of the caller with a span for each phase, and the app continues it', async () => {
    const run = await createTracedRun({
      traceparent: `00-${TRACE}-${CALLER}-01`,
      tracestate: 'vendor=x, other@system=1',
    });
    const { output } = await waitForRunEnd(server, 'app', run);
    const trace = await waitForTrace(receiver, run);
    expect([...trace.keys()].sort()).toEqual([CREATE_RUN, 'run', ...PHASES].sort());
    for (const span of trace.values())
      expect(span).toMatchObject({
        traceId: TRACE,
        traceState: 'vendor=x,other@system=1',
        statusMessage: '',
      });
    const request = trace.get(CREATE_RUN);
    const whole = trace.get('run');
    expect(request).toMatchObject({
      ...{ parentSpanId: CALLER, kind: 2, status: 0 },
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/applications/{application_id}/runs',
        'http.response.status_code': 202,
        'switchyard.operation': 'createRun',
      },
      resource: { 'service.name': 'switchyard', 'deployment.environment.name': 'test' },
    });
    expect(whole?.parentSpanId).toBe(request?.spanId);
    expect(whole?.attributes).toMatchObject({
      'switchyard.run.id': run,
      'switchyard.run.status': 'succeeded',
      'switchyard.run.attempt': 1,
      'switchyard.run.type': 'standard',
      'switchyard.application.id': 'app',
      'switchyard.instance.id': 'latest',
    });
    let last = whole?.startedAt;
    for (const name of PHASES) {
      const phase = trace.get(name);
      expect(phase, name).toMatchObject({ parentSpanId: whole?.spanId, kind: 1, status: 0, startedAt: last });
      last = phase?.endedAt;
    }
    expect(last).toBe(whole?.endedAt);
    expect(trace.get('execute')?.attributes).toMatchObject({
      'switchyard.run.end_reason': 'exit',
      'process.exit.code': 0,
      'switchyard.worker.id': expect.stringMatching(/^worker-/),
    });
    expect(output).toEqual({
      env: `00-${TRACE}-${trace.get('execute')?.spanId}-01`,
      state: 'vendor=x,other@system=1',
    });
    expect(receiver.headers[0]).toMatchObject({ 'x-tenant': 'team a', 'content-encoding': 'gzip' });
  });

  test.each([
    ['no header', {}],
    ['a malformed header', { traceparent: `00-${TRACE}-${CALLER}` }],
    ['a trace id of zeros', { traceparent: `00-${'0'.repeat(32)}-${CALLER}-01` }],
  ])('begins with the request when there is %s', async (_name, headers: Record<string, string>) => {
    const run = await createTracedRun(headers);
    await waitForRunEnd(server, 'app', run);
    const trace = await waitForTrace(receiver, run);
    const request = trace.get(CREATE_RUN);
    expect(request?.parentSpanId).toBe('');
    expect(request?.traceId).not.toBe(TRACE);
    expect(trace.get('run')?.parentSpanId).toBe(request?.spanId);
  });

  test('has errors without the output of the app, and no input, options, names or secrets', async () => {
    const word = 'sesame-4711';
    await server.client.call('createSecretsCollection', {
      params: { application_id: 'app' },
      body: { id: 'keys', name: word, secrets: [{ type: 'env', location: 'KEY', value: `${word}-secret` }] },
    });
    const run = await createTracedRun(
      {},
      {
        ...{ name: word, description: word, options: { mode: word } },
        input: { word, fails: true },
        configuration: { secrets_collection_id: 'keys' },
      },
    );
    expect(await waitForRunEnd(server, 'app', run)).toMatchObject({ status_v2: 'failed' });
    const trace = await waitForTrace(receiver, run);
    expect(trace.get('run')).toMatchObject({ status: 2, attributes: { 'switchyard.run.status': 'failed' } });
    expect(trace.get('execute')).toMatchObject({ status: 2, attributes: { 'process.exit.code': 3 } });
    const bytes = Buffer.concat(receiver.bodies).toString('latin1');
    expect(bytes).not.toContain(word);
    expect(bytes).not.toContain(server.token);
  });

  test('is not exported when the caller does not sample it, and the app gets that flag', async () => {
    const trace = '5bf92f3577b34da6a3ce929d0e0e4736';
    const unsampled = await createTracedRun({ traceparent: `00-${trace}-${CALLER}-00` });
    const { output } = await waitForRunEnd(server, 'app', unsampled);
    expect(output).toMatchObject({ env: expect.stringMatching(`^00-${trace}-[0-9a-f]{16}-00$`) });
    const sampled = await createTracedRun({});
    await waitForRunEnd(server, 'app', sampled);
    // Spans arrive in the order of their ends.
    await waitForTrace(receiver, sampled);
    expect(receiver.spans.filter((span) => span.traceId === trace)).toEqual([]);
  });

  test('of an ensemble has those of its child runs in it', async () => {
    await createEnsemble(server, 'best', [runGroup('one', {})]);
    const run = await createTracedRun({}, { input: {}, configuration: ensembleRunType('best') });
    await waitForRunEnd(server, 'app', run);
    const { whole, child } = await receiver.until((spans) => {
      const runs = spans.filter(({ name }) => name === 'run');
      const whole = runs.find(belongsTo(run));
      const child = runs.find(({ parentSpanId }) => parentSpanId === whole?.spanId);
      return whole && child && { whole, child };
    });
    expect(whole.attributes).toMatchObject({ 'switchyard.run.type': 'ensemble' });
    expect(child).toMatchObject({ traceId: whole.traceId });
    expect(child.attributes).toMatchObject({ 'switchyard.run.type': 'standard' });
  });

  test('of a run that is canceled in the queue has that phase alone', async () => {
    // No worker serves the class after the restart.
    await server.restart({ SWITCHYARD_CAPACITY: '1,8c16gb12h=0' });
    const run = await createTracedRun({}, { input: {}, configuration: { execution_class: '8c16gb12h' } });
    await server.client.call('cancelRun', { params: { application_id: 'app', run_id: run } });
    const trace = await waitForTrace(receiver, run);
    expect([...trace.keys()].filter((name) => !name.includes('/')).sort()).toEqual(['queued', 'run']);
    expect(trace.get('run')?.attributes).toMatchObject({ 'switchyard.run.status': 'canceled' });
  });

  test('has no span of health checks and of metrics', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) await server.request('GET', path);
    await waitForTrace(receiver, await createTracedRun({}));
    expect(receiver.spans.filter(({ name }) => /healthz|readyz|metrics/.test(name))).toEqual([]);
  });
});

test('a server without an exporter hands the span of the caller to the app', async () => {
  await using other = await startTestServer({ env: { OTEL_SDK_DISABLED: 'true' } });
  await pushApp(other, 'app', APP);
  const traceparent = `00-${TRACE}-${CALLER}-01`;
  const traced = await other.request('POST', '/v1/applications/app/runs', {
    headers: { traceparent, tracestate: 'vendor=x' },
    body: { input: {} },
  });
  const { run_id } = traced.body as { run_id: string };
  expect((await waitForRunEnd(other, 'app', run_id)).output).toEqual({ env: traceparent, state: 'vendor=x' });
  const { output } = await createRunAndWait(other, 'app', { input: {} });
  expect(output).toEqual({ env: '', state: '' });
});

test('a receiver that never responds delays neither runs nor the shutdown', async () => {
  const silent = await startOtlpReceiver({ responds: false });
  const other = await startTestServer({
    env: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${silent.endpoint}/v1/traces`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_BSP_SCHEDULE_DELAY: '1',
      // A longer queue would hold every span of this test, so it would not show that spans are dropped.
      OTEL_BSP_MAX_QUEUE_SIZE: '2',
    },
  });
  await pushApp(other, 'app', APP);
  for (let count = 0; count < 3; count += 1)
    expect(await createRunAndWait(other, 'app', { input: {} })).toMatchObject({ status_v2: 'succeeded' });
  await waitUntil('a failed export is counted', async () =>
    /^switchyard_spans_total\{result="failed"\} [1-9]/m.test((await other.request('GET', '/metrics')).text),
  );
  const before = performance.now();
  await other.close();
  expect(performance.now() - before).toBeLessThan(10_000);
  await silent.close();
});

// Several processes need PostgreSQL.
test.runIf(inject('postgres'))(
  'a trace of two processes: one accepts the run and one executes it',
  async () => {
    const cluster = await startServerCluster(inject('postgres'), `traces_${process.pid}`);
    try {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, OTEL_BSP_SCHEDULE_DELAY: '20' };
      const accepting = await cluster.start('server', { env });
      const executing = await cluster.start('worker', { env });
      await pushApp(accepting, 'app', APP);
      const run = await createRun(accepting, 'app', { input: {} });
      const trace = await waitForTrace(receiver, run);
      const request = trace.get(CREATE_RUN);
      const whole = trace.get('run');
      expect(request?.resource['process.pid']).toBe(accepting.pid);
      expect(whole?.resource['process.pid']).toBe(executing.pid);
      expect(whole?.parentSpanId).toBe(request?.spanId);
      for (const name of PHASES) expect(trace.get(name)?.parentSpanId, name).toBe(whole?.spanId);
    } finally {
      await cluster.close();
    }
  },
);
