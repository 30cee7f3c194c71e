import type { MemberInventory } from '@switchyard/contract/account/inventory.ts';
import type { Application } from '@switchyard/contract/applications/applications.ts';
import type { ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, pushApp } from '../../testing/fixtures/apps.ts';
import { memberCalls } from '../../testing/fixtures/members.ts';
import {
  createApplication,
  createInstance,
  expectError,
  expectStatus,
  uniqueId,
} from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const create = (body: unknown) => server.request('POST', '/v1/applications', { body });
const get = (id: string) => server.request('GET', `/v1/applications/${id}`);
const put = (id: string, body: unknown) => server.request('PUT', `/v1/applications/${id}`, { body });
const remove = (id: string) => server.request('DELETE', `/v1/applications/${id}`);

describe('creating an application', () => {
  test('201 returns the whole application, as a later GET does', async () => {
    const response = await create({ id: 'routing', name: 'Vehicle routing', description: 'Daily tours' });
    expectStatus(response, 201);
    expect(response.body).toEqual({
      id: 'routing',
      name: 'Vehicle routing',
      description: 'Daily tours',
      type: 'custom',
      default_instance: '',
      default_experiment_instance: '',
      subscription_id: '',
      ...{ objective: null, indicators: {}, baseline_run_id: null },
      active_executable: null,
      ...{ html_assets_trusted: false, html_assets_trusted_by: null, html_assets_trusted_at: null },
      locked: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await get('routing')).body).toEqual(response.body);
  });

  test('without an id, the id is derived from the name', async () => {
    const names = ['Tägliche Touren №1!', '🚚🚚🚚', '-- ABC --', 'x'.repeat(48)];
    for (const name of names) {
      const response = await create({ name });
      expectStatus(response, 201);
      expect((response.body as Application).id).toMatch(/^[a-z0-9-]{1,64}$/);
    }
    expect(((await create({ name: 'Same name' })).body as Application).id).not.toBe(
      ((await create({ name: 'Same name' })).body as Application).id,
    );
  });

  test('null means absent, and the other fields of published clients are accepted', async () => {
    const response = await create({
      id: null,
      name: 'From a client',
      description: null,
      is_pipeline: true,
      type: 'custom',
      default_instance: null,
      default_experiment_instance: null,
    });
    expectStatus(response, 201);
    expect(response.body).toMatchObject({ type: 'pipeline', description: '', default_instance: '' });
  });

  test('400 for an existing id, with nothing changed', async () => {
    const id = await createApplication(server);
    expectError(await create({ id, name: 'Another one' }), 400, `id is "${id}"`);
    expect((await get(id)).body).toMatchObject({ name: `Application ${id}` });
  });

  test('one of eight concurrent requests with one id succeeds', async () => {
    const id = uniqueId('race');
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => create({ id, name: `Racer ${index}` })),
    );
    expect(responses.map((one) => one.status).sort()).toEqual([201, ...Array(7).fill(400)]);
  });

  test.each([
    ['a', 201],
    ['0-9-a-z', 201],
    ['-', 201],
    ['x'.repeat(64), 201],
    ['x'.repeat(65), 400],
    ['', 400],
    ['Upper', 400],
    ['under_score', 400],
    ['v1.2', 400],
    ['ä', 400],
    ['a b', 400],
    ['a/b', 400],
    ['a\n', 400],
    ['a\0', 400],
    [7, 400],
    [{}, 400],
  ] as const)('the id %j returns %i', async (id, status) => {
    const response = await create({ id, name: 'Any name' });
    if (status === 201) expectStatus(response, 201);
    else expectError(response, 400, 'id is ');
  });

  test.each([
    ['abc', 201],
    ['🚚🚚🚚', 201],
    ['🚚'.repeat(48), 201],
    ['x'.repeat(48), 201],
    ['ab', 400],
    ['🚚🚚', 400],
    ['x'.repeat(49), 400],
    ['🚚'.repeat(49), 400],
    ['a\0bc', 400],
    [null, 400],
  ] as const)('the name %j returns %i', async (name, status) => {
    const response = await create({ id: uniqueId('named'), name });
    if (status === 400) expectError(response, 400, 'name is ');
    else {
      expectStatus(response, 201);
      expect((await get((response.body as Application).id)).body).toMatchObject({ name });
    }
  });

  test('the error message counts the name in characters, not in UTF-16 units', async () => {
    expectError(await create({ name: '🚚🚚' }), 400, '2 characters long; it must have 3 to 48 characters');
  });

  test.each([
    [0, 201],
    [128, 201],
    [129, 400],
  ])('a description of %i characters returns %i', async (length, status) => {
    const response = await create({
      id: uniqueId('described'),
      name: 'Any name',
      description: '🚚'.repeat(length),
    });
    if (status === 400) expectError(response, 400, 'description is ', '129 characters long');
    else expectStatus(response, 201);
  });

  test('400 for an unknown field suggests the nearest known field', async () => {
    expectError(await create({ name: 'Any name', descripton: 'x' }), 400, 'did you mean "description"?');
    expectError(await create({ name: 'Any name', defaultInstance: 'x' }), 400, '"default_instance"');
  });

  test('400 for "default" as the default instance', async () => {
    expectError(await create({ name: 'Any name', default_instance: 'default' }), 400, 'default_instance');
  });
});

