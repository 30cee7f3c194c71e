/** The life of a run, from its request to its result. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(
    server,
    'echo',
    nodeApp('(input, options) => { console.error("got it"); return { input, options }; }'),
  );
});
afterAll(() => server.close());

describe('a run', () => {
  test('executes the app with its input and options, and stores output and log', async () => {
    const run = await createRunAndWait(server, 'echo', {
      input: { stops: 3 },
      body: { options: { duration: 2 } },
    });
    expect(run.status_v2).toBe('succeeded');
    expect(run.output).toEqual({ input: { stops: 3 }, options: { duration: '2' } });
    const { body } = await server.client.call('getRunLogs', {
      params: { application_id: 'echo', run_id: run.id },
    });
    expect(body.log).toBe('got it\n');
  });

  test('stores its input byte for byte', async () => {
    const response = await server.request('POST', '/v1/applications/echo/runs', {
      body: '{"name":"x", "input" : {"a":1.0,"n":12345678901234567890} }',
    });
    const { run_id } = response.body as { run_id: string };
    const input = await server.request('GET', `/v1/applications/echo/runs/${run_id}/input`);
    expect(input.text).toBe('{"a":1.0,"n":12345678901234567890}');
  });

  test('can be canceled while it runs', async () => {
    const source =
      '() => new Promise((resolve) => { process.on("SIGTERM", () => resolve({ best: 7 })); console.error("started"); setInterval(() => {}, 1000); })';
    await pushApp(
      server,
      'never-ends',
      nodeApp(`${source}.then((best) => { process.stdout.write(JSON.stringify(best)); process.exit(0); })`),
    );
    const run = await createRun(server, 'never-ends');
    await waitForLogLine(server, 'never-ends', run, 'started');
    expect((await server.request('PATCH', `/v1/applications/never-ends/runs/${run}/cancel`)).status).toBe(
      204,
    );
    expect((await waitForRunEnd(server, 'never-ends', run)).status_v2).toBe('canceled');
  });
});
