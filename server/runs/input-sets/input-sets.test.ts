/** Create, list and delete input sets; sets of an instance are in window.test.ts, updates in update.test.ts. */
import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import {
  createApplication,
  createInstance,
  expectError,
  expectStatus,
  listAllPages,
  uniqueId,
  uploadContent,
} from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const clock = createManualClock(Date.UTC(2026, 10, 20, 8));
const buildPath = (application: string): string => `/v1/applications/${application}/experiments/inputsets`;
const path = buildPath('app');

let server: TestServer;
/** Ids of runs of `app` by the text of their input. */
const runs: Record<string, string> = {};
beforeAll(async () => {
  server = await startTestServer({ clock });
  await pushApp(server, 'app', nodeApp('(input) => { if (input.fails) process.exit(1); return { input }; }'));
  for (const day of ['monday', 'tuesday']) {
    const body = { name: day, description: `On ${day}.` };
    runs[day] = (await createRunAndWait(server, 'app', { input: { day }, body })).id;
  }
  for (const id of ['one', 'two', 'three']) await createManagedInput(id);
});
afterAll(() => server.close());

async function createManagedInput(id: string, format?: object): Promise<void> {
  const upload_id = await uploadContent(server, 'app', JSON.stringify({ id }));
  const body = { id, name: `Input ${id}`, description: `The ${id}.`, upload_id, format };
  expectStatus(await server.request('POST', '/v1/applications/app/inputs', { body }), 201);
}
const postSet = (body: object, to = path) =>
  server.request('POST', to, { body: { name: 'Any name', ...body } });
async function createSet(body: object, to = path): Promise<InputSet> {
  const response = await postSet({ id: uniqueId('set'), ...body }, to);
  expectStatus(response, 201);
  return response.body as InputSet;
}
async function get(id: string): Promise<InputSet> {
  const response = await server.request('GET', `${path}/${id}`);
  expectStatus(response, 200);
  return response.body as InputSet;
}
const referTo = (...ids: string[]) => ids.map((id) => ({ id }));
async function readContents({ inputs }: InputSet): Promise<unknown[]> {
  const responses = await Promise.all(
    inputs.map((one) => server.request('GET', one.download_url ?? '', { token: null })),
  );
  for (const response of responses) expectStatus(response, 200);
  return responses.map((response) => response.body);
}

