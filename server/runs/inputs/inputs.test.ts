import type { Input } from '@switchyard/contract/applications/inputs.ts';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const clock = createManualClock(Date.UTC(2026, 10, 20, 8));
let server: TestServer;
const path = '/v1/applications/app/inputs';
beforeAll(async () => {
  server = await startTestServer({ clock });
  await pushApp(server, 'app', nodeApp('(input) => ({ input })'));
});
afterAll(() => server.close());

async function upload(content: string | Uint8Array, application = 'app'): Promise<string> {
  const { body } = await server.request('POST', `/v1/applications/${application}/runs/uploadurl`);
  const { upload_id, upload_url } = body as Upload;
  expectStatus(await server.request('PUT', upload_url, { token: null, body: content }), 200);
  return upload_id;
}
const postInput = (body: unknown, to = path) => server.request('POST', to, { body });
const get = async (id: string): Promise<Input> => {
  const response = await server.request('GET', `${path}/${id}`);
  expectStatus(response, 200);
  return response.body as Input;
};
const put = (id: string, body: unknown) => server.request('PUT', `${path}/${id}`, { body });
const putPreferring = (id: string, body: unknown, prefer: string) =>
  server.request('PUT', `${path}/${id}`, { body, headers: { prefer } });
const remove = (id: string) => server.request('DELETE', `${path}/${id}`);
const createInput = async (fields: object = {}): Promise<Input> => {
  const source = 'run_id' in fields ? {} : { upload_id: await upload('{"made":true}') };
  const response = await postInput({ id: uniqueId('in'), ...source, ...fields });
  expectStatus(response, 201);
  return response.body as Input;
};
const download = (input: Input) => server.request('GET', input.download_url, { token: null });

describe('an input from an upload', () => {
  test('201 returns the input, as a later GET does', async () => {
    const upload_id = await upload('{}');
    const body = { id: 'monday', name: 'Monday', description: 'At its peak', upload_id };
    const response = await postInput(body);
    expectStatus(response, 201);
    expect(response.body).toEqual({
      ...body,
      app_id: 'app',
      format: { input: { type: 'json' } },
      download_url: expect.stringContaining(`${server.url}/v1/downloads/`),
      created_at: expect.stringMatching(INSTANT),
      updated_at: expect.stringMatching(INSTANT),
    });
    expect(await get('monday')).toEqual(response.body);
  });

  test.each([
    [
      'JSON',
      {
        format: {},
        expected: { input: { type: 'json' } },
        type: 'application/json',
        content: '{ "b":1.50 }',
      },
    ],
    [
      'text',
      {
        format: { input: { type: 'text' } },
        expected: { input: { type: 'text' } },
        type: 'text/plain; charset=utf-8',
        content: 'zwei 🚚',
      },
    ],
    [
      'an archive',
      {
        format: { input: { type: 'multi-file' }, output: { type: 'multi-file' } },
        expected: { input: { type: 'multi-file' }, output: { type: 'multi-file' } },
        type: 'application/gzip',
        content: 'any bytes',
      },
    ],
  ])('returns %s byte for byte', async (_title, { format, expected, type, content }) => {
    const input = await createInput({ upload_id: await upload(content), format });
    expect(input.format).toEqual(expected);
    const response = await download(input);
    expectStatus(response, 200);
    expect(response.text).toBe(content);
    expect(response.headers.get('content-type')).toBe(type);
  });

  test('keeps large content after the upload has expired', async () => {
    const content = JSON.stringify({ padding: 'x'.repeat(300_000) });
    const upload_id = await upload(content);
    const input = await createInput({ upload_id });
    clock.advance(25 * 60 * 60 * 1000);
    await server.restart();
    const again = { id: uniqueId('in'), upload_id };
    await expect.poll(async () => (await postInput(again)).status).toBe(400);
    expect((await download(await get(input.id))).text).toBe(content);
  });

  test('400 for an upload that is missing, has no content or belongs to another application', async () => {
    const other = await createApplication(server);
    const { body } = await server.request('POST', '/v1/applications/app/runs/uploadurl');
    for (const upload_id of [
      '',
      'upl-nothing',
      '🚚',
      (body as Upload).upload_id,
      await upload('{}', other),
    ]) {
      expectError(await postInput({ upload_id }), 400, `upload_id is "${upload_id}"`);
    }
    expectError(await postInput({ upload_id: 'a\0b' }), 400, 'upload_id');
  });
});

