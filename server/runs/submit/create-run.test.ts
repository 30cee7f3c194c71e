/** Creation of runs: input, size, execution class, priority and format. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { uploadContent } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const DIRECT_MAX = 5_242_880;
const params = { application_id: 'app' };
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(
    server,
    'app',
    nodeApp(
      '(input) => ({ kind: typeof input, length: text.length, input: text.length < 200 ? input : null })',
    ),
  );
});
afterAll(() => server.close());

const upload = (content: string | Uint8Array) => uploadContent(server, 'app', content);
const requestRun = (body: unknown, query = '') =>
  server.request('POST', `/v1/applications/app/runs${query}`, { body });
const getInput = (run: string, query = '') =>
  server.request('GET', `/v1/applications/app/runs/${run}/input${query}`);

describe('input', () => {
  test.each([
    ['an object', '{"b":1,"a":[1.50, 1e2]}'],
    ['a number that no double can represent', '12345678901234567890'],
    ['text with an escape', '"\\u00e9\\n"'],
    ['an array', '[ ]'],
    ['false', 'false'],
  ])('in the request is stored byte for byte: %s', async (_case, text) => {
    const response = await server.request('POST', '/v1/applications/app/runs', {
      body: `{"input": ${text} }`,
    });
    const { run_id } = response.body as { run_id: string };
    expect((await getInput(run_id)).text).toBe(text);
    const run = await waitForRunEnd(server, 'app', run_id);
    expect(run.output).toMatchObject({ length: text.length });
    expect(run.input_size).toBe(Buffer.byteLength(text));
  });

  test('may be absent or null: the app reads null', async () => {
    for (const body of [{}, { input: null }]) {
      const run = await createRunAndWait(server, 'app', { body });
      expect(run.output).toMatchObject({ kind: 'object', input: null, length: 4 });
    }
  });

  test('comes from an upload, unchanged', async () => {
    const text = '{ "stops" : 3.0 }';
    const run = await createRunAndWait(server, 'app', { body: { upload_id: await upload(text) } });
    expect(run.output).toMatchObject({ input: { stops: 3 }, length: text.length });
    expect((await getInput(run.id)).text).toBe(text);
    const { body } = await getInput(run.id, '?format=url');
    expect(await (await fetch((body as { url: string }).url)).text()).toBe(text);
  });

  test('of the format text reaches the app as text, and is a JSON string in the response', async () => {
    const text = 'zwei Zeilen\nmit "Gänsen"';
    const configuration = { format: { input: { type: 'text' } } };
    const direct = await createRunAndWait(server, 'app', { input: text, body: { configuration } });
    const uploaded = await createRunAndWait(server, 'app', {
      body: { upload_id: await upload(text), configuration },
    });
    for (const run of [direct, uploaded]) {
      expect(run.output).toMatchObject({ kind: 'string', input: text });
      expect(run.metadata.format).toEqual({ input: { type: 'text' }, output: { type: 'json' } });
      expect((await getInput(run.id)).body).toBe(text);
    }
    expect((await requestRun({ input: { no: 'text' }, configuration })).status).toBe(400);
    expect((await requestRun({ configuration })).status).toBe(400);
  });

  test('gets a 400 for an upload together with an input, and for an upload that does not exist or is empty', async () => {
    const id = await upload('1');
    const both = await requestRun({ input: 1, upload_id: id });
    expect(both.status).toBe(400);
    expect((both.body as { error: string }).error).toContain(id);
    expect((await requestRun({ upload_id: 'upl-0000000000000000' })).status).toBe(400);
    const { body } = await server.client.call('createRunUpload', { params });
    const empty = await requestRun({ upload_id: body.upload_id });
    expect((empty.body as { error: string }).error).toContain('nothing has been PUT');
  });

  test('from an upload of another application gets a 400', async () => {
    await pushApp(server, 'other', nodeApp('() => ({})'));
    const { body } = await server.client.call('createRunUpload', { params: { application_id: 'other' } });
    await fetch(body.upload_url, { method: 'PUT', body: '1' });
    expect((await requestRun({ upload_id: body.upload_id })).status).toBe(400);
  });

  test('in the request may have 5 MiB and not a byte more', async () => {
    const text = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
    const send = (bytes: number) =>
      server.request('POST', '/v1/applications/app/runs', { body: `{"input":${text(bytes)}}` });
    const { run_id } = (await send(DIRECT_MAX)).body as { run_id: string };
    expect((await waitForRunEnd(server, 'app', run_id)).output).toMatchObject({ length: DIRECT_MAX });
    expect((await getInput(run_id)).text).toBe(text(DIRECT_MAX));
    const over = await send(DIRECT_MAX + 1);
    expect(over.status).toBe(400);
    expect((over.body as { error: string }).error).toContain('5242881');
  });

  test('above 5 MiB can be uploaded, and is read at a URL', async () => {
    const text = `"${'y'.repeat(DIRECT_MAX)}"`;
    const run = await createRunAndWait(server, 'app', { body: { upload_id: await upload(text) } });
    expect(run.output).toMatchObject({ length: DIRECT_MAX + 2 });
    expect(run.input_size).toBe(DIRECT_MAX + 2);
    const direct = await getInput(run.id);
    expect(direct.status).toBe(400);
    expect((direct.body as { error: string }).error).toContain('format=url');
    const { body } = await getInput(run.id, '?format=url');
    expect((await (await fetch((body as { url: string }).url)).text()) === text).toBe(true);
  });

  test('of an archive format must be uploaded', async () => {
    const configuration = { format: { input: { type: 'csv-archive' } } };
    expect((await requestRun({ input: {}, configuration })).status).toBe(400);
    const broken = await createRunAndWait(server, 'app', {
      body: { upload_id: await upload(new Uint8Array(gzipSync('no tar'))), configuration },
    });
    expect(broken.status_v2).toBe('failed');
    expect(broken.error).not.toBe('');
  });
});

describe('class, priority and instance', () => {
  test('are the defaults of the specification when the request has none', async () => {
    const run = await createRunAndWait(server, 'app', { input: 1 });
    expect(run).toMatchObject({
      execution_class: '6c9500mb870s',
      queuing_priority: 6,
      queuing_disabled: false,
      application_instance_id: 'latest',
      application_version_id: '',
    });
  });

  test('come from the instance, and the run overrides them', async () => {
    await server.client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
    await server.client.call('createInstance', {
      params,
      body: {
        id: 'prod',
        name: 'Production',
        version_id: 'v1',
        configuration: { execution_class: '8c16gb12h', queuing: { priority: 2 } },
      },
    });
    const byInstance = await createRunAndWait(server, 'app', { instance: 'prod', input: 1 });
    expect(byInstance).toMatchObject({
      execution_class: '8c16gb12h',
      queuing_priority: 2,
      application_instance_id: 'prod',
      application_version_id: 'v1',
    });
    const byRun = await createRunAndWait(server, 'app', {
      instance: 'prod',
      input: 1,
      body: { configuration: { execution_class: '16c60gb12h', queuing: { priority: 9 } } },
    });
    expect(byRun).toMatchObject({ execution_class: '16c60gb12h', queuing_priority: 9 });
  });

  test.each([
    { configuration: { execution_class: 'huge' } },
    { configuration: { queuing: { priority: 0 } } },
    { configuration: { queuing: { priority: 10 } } },
    { configuration: { queuing: { priority: 1.5 } } },
    { configuration: { format: { input: { type: 'xml' } } } },
    { inptu: {} },
    { name: 'a\u0000b' },
    { configuration: { run_type: { reference_id: 'a\u0000b' } } },
  ])('get a 400 when they are invalid: %j', async (body) => {
    const response = await requestRun({ input: 1, ...body });
    expect(response.status).toBe(400);
    expect(response.body).toEqual({
      status: expect.any(String),
      error: expect.any(String),
      code: 'invalid_request',
    });
  });

  test('an unknown instance is a 404, an application without an executable a 400', async () => {
    expect((await requestRun({ input: 1 }, '?instance_id=nobody')).status).toBe(404);
    expect((await requestRun({ input: 1 }, '?instance_id=a%00b')).status).toBe(400);
    await server.client.call('createApplication', { body: { id: 'empty', name: 'Empty' } });
    expect((await server.request('POST', '/v1/applications/empty/runs', { body: {} })).status).toBe(400);
  });

  test('a missing run is a 404, also when its id is malformed', async () => {
    for (const id of ['run-0000000000000000', 'a%00b', '%F0%9F%98%80', 'x'.repeat(300)]) {
      expect((await server.request('GET', `/v1/applications/app/runs/${id}`)).status, id).toBe(404);
    }
  });
});

test('name and description are stored, and a PUT of the whole run changes them', async () => {
  const id = await createRun(server, 'app', { input: 1, body: { name: 'Monday', description: 'first' } });
  const before = await waitForRunEnd(server, 'app', id);
  expect(before).toMatchObject({ name: 'Monday', description: 'first' });
  const path = `/v1/applications/app/runs/${id}`;
  const renamed = await server.request('PUT', path, {
    body: { ...before, name: 'Tuesday', status: 'failed' },
  });
  expect(renamed.status).toBe(200);
  expect(renamed.body).toMatchObject({ name: 'Tuesday', description: 'first', status: 'succeeded' });
  expect((await server.request('GET', path)).body).toMatchObject({ name: 'Tuesday', output: before.output });
});