describe('an input set of runs', () => {
  test('201 returns the set with the runs in the given order, as a later GET does', async () => {
    const { monday = '', tuesday = '' } = runs;
    const body = { id: 'days', name: 'Days', description: 'Two of them.', run_ids: [tuesday, monday] };
    const response = await postSet(body);
    expectStatus(response, 201);
    const json = { input: { type: 'json' }, output: { type: 'json' } };
    const item = (id: string, day: string) => ({
      id,
      run_id: id,
      name: day,
      description: `On ${day}.`,
      format: json,
      download_url: expect.stringContaining(`${server.url}/v1/downloads/`),
    });
    expect(response.body).toEqual({
      id: 'days',
      app_id: 'app',
      name: 'Days',
      description: 'Two of them.',
      input_ids: [tuesday, monday],
      inputs: [item(tuesday, 'tuesday'), item(monday, 'monday')],
      created_at: expect.stringMatching(INSTANT),
      updated_at: expect.stringMatching(INSTANT),
    });
    expect(await get('days')).toEqual(response.body);
    expect(await readContents(await get('days'))).toEqual([{ day: 'tuesday' }, { day: 'monday' }]);
  });

  test('accepts runs of every outcome, with their formats', async () => {
    const failed = await createRunAndWait(server, 'app', { input: { fails: true } });
    expect(failed.status_v2).toBe('failed');
    const text = await createRun(server, 'app', {
      input: 'zwei 🚚',
      body: { configuration: { format: { input: { type: 'text' } } } },
    });
    const set = await createSet({ run_ids: [failed.id, text] });
    expect(set.inputs.map((one) => one.format.input.type)).toEqual(['json', 'text']);
    const [, response] = await Promise.all(
      set.inputs.map((one) => server.request('GET', one.download_url ?? '', { token: null })),
    );
    expect(response?.text).toBe('zwei 🚚');
    expect(response?.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('can have managed inputs after the runs, named or of a time', async () => {
    const { monday = '', tuesday = '' } = runs;
    const named = await createSet({ run_ids: [tuesday], inputs: referTo('two', 'one') });
    expect(named.input_ids).toEqual([tuesday, 'two', 'one']);
    expect(await readContents(named)).toEqual([{ day: 'tuesday' }, { id: 'two' }, { id: 'one' }]);
    const start_time = '2026-01-01T00:00:00Z';
    const source = { instance_id: 'latest', start_time, maximum_runs: 1 };
    const recent = await createSet({ ...source, inputs: referTo('one', 'two') });
    expect(recent).toMatchObject({
      instance_id: 'latest',
      input_ids: [expect.stringMatching(/^run-/), 'one', 'two'],
    });
    await createManagedInput(monday);
    const repeated = await postSet({ run_ids: [monday], inputs: referTo(monday) });
    expectError(repeated, 400, `inputs has "${monday}", which is also the id of a run`);
  });

  test('400 for a run that is missing, of another application, or named twice', async () => {
    const { monday = '' } = runs;
    const other = await createInstance(server);
    const foreign = await createRun(server, other, { input: {} });
    for (const id of ['', 'run-nothing', 'latest-9KzmD41Hg', foreign])
      expectError(await postSet({ run_ids: [monday, id] }), 400, `run_ids.1 is "${id}"`, 'a run of this');
    expectError(await postSet({ run_ids: ['x', monday, 'x'] }), 400, 'run_ids.2 is "x", as run_ids.0 is');
    expectError(await postSet({ run_ids: ['a\0b'] }), 400, 'run_ids.0');
  });

  test('400 for no run and for more than five hundred', async () => {
    expectError(await postSet({ run_ids: [] }), 400, 'run_ids has 0 items', '1 to 500');
    const many = Array.from({ length: 501 }, (_, index) => `run-${index}`);
    expectError(await postSet({ run_ids: many }), 400, 'run_ids has 501 items', '1 to 500');
  });
});

test('B15: an input set can name more than twenty runs or managed inputs', async () => {
  const numbers = Array.from({ length: 21 }, (_, index) => index);
  const external = { configuration: { run_type: { type: 'external' } } };
  const run_ids = await Promise.all(
    numbers.map((index) => createRun(server, 'app', { input: { index }, body: external })),
  );
  await Promise.all(
    run_ids.map(async (run_id, index) => {
      const body = { id: `of-run-${index}`, run_id };
      expectStatus(await server.request('POST', '/v1/applications/app/inputs', { body }), 201);
    }),
  );
  const contents = numbers.map((index) => ({ index }));
  expect(await readContents(await createSet({ run_ids }))).toEqual(contents);
  const inputs = referTo(...numbers.map((index) => `of-run-${index}`));
  expect(await readContents(await createSet({ inputs }))).toEqual(contents);
});

describe('an input set of managed inputs', () => {
  test('stores name and description of the inputs, and accepts a maximum', async () => {
    const inputs = [{ id: 'two', name: 'Not its name', format: null, more: 1 }, { id: 'one' }];
    const set = await createSet({ inputs, maximum_runs: 20 });
    expect(set).not.toHaveProperty('instance_id');
    expect(set.input_ids).toEqual(['two', 'one']);
    expect(set.inputs).toEqual(
      ['two', 'one'].map((id) => ({
        id,
        name: `Input ${id}`,
        description: `The ${id}.`,
        format: { input: { type: 'json' } },
        download_url: expect.any(String),
      })),
    );
    expect(await readContents(set)).toEqual([{ id: 'two' }, { id: 'one' }]);
  });

  test('has both formats when both were given', async () => {
    const format = { input: { type: 'multi-file' }, output: { type: 'multi-file' } };
    await createManagedInput('archive', format);
    expect((await createSet({ inputs: referTo('archive') })).inputs[0]?.format).toEqual(format);
  });

  test('400 for an input that is missing or named twice', async () => {
    expectError(
      await postSet({ inputs: referTo('one', 'missing') }),
      400,
      'inputs.1.id is "missing"',
      'managed',
    );
    expectError(
      await postSet({ inputs: referTo('one', 'one') }),
      400,
      'inputs.1.id is "one", as inputs.0.id is',
    );
    expectError(await postSet({ inputs: [{ name: 'one' }] }), 400, 'inputs.0.id is missing');
    const other = await createApplication(server);
    expectError(await postSet({ inputs: referTo('one') }, buildPath(other)), 400, 'inputs.0.id is "one"');
  });
});

describe('creating an input set', () => {
  const instance = { instance_id: 'latest' };
  const start_time = '2026-11-01T08:00:00Z';
  test.each<[string, object, string[]]>([
    ['no source', {}, ['run_ids, instance_id and inputs are all absent']],
    ['no source but a bound', { maximum_runs: 5 }, ['run_ids, instance_id and inputs are all absent']],
    ['null sources', { run_ids: null, inputs: null, instance_id: null }, ['all absent']],
    ['runs and an instance', { run_ids: ['x'], ...instance }, ['run_ids and instance_id are given']],
    ['runs and a start', { run_ids: ['x'], start_time }, ['run_ids and start_time are given', 'time range']],
    ['runs and an end', { run_ids: ['x'], end_time: start_time }, ['run_ids and end_time', 'time range']],
    ['inputs and a time', { inputs: [{ id: 'x' }], start_time }, ['inputs and start_time are given']],
    ['a time alone', { start_time }, ['start_time is', 'instance_id is absent', 'needs the instance']],
    ['an end alone', { end_time: start_time }, ['end_time is', 'instance_id is absent']],
    ['more runs than the bound', { run_ids: ['x', 'y'], maximum_runs: 1 }, ['run_ids has 2 items', 'is 1']],
    ['more inputs', { inputs: [{ id: 'x' }, { id: 'y' }], maximum_runs: 1 }, ['inputs has 2 items']],
    ['an end at its start', { ...instance, start_time, end_time: start_time }, [start_time, 'not before']],
    ['an end before the default start', { ...instance, end_time: start_time }, ['absent', '24 hours ago']],
    ['a bound of 0', { ...instance, maximum_runs: 0 }, ['maximum_runs is 0', '1 to 20']],
    ['a bound of 21', { ...instance, maximum_runs: 21 }, ['maximum_runs is 21', '1 to 20']],
    ['a day that is none', { ...instance, start_time: '2026-02-30T00:00:00Z' }, ['start_time', 'RFC 3339']],
    ['a time without offset', { ...instance, end_time: '2026-11-20T08:00:00' }, ['end_time', 'RFC 3339']],
    ['an unknown field', { ...instance, runids: [] }, ['did you mean \\"run_ids\\"']],
    ['an id with capitals', { ...instance, id: 'Days' }, ['id is']],
    ['a short name', { ...instance, name: 'ab' }, ['name is', '3 to 64']],
    ['a long name', { ...instance, name: 'x'.repeat(65) }, ['name is', '3 to 64']],
    ['a long description', { ...instance, description: 'x'.repeat(257) }, ['description is', '256']],
  ])('400 for %s', async (_what, body, words) => {
    const response = await postSet(body);
    expectStatus(response, 400);
    for (const word of words) expect(response.text).toContain(word);
  });

  test('accepts names of 3 to 64 and descriptions of 0 to 256 characters, and generates an id', async () => {
    const inputs = referTo('one');
    for (const name of ['abc', '🚚'.repeat(64)]) expect((await createSet({ inputs, name })).name).toBe(name);
    const description = '🚚'.repeat(256);
    expect((await createSet({ inputs, description })).description).toBe(description);
    const response = await createSet({ inputs, id: null, description: null });
    expect(response.id).toMatch(/^[a-z0-9-]{1,64}$/);
    expect(response.description).toBe('');
    expectError(await server.request('POST', path, { body: { inputs } }), 400, 'name is missing');
  });

  test('400 for an existing id of the application; another application can use it', async () => {
    const { id } = await createSet({ inputs: referTo('one') });
    expectError(await postSet({ id, inputs: referTo('two') }), 400, `id is "${id}"`, 'another input set');
    expect((await get(id)).input_ids).toEqual(['one']);
    const other = await createInstance(server);
    const run = await createRun(server, other, { input: {} });
    await createSet({ id, run_ids: [run] }, buildPath(other));
  });

  test('succeeds once for ten concurrent requests with one id', async () => {
    const body = { id: uniqueId('set'), inputs: referTo('one', 'two') };
    const responses = await Promise.all(Array.from({ length: 10 }, () => postSet(body)));
    expect(responses.map((one) => one.status).sort()).toEqual([201, ...Array(9).fill(400)]);
  });

  test('has one effect and one response under an Idempotency-Key', async () => {
    const body = { name: 'Any name', run_ids: [runs.monday] };
    const options = { body, headers: { 'idempotency-key': 'set-once' } };
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => server.request('POST', path, options)),
    );
    const [first] = responses;
    for (const response of responses) {
      expectStatus(response, 201);
      expect(response.body).toEqual(first?.body);
    }
    const all = (await server.request('GET', path)).body as InputSet[];
    expect(all.filter((set) => set.input_ids.join() === runs.monday)).toHaveLength(1);
  });

  test('404 for a missing application', async () => {
    expectError(await postSet({ run_ids: ['x'] }, buildPath('missing')), 404);
  });
});

describe('input sets', () => {
  test('are listed newest first, at once or by pages, without URLs', async () => {
    const other = await createInstance(server);
    const to = buildPath(other);
    expect((await server.request('GET', to)).body).toEqual([]);
    expect((await server.request('GET', `${to}?pagereturn=true`)).body).toEqual({ items: [] });
    const run_ids = [
      await createRun(server, other, { input: { n: 1 } }),
      await createRun(server, other, { input: { n: 2 } }),
    ];
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      // Two sets share each creation time, so that their ids decide their order.
      if (count % 2 === 0) clock.advance(1000);
      ids.push((await createSet({ id: `list-${count}`, run_ids }, to)).id);
    }
    ids.reverse();
    const listed = (await server.request('GET', to)).body as InputSet[];
    expect(listed.map((set) => set.id)).toEqual(ids);
    for (const set of listed) {
      expect(set.input_ids).toEqual(run_ids);
      expect(set.inputs.map((one) => one.id)).toEqual(run_ids);
      expect(set.inputs[0]).not.toHaveProperty('download_url');
    }
    expect((await listAllPages(server, to, 3)).map((page) => page.length)).toEqual([3, 3, 1]);
    expect((await listAllPages(server, to, 3)).flat()).toEqual(ids);
    expectError(await server.request('GET', `${to}?pagetoken=x`), 400, 'pagetoken');
  });

  test('404 for a missing set and for another account', async () => {
    const { id } = await createSet({ inputs: referTo('one') });
    const { token } = await createOtherAccount(server);
    for (const [one, options] of [
      ['missing', {}],
      [id, { token }],
    ] as const) {
      const setPath = `${path}/${one}`;
      expectError(await server.request('GET', setPath, options), 404);
      expectError(await server.request('PUT', setPath, { ...options, body: { name: 'Stolen' } }), 404);
      expectError(await server.request('DELETE', setPath, options), 404);
    }
    expectError(await server.request('GET', path, { token }), 404);
    expect((await get(id)).name).toBe('Any name');
  });

  test('can be written by operators, and only read by viewers', async () => {
    const { token: operator } = await server.createKey('operator');
    const { token: viewer } = await server.createKey('viewer');
    const body = { id: uniqueId('set'), name: 'Any name', inputs: referTo('one') };
    const one = `${path}/${body.id}`;
    expectError(await server.request('POST', path, { body, token: viewer }), 403);
    expectStatus(await server.request('POST', path, { body, token: operator }), 201);
    expectStatus(await server.request('GET', one, { token: viewer }), 200);
    expectError(await server.request('PUT', one, { body, token: viewer }), 403);
    expectStatus(await server.request('PUT', one, { body, token: operator }), 200);
    expectError(await server.request('DELETE', one, { token: viewer }), 403);
    expectStatus(await server.request('DELETE', one, { token: operator }), 204);
  });
});

describe('deleting an input set', () => {
  test('204; then it and its URLs return 404, its id can be reused, and its sources stay', async () => {
    const run_ids = [runs.monday];
    const set = await createSet({ run_ids });
    expectStatus(await server.request('DELETE', `${path}/${set.id}`), 204);
    expectError(await server.request('GET', `${path}/${set.id}`), 404);
    expectError(await server.request('DELETE', `${path}/${set.id}`), 404);
    expectStatus(await server.request('GET', set.inputs[0]?.download_url ?? '', { token: null }), 404);
    await createSet({ id: set.id, run_ids });
    const input = await server.request('GET', `/v1/applications/app/runs/${runs.monday}/input`);
    expect(input.body).toEqual({ day: 'monday' });
  });
});