describe('an input from a run', () => {
  test('has the content and formats of the run, whatever format the request names', async () => {
    const run = await createRun(server, 'app', {
      input: 'zwei Zeilen\n',
      body: { configuration: { format: { input: { type: 'text' } } } },
    });
    const input = await createInput({
      run_id: run,
      format: { input: { type: 'json' }, output: { type: 'text' } },
    });
    expect(input).toMatchObject({
      run_id: run,
      format: { input: { type: 'text' }, output: { type: 'json' } },
    });
    expect(input).not.toHaveProperty('upload_id');
    expect((await download(input)).text).toBe('zwei Zeilen\n');
  });

  test('outlives the run', async () => {
    const large = { padding: 'x'.repeat(300_000) };
    const run = await createRun(server, 'app', { input: large });
    await waitForRunEnd(server, 'app', run);
    const input = await createInput({ run_id: run });
    expectStatus(await server.request('DELETE', `/v1/applications/app/runs/${run}`), 204);
    expect((await download(await get(input.id))).body).toEqual(large);
  });

  test('400 for a run that is missing or belongs to another application', async () => {
    await pushApp(server, 'other', nodeApp('(input) => ({ input })'));
    const foreign = await createRun(server, 'other', { input: {} });
    for (const run_id of ['', 'run-nothing', 'latest-9KzmD41Hg', foreign]) {
      expectError(await postInput({ run_id }), 400, `run_id is "${run_id}"`, 'a run of this application');
    }
  });

  test('that is deleted concurrently is complete or refused', async () => {
    for (let round = 0; round < 8; round += 1) {
      const run = await createRun(server, 'app', { input: { padding: 'x'.repeat(70_000), round } });
      await waitForRunEnd(server, 'app', run);
      const id = uniqueId('in');
      const [response] = await Promise.all([
        postInput({ id, run_id: run }),
        server.request('DELETE', `/v1/applications/app/runs/${run}`),
      ]);
      if (response.status === 201) {
        expect((await download(await get(id))).body).toMatchObject({ round });
      } else {
        expectError(response, 400, `run_id is "${run}"`);
        expectError(await server.request('GET', `${path}/${id}`), 404);
      }
    }
  });
});

describe('creating an input', () => {
  test('400 for both an upload and a run, and for neither', async () => {
    const upload_id = await upload('{}');
    expectError(
      await postInput({ upload_id, run_id: 'r' }),
      400,
      'upload_id is',
      'run_id is "r"',
      'give one',
    );
    for (const body of [{}, { upload_id: null, run_id: null }])
      expectError(await postInput(body), 400, 'upload_id and run_id', 'give one');
  });

  test('400 for an existing id of the application; another application can use it', async () => {
    const input = await createInput();
    expectError(await postInput({ id: input.id, upload_id: await upload('{}') }), 400, `id is "${input.id}"`);
    const other = await createApplication(server);
    const body = { id: input.id, upload_id: await upload('{}', other) };
    expectStatus(await postInput(body, `/v1/applications/${other}/inputs`), 201);
    const stored = await get(input.id);
    expect((await download(stored)).body).toEqual({ made: true });
  });

  test('succeeds once for twenty concurrent requests with one id', async () => {
    const body = { id: uniqueId('in'), upload_id: await upload('{}') };
    const responses = await Promise.all(Array.from({ length: 20 }, () => postInput(body)));
    expect(responses.map((one) => one.status).sort()).toEqual([201, ...Array(19).fill(400)]);
  });

  test('generates an absent id and uses the id as an absent name', async () => {
    const input = await createInput({ id: null, name: null });
    expect(input.id).toMatch(/^[a-z0-9-]{1,64}$/);
    expect(input).toMatchObject({ name: input.id, description: '' });
    for (const id of ['a', 'x'.repeat(64)])
      expect(await createInput({ id, name: id })).toMatchObject({ id, name: id });
  });

  test.each([
    ['id', 'Monday'],
    ['id', 'a.b'],
    ['id', 'x'.repeat(65)],
    ['name', ''],
    ['name', 'x'.repeat(65)],
    ['name', 'a\0b'],
    ['description', 'x'.repeat(129)],
    ['format', { input: { type: 'csv' } }],
    ['format', 'json'],
    ['upload_id', 7],
    ['run_id', []],
  ])('400 for the %s %j', async (field, value) => {
    const response = await postInput({ upload_id: 'upl-x', [field]: value });
    expectError(response, 400, field);
  });

  test('400 for an unknown field suggests the nearest known field', async () => {
    expectError(await postInput({ upload: 'x' }), 400, 'did you mean');
  });

  test('404 for a missing application', async () => {
    expectError(await postInput({ upload_id: 'upl-x' }, '/v1/applications/missing/inputs'), 404);
  });
});

