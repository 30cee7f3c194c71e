/** Runs on managed inputs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  packFiles,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import {
  createApplication,
  expectError,
  expectStatus,
  uniqueId,
  uploadContent,
} from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  const source = `async (input) => {
    if (input?.waits) setInterval(() => console.error('waiting'), 20);
    if (input?.waits) await new Promise((resolve) => process.on('SIGTERM', () => process.exit(0)));
    return { got: text };
  }`;
  await pushApp(server, 'app', nodeApp(source));
});
afterAll(() => server.close());

async function createInput(
  content: string | Uint8Array,
  fields: object = {},
  application = 'app',
): Promise<string> {
  const id = uniqueId('input');
  const upload_id = await uploadContent(server, application, content);
  const body = { id, upload_id, ...fields };
  expectStatus(await server.request('POST', `/v1/applications/${application}/inputs`, { body }), 201);
  return id;
}
const remove = (id: string) => server.request('DELETE', `/v1/applications/app/inputs/${id}`);
const create = (body: object, application = 'app') =>
  server.request('POST', `/v1/applications/${application}/runs`, { body });

describe('a run on a managed input', () => {
  test('receives its bytes and reports its id', async () => {
    const text = '{"b": 1, "a": [1.50]}';
    const id = await createInput(text);
    const run = await createRunAndWait(server, 'app', { body: { input_id: id } });
    expect(run).toMatchObject({
      status_v2: 'succeeded',
      output: { got: text },
      input_size: text.length,
      metadata: { tracking: { input_id: id } },
    });
    const { body } = await server.request('GET', '/v1/applications/app/runs?limit=1');
    expect(body).toMatchObject({ runs: [{ id: run.id, input_id: id }] });
  });

  test('keeps its content when the managed input is deleted while the run is queued', async () => {
    const blocker = await createRun(server, 'app', { input: { waits: true } });
    await waitForLogLine(server, 'app', blocker, 'waiting');
    const id = await createInput('{"kept":true}');
    const { run_id } = (await create({ input_id: id })).body as { run_id: string };
    expectStatus(await remove(id), 204);
    expectError(await create({ input_id: id }), 400, 'input_id', id);
    expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${blocker}/cancel`), 204);
    expect(await waitForRunEnd(server, 'app', run_id)).toMatchObject({ output: { got: '{"kept":true}' } });
    const { body } = await server.request('GET', `/v1/applications/app/runs/${run_id}/input`);
    expect(body).toEqual({ kept: true });
  });

  test('has the format of the input, whatever format the request names', async () => {
    const id = await createInput('plain words', { format: { input: { type: 'text' } } });
    const configuration = { format: { input: { type: 'json' } } };
    const run = await createRunAndWait(server, 'app', { body: { input_id: id, configuration } });
    expect(run).toMatchObject({
      output: { got: 'plain words' },
      metadata: { format: { input: { type: 'text' } } },
    });
  });

  test('is refused when the app needs another format', async () => {
    const application = await createApplication(server);
    await pushApp(server, application, nodeApp('(input) => input'), { io_configuration: { format: 'json' } });
    const format = { input: { type: 'csv-archive' } };
    const id = await createInput(await packFiles({ 'a.csv': '1' }), { format }, application);
    expectError(await create({ input_id: id }, application), 400, 'input_id', id, 'csv-archive', 'json');
  });

  test('is refused on an input of another application', async () => {
    const other = await createApplication(server);
    const id = await createInput('{}', {}, other);
    expectError(await create({ input_id: id }), 400, 'input_id', id);
  });

  test('can be external', async () => {
    const id = await createInput('{"n":1}');
    const { run_id } = (await create({ input_id: id, result: { execution_duration: 4 } })).body as {
      run_id: string;
    };
    const { body } = await server.request('GET', `/v1/applications/app/runs/${run_id}`);
    expect(body).toMatchObject({
      status_v2: 'succeeded',
      input_size: 7,
      metadata: { tracking: { input_id: id } },
    });
  });

  test('returns the repeated run of its request', async () => {
    const run = await createRunAndWait(server, 'app', {
      body: { input: 1, tracking: { cloned_run_id: 'run-before' } },
    });
    expect(run).toMatchObject({ metadata: { tracking: { cloned_run_id: 'run-before' } } });
  });
});
