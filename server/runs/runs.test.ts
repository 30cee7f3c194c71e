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
  test('goes from request to result', async () => {
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

  test('keeps its input byte for byte', async () => {
    const answer = await server.request('POST', '/v1/applications/echo/runs', {
      body: '{"name":"x", "input" : {"a":1.0,"n":12345678901234567890} }',
    });
    const { run_id } = answer.body as { run_id: string };
    const input = await server.request('GET', `/v1/applications/echo/runs/${run_id}/input`);
    expect(input.text).toBe('{"a":1.0,"n":12345678901234567890}');
  });

  test('is canceled while it runs, and what it printed by then is kept', async () => {
    const source =
      '() => new Promise((resolve) => { process.on("SIGTERM", () => resolve({ best: 7 })); console.error("started"); setInterval(() => {}, 1000); })';
    await pushApp(
      server,
      'patient',
      nodeApp(
        `${source}.then((found) => { process.stdout.write(JSON.stringify(found)); process.exit(0); })`.replace(
          '.then',
          '.then',
        ),
      ),
    );
    const run = await createRun(server, 'patient');
    await waitForLogLine(server, 'patient', run, 'started');
    expect((await server.request('PATCH', `/v1/applications/patient/runs/${run}/cancel`)).status).toBe(204);
    expect((await waitForRunEnd(server, 'patient', run)).status_v2).toBe('canceled');
  });
});