describe('what the indicators mean', () => {
  const objective = { name: 'result.value', direction: 'minimize' };
  const APP = { main: '#!/bin/sh\nprintf "{}"\n' };
  const indicators = { late: { label: 'Late stops', role: 'violation' }, km: { unit: 'km' } };

  test('a field that is sent is set, an absent one stays, and null removes it', async () => {
    const id = await createApplication(server);
    await pushApp(server, id, APP, { executable_type: 'binary', runtime: 'native' });
    const run = await createRun(server, id, { input: {} });
    const all = { objective, indicators, baseline_run_id: run };
    expect((await put(id, all)).body).toMatchObject(all);
    expect((await put(id, { description: 'Others stay' })).body).toMatchObject(all);
    const none = { objective: null, indicators: null, baseline_run_id: null };
    expect((await put(id, none)).body).toMatchObject({ ...none, indicators: {} });
    expect((await get(id)).body).toMatchObject({ ...none, indicators: {} });
  });

  test('a creation sets them', async () => {
    const id = uniqueId('judged');
    const response = await create({ id, name: 'Judged', objective, indicators });
    expect(response.body).toMatchObject({ objective, indicators, baseline_run_id: null });
  });

  test.each<[object, string]>([
    [{ objective: { name: 'x', direction: 'none' } }, 'objective.direction is "none"'],
    [{ objective: { name: '', direction: 'minimize' } }, 'objective.name'],
    [{ indicators: { x: { role: 'objective' } } }, 'indicators.x.role is "objective"'],
    [{ indicators: { ['x'.repeat(256)]: {} } }, 'indicators has a name with 256 characters'],
    [
      { indicators: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x${at}`, {}])) },
      'indicators has 101 names; the limit is 100.',
    ],
    [{ baseline_run_id: 'run-missing' }, 'baseline_run_id is "run-missing"; it must be a run'],
  ])('400 for %j', async (fields, words) => {
    const id = await createApplication(server);
    expectError(await put(id, fields), 400, words);
    expect((await get(id)).body).toMatchObject({ objective: null, indicators: {}, baseline_run_id: null });
  });

  test('a run of another application is no baseline', async () => {
    const [id, other] = [await createApplication(server), await createApplication(server)];
    await pushApp(server, other, APP, { executable_type: 'binary', runtime: 'native' });
    const run = await createRun(server, other, { input: {} });
    expectError(await put(id, { baseline_run_id: run }), 400, 'baseline_run_id');
  });
});

describe('updating an application', () => {
  test('accepts the whole object, as published clients send it', async () => {
    const id = await createInstance(server);
    const before = (await get(id)).body as Application;
    const response = await put(id, {
      ...before,
      name: 'New name',
      locked: false,
      created_at: 'x',
      extra: 1,
    });
    expectStatus(response, 200);
    expect(response.body).toEqual({
      ...before,
      name: 'New name',
      updated_at: (response.body as Application).updated_at,
    });
    expect((await get(id)).body).toEqual(response.body);
  });

  test('leaves absent and null fields unchanged', async () => {
    const id = await createApplication(server, { description: 'Kept' });
    expectStatus(await put(id, {}), 200);
    expectStatus(await put(id, { name: null, description: null }), 200);
    expect((await get(id)).body).toMatchObject({ name: `Application ${id}`, description: 'Kept' });
    expectStatus(await put(id, { description: '' }), 200);
    expect((await get(id)).body).toMatchObject({ description: '' });
  });

  test('concurrent changes of different fields all take effect', async () => {
    const id = await createApplication(server);
    await Promise.all([
      put(id, { name: 'Renamed' }),
      put(id, { description: 'Described' }),
      put(id, { default_instance: 'latest' }),
    ]);
    expect((await get(id)).body).toMatchObject({
      name: 'Renamed',
      description: 'Described',
      default_instance: 'latest',
    });
  });

  test('the default instance is an instance of the application, latest or devint', async () => {
    const id = await createInstance(server);
    for (const instance of ['i1', 'latest', 'devint', '']) {
      const response = await put(id, { default_instance: instance, default_experiment_instance: instance });
      expectStatus(response, 200);
      expect(response.body).toMatchObject({
        default_instance: instance,
        default_experiment_instance: instance,
      });
    }
    expectError(await put(id, { default_instance: 'missing' }), 400, 'default_instance is "missing"');
    expectError(
      await put(id, { default_experiment_instance: 'default' }),
      400,
      'default_experiment_instance',
    );
  });

  test('an unchanged default instance is accepted, although it does not exist yet', async () => {
    const id = await createApplication(server, { default_instance: 'production' });
    expectStatus(await put(id, { name: 'New name', default_instance: 'production' }), 200);
  });

  test('400 for a short name, with nothing changed', async () => {
    const id = await createApplication(server);
    expectError(await put(id, { name: 'ab', description: 'new' }), 400, 'name is "ab"');
    expect((await get(id)).body).toMatchObject({ name: `Application ${id}`, description: '' });
  });
});

describe('deleting an application', () => {
  test('204; its resources return 404 at once and its id can be reused', async () => {
    const id = await createInstance(server);
    await createRun(server, id, { input: {} });
    const paths = [
      `/v1/applications/${id}`,
      `/v1/applications/${id}/versions`,
      `/v1/applications/${id}/versions/v1`,
      `/v1/applications/${id}/instances/i1`,
      `/v1/applications/${id}/instances/latest`,
      `/v1/applications/${id}/runs`,
    ];
    for (const path of paths) expectStatus(await server.request('GET', path), 200);
    expectStatus(await remove(id), 204);
    for (const path of paths) expectError(await server.request('GET', path), 404);
    expectError(await remove(id), 404);
    expectStatus(await create({ id, name: 'Created again' }), 201);
    expect((await get(id)).body).toMatchObject({ name: 'Created again', active_executable: null });
    expect((await server.request('GET', `/v1/applications/${id}/versions`)).body).toEqual([]);
  });

  test('its rows are removed from the database', async () => {
    const id = await createInstance(server);
    const { database } = server.runningServer;
    const { uid } = await database.read
      .selectFrom('applications')
      .select('uid')
      .where('id', '=', id as ApplicationId)
      .executeTakeFirstOrThrow();
    expectStatus(await remove(id), 204);
    const countRows = async (): Promise<number> => {
      const tables = ['versions', 'instances', 'executables', 'uploads'] as const;
      const rows = await Promise.all(
        tables.map((table) =>
          database.read.selectFrom(table).select('id').where('application_uid', '=', uid).execute(),
        ),
      );
      return rows.flat().length;
    };
    await expect.poll(countRows).toBe(0);
  });
});

test('404 for an application of another account', async () => {
  const id = await createInstance(server);
  const other = await createOtherAccount(server);
  const paths = [
    '',
    '/versions',
    '/versions/v1',
    '/instances',
    '/instances/i1',
    '/instances/latest',
    '/runs',
  ];
  for (const path of paths) {
    expectError(await server.request('GET', `/v1/applications/${id}${path}`, { token: other.token }), 404);
  }
  const changes: [string, string, unknown][] = [
    ['PUT', '', { name: 'Taken over' }],
    ['DELETE', '', undefined],
    ['GET', '/binary', undefined],
    ['PUT', '/binary', { requirements: { executable_type: 'node', runtime: 'node' } }],
    ['POST', '/versions', { id: 'v2', name: 'Version two' }],
    ['PUT', '/versions/v1', { name: 'Taken over' }],
    ['DELETE', '/versions/v1', undefined],
    ['POST', '/instances', { id: 'i2', name: 'Instance two', version_id: 'v1' }],
    ['PUT', '/instances/i1', { name: 'Taken over' }],
    ['DELETE', '/instances/i1', undefined],
    ['POST', '/runs', { input: {} }],
    ['POST', '/runs/uploadurl', undefined],
  ];
  for (const [method, path, body] of changes) {
    const response = await server.request(method, `/v1/applications/${id}${path}`, {
      token: other.token,
      body,
    });
    expectError(response, 404);
  }
  expect((await server.request('GET', '/v1/applications', { token: other.token })).body).toEqual([]);
  expectStatus(
    await server.request('POST', '/v1/applications', { token: other.token, body: { id, name: 'Same id' } }),
    201,
  );
  expect((await get(id)).body).toMatchObject({ name: `Application ${id}` });
});

describe('A2: trust in the HTML assets of an application', () => {
  const change = (method: 'PUT' | 'DELETE', id: string, token?: string) =>
    server.request(method, `/v1/applications/${id}/html-assets-trust`, token === undefined ? {} : { token });

  test('is given and withdrawn by an administrator, with an audit entry for each, and by no update', async () => {
    const id = await createApplication(server);
    expectError(await put(id, { html_assets_trusted: true }), 400, 'html_assets_trusted is true');
    expect((await get(id)).body).toMatchObject({ html_assets_trusted: false });
    const { token } = await server.createKey('developer');
    expectStatus(await change('PUT', id, token), 403);
    expect((await change('PUT', id)).body).toMatchObject({ id, html_assets_trusted: true });
    expectStatus(await change('DELETE', id), 204);
    expect((await get(id)).body).toMatchObject({ html_assets_trusted: false });
    const { items } = (await server.request('GET', `/v1/account/audit?resource=${id}`)).body as {
      items: { operation: string; outcome: string }[];
    };
    const entries = items.map(({ operation, outcome }) => `${operation} ${outcome}`);
    expect(entries.filter((entry) => entry.includes('HtmlAssets')).toReversed()).toEqual([
      'trustHtmlAssets refused',
      'trustHtmlAssets done',
      'distrustHtmlAssets done',
    ]);
  });

  test('A11: says whose it is, stays theirs when another repeats it, and ends with them', async () => {
    const { addMember, remove: removeMember } = memberCalls(() => server);
    const [first, second] = [await addMember(server.token, 'admin'), await addMember(server.token, 'admin')];
    const id = await createApplication(server);
    const read = async () => (await get(id)).body as Application;
    const trust = async (token: string) => (await change('PUT', id, token)).body as Application;
    const readInventory = async (member: string) => {
      const response = await server.request('GET', `/v1/account/members/${member}/inventory`);
      return (response.body as MemberInventory).items.map(({ name: _, detail: __, ...item }) => item);
    };
    const trusted = await trust(first.token);
    expect(trusted).toMatchObject({ html_assets_trusted: true, html_assets_trusted_by: first.email });
    const repeated = await trust(second.token);
    expect(repeated).toEqual({ ...trusted, updated_at: repeated.updated_at });
    const item = {
      kind: 'trusted_assets',
      id,
      created_at: trusted.html_assets_trusted_at,
      last_used_at: null,
    };
    expect([await readInventory(first.id), await readInventory(second.id)]).toEqual([[item], []]);
    expectStatus(await removeMember(server.token, first.id), 204);
    const ended = await read();
    expect(ended).toMatchObject({
      ...{ html_assets_trusted: false, html_assets_trusted_by: null, html_assets_trusted_at: null },
    });
    expect(ended.updated_at > repeated.updated_at).toBe(true);
    await trust(second.token);
    expectStatus(await removeMember(server.token, `${second.id}?keep=trusted_assets`), 204);
    expect(await read()).toMatchObject({ html_assets_trusted: true, html_assets_trusted_by: second.email });
  });
});
