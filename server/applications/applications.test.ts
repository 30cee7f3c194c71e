import type { Application } from '@switchyard/contract/applications/applications.ts';
import type { ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../testing/fixtures/accounts.ts';
import { createRun } from '../testing/fixtures/apps.ts';
import {
  createApplication,
  createInstance,
  expectError,
  expectStatus,
  uniqueId,
} from '../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';

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
  test('201 answers the whole application, as a GET does afterwards', async () => {
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
      active_executable: null,
      locked: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await get('routing')).body).toEqual(response.body);
  });

  test('without an id one is made from the name, in the alphabet of ids', async () => {
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

  test('null means not given, and what published clients send beside is accepted', async () => {
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

  test('400 for an id that is taken, and nothing is changed', async () => {
    const id = await createApplication(server);
    expectError(await create({ id, name: 'Another one' }), 400, `id is "${id}"`);
    expect((await get(id)).body).toMatchObject({ name: `Application ${id}` });
  });

  test('of many with one id at once exactly one is made', async () => {
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
  ] as const)('the id %j is answered %i', async (id, status) => {
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
  ] as const)('the name %j is answered %i', async (name, status) => {
    const response = await create({ id: uniqueId('named'), name });
    if (status === 400) expectError(response, 400, 'name is ');
    else {
      expectStatus(response, 201);
      expect((await get((response.body as Application).id)).body).toMatchObject({ name });
    }
  });

  test('a name of characters is counted in characters in the refusal too', async () => {
    expectError(await create({ name: '🚚🚚' }), 400, '2 characters long; it must have 3 to 48 characters');
  });

  test.each([
    [0, 201],
    [128, 201],
    [129, 400],
  ])('a description of %i characters is answered %i', async (length, status) => {
    const response = await create({
      id: uniqueId('told'),
      name: 'Any name',
      description: '🚚'.repeat(length),
    });
    if (status === 400) expectError(response, 400, 'description is ', '129 characters long');
    else expectStatus(response, 201);
  });

  test('400 for an unknown field names the nearest known one', async () => {
    expectError(await create({ name: 'Any name', descripton: 'x' }), 400, 'did you mean "description"?');
    expectError(await create({ name: 'Any name', defaultInstance: 'x' }), 400, '"default_instance"');
  });

  test('400 for a default instance that stands for itself', async () => {
    expectError(await create({ name: 'Any name', default_instance: 'default' }), 400, 'default_instance');
  });
});

describe('updating an application', () => {
  test('takes the whole object back, as published clients send it', async () => {
    const id = await createInstance(server);
    const before = (await get(id)).body as Application;
    const response = await put(id, {
      ...before,
      name: 'New name',
      id: 'other',
      locked: true,
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

  test('leaves alone what is absent or null', async () => {
    const id = await createApplication(server, { description: 'Kept' });
    expectStatus(await put(id, {}), 200);
    expectStatus(await put(id, { name: null, description: null }), 200);
    expect((await get(id)).body).toMatchObject({ name: `Application ${id}`, description: 'Kept' });
    expectStatus(await put(id, { description: '' }), 200);
    expect((await get(id)).body).toMatchObject({ description: '' });
  });

  test('changes of different fields at once are both kept', async () => {
    const id = await createApplication(server);
    await Promise.all([
      put(id, { name: 'Renamed' }),
      put(id, { description: 'Told' }),
      put(id, { default_instance: 'latest' }),
    ]);
    expect((await get(id)).body).toMatchObject({
      name: 'Renamed',
      description: 'Told',
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

  test('what was set when it was made is let through unchanged, though no such instance is there yet', async () => {
    const id = await createApplication(server, { default_instance: 'production' });
    expectStatus(await put(id, { name: 'New name', default_instance: 'production' }), 200);
  });

  test('400 for a name too short changes nothing', async () => {
    const id = await createApplication(server);
    expectError(await put(id, { name: 'ab', description: 'new' }), 400, 'name is "ab"');
    expect((await get(id)).body).toMatchObject({ name: `Application ${id}`, description: '' });
  });
});

describe('deleting an application', () => {
  test('204, and everything of it is gone at once; its id can be taken again', async () => {
    const id = await createInstance(server);
    await createRun(server, id, { input: {} });
    const gone = [
      `/v1/applications/${id}`,
      `/v1/applications/${id}/versions`,
      `/v1/applications/${id}/versions/v1`,
      `/v1/applications/${id}/instances/i1`,
      `/v1/applications/${id}/instances/latest`,
      `/v1/applications/${id}/runs`,
    ];
    for (const path of gone) expectStatus(await server.request('GET', path), 200);
    expectStatus(await remove(id), 204);
    for (const path of gone) expectError(await server.request('GET', path), 404);
    expectError(await remove(id), 404);
    expectStatus(await create({ id, name: 'Born again' }), 201);
    expect((await get(id)).body).toMatchObject({ name: 'Born again', active_executable: null });
    expect((await server.request('GET', `/v1/applications/${id}/versions`)).body).toEqual([]);
  });

  test('what belonged to it leaves the database too', async () => {
    const id = await createInstance(server);
    const { database } = server.runningServer;
    const { uid } = await database.read
      .selectFrom('applications')
      .select('uid')
      .where('id', '=', id as ApplicationId)
      .executeTakeFirstOrThrow();
    expectStatus(await remove(id), 204);
    const left = async (): Promise<number> => {
      const tables = ['versions', 'instances', 'executables', 'uploads'] as const;
      const rows = await Promise.all(
        tables.map((table) =>
          database.read.selectFrom(table).select('id').where('application_uid', '=', uid).execute(),
        ),
      );
      return rows.flat().length;
    };
    await expect.poll(left).toBe(0);
  });
});

test('an application of another account is not there', async () => {
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