describe('an input', () => {
  test('204 updates name and description from the whole object, and nothing else', async () => {
    const before = await createInput({ description: 'Told' });
    clock.advance(1000);
    const changed = {
      ...before,
      name: 'Another',
      format: null,
      created_at: 0,
      more: 1,
    };
    const response = await put(before.id, changed);
    expectStatus(response, 204);
    expect(response.text).toBe('');
    const after = await get(before.id);
    expect(after).toEqual({
      ...before,
      name: 'Another',
      download_url: expect.any(String),
      updated_at: new Date(Date.parse(before.updated_at) + 1000).toISOString(),
    });
    expectStatus(await put(before.id, { name: null, description: '' }), 204);
    expect(await get(before.id)).toMatchObject({ name: 'Another', description: '' });
    for (const refused of [{ name: '' }, { id: 'x' }, { run_id: 'x' }])
      expectError(await put(before.id, refused), 400, ...Object.keys(refused));
    expectError(await put(before.id, { description: 'x'.repeat(129) }), 400, 'description');
  });

  test('has a download URL for ten minutes, in responses to GET and POST and in lists', async () => {
    const input = await createInput();
    const list = (await server.request('GET', path)).body as Input[];
    const urls = [input, await get(input.id), list.find((one) => one.id === input.id) ?? input];
    clock.advance(599_000);
    for (const one of urls) expectStatus(await download(one), 200);
    clock.advance(1000);
    for (const one of urls) expect((await download(one)).status).toBe(403);
    expectStatus(await download(await get(input.id)), 200);
  });

  test('404 for a missing input and for another account', async () => {
    const input = await createInput();
    const { token } = await createOtherAccount(server);
    for (const [id, options] of [
      ['missing', {}],
      [input.id, { token }],
    ] as const) {
      const one = `${path}/${id}`;
      expectError(await server.request('GET', one, options), 404);
      expectError(await server.request('PUT', one, { ...options, body: { name: 'Stolen' } }), 404);
      expectError(await server.request('DELETE', one, options), 404);
    }
    expectError(await server.request('GET', path, { token }), 404);
    expect(await get(input.id)).toMatchObject({ name: input.name });
  });
});

test('operators can write inputs, viewers can only read them', async () => {
  const { token: operator } = await server.createKey('operator');
  const { token: viewer } = await server.createKey('viewer');
  const body = { id: uniqueId('in'), upload_id: await upload('{}') };
  expectStatus(await server.request('POST', path, { body, token: viewer }), 403);
  expectStatus(await server.request('POST', path, { body, token: operator }), 201);
  const one = `${path}/${body.id}`;
  expectStatus(await server.request('GET', one, { token: viewer }), 200);
  expectStatus(await server.request('PUT', one, { body: { name: 'x' }, token: viewer }), 403);
  expectStatus(await server.request('DELETE', one, { token: viewer }), 403);
  expectStatus(await server.request('DELETE', one, { token: operator }), 204);
});

describe('deleting an input', () => {
  test('204; then it and its URL return 404, and its id can be reused', async () => {
    const input = await createInput();
    expectStatus(await remove(input.id), 204);
    expectError(await server.request('GET', `${path}/${input.id}`), 404);
    expectStatus(await download(input), 404);
    expectError(await remove(input.id), 404);
    await createInput({ id: input.id });
  });

  test('does not change its source run', async () => {
    const run = await createRun(server, 'app', { input: { kept: true } });
    await waitForRunEnd(server, 'app', run);
    expectStatus(await remove((await createInput({ run_id: run })).id), 204);
    expect((await server.request('GET', `/v1/applications/app/runs/${run}/input`)).body).toEqual({
      kept: true,
    });
  });
});

test('PUT returns the input for Prefer: return=representation, else 204', async () => {
  const { id } = await createInput({ name: 'Before' });
  const changed = await putPreferring(id, { name: 'After' }, 'return=representation');
  expectStatus(changed, 200);
  expect(changed.headers.get('preference-applied')).toBe('return=representation');
  expect(changed.body).toMatchObject({ id, name: 'After', description: '' });
  expect(changed.body).toEqual(await get(id));
  for (const prefer of ['return=minimal', 'respond-async']) {
    const silent = await putPreferring(id, { name: 'After' }, prefer);
    expectStatus(silent, 204);
    expect(silent.text).toBe('');
  }
  expectError(await putPreferring('missing', { name: 'x' }, 'return=representation'), 404);
});
