/** The lock of an instance, through HTTP. */
import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { createVersion, expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
let app: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createVersion(server);
  app = `/v1/applications/${application}`;
});
afterAll(() => server.close());

const put = (path: string, body: unknown) => server.request('PUT', `${app}/${path}`, { body });
const setLock = (id: string, locked: boolean) => put(`instances/${id}/lock`, { locked });
const get = async (id: string) => (await server.request('GET', `${app}/instances/${id}`)).body as Instance;
const createInstance = async (fields: object = {}): Promise<Instance> => {
  const body = { id: uniqueId('i'), name: 'Any instance', version_id: 'v1', ...fields };
  const response = await server.request('POST', `${app}/instances`, { body });
  expectStatus(response, 201);
  return response.body as Instance;
};

test('a locked instance names its lock, and refuses every change and its deletion', async () => {
  const before = await createInstance({ configuration: { options: { a: '1' }, network: true } });
  const lock = await setLock(before.id, true);
  expectStatus(lock, 200);
  expect(lock.body).toEqual({
    ...before,
    locked: true,
    locked_by: expect.stringContaining('@'),
    locked_at: expect.stringMatching(/Z$/),
    updated_at: (lock.body as Instance).locked_at,
  });
  expect(await get(before.id)).toEqual(lock.body);
  const changes = [
    { name: 'New name' },
    { description: 'New words' },
    { version_id: 'v2' },
    { configuration: { options: { a: '2' } } },
    { configuration: { network: false } },
  ];
  for (const change of changes)
    expectError(
      await put(`instances/${before.id}`, change),
      400,
      `"${before.id}" is locked`,
      `${(lock.body as Instance).locked_by} locked it at`,
    );
  expectError(await server.request('DELETE', `${app}/instances/${before.id}`), 400, 'is locked');
  expectError(await server.request('DELETE', `${app}/versions/v1`), 400, '"v1"', 'is locked');
  expectError(await server.request('DELETE', app), 400, application, 'is locked');
  expect(await get(before.id)).toEqual(lock.body);
});

test('an update with the present values changes nothing, so that a client can send the whole instance', async () => {
  const before = await createInstance({ configuration: { options: { a: '1' }, network: true } });
  const locked = (await setLock(before.id, true)).body;
  const { network: _, ...known } = before.configuration;
  for (const body of [{}, locked, { ...Object(locked), configuration: known }]) {
    const response = await put(`instances/${before.id}`, body);
    expectStatus(response, 200);
    expect(response.body).toEqual(locked);
  }
});

test('a second lock keeps member and time of the first, and an unlocked instance changes again', async () => {
  const { id } = await createInstance();
  const locked = (await setLock(id, true)).body;
  const developer = await server.createKey('developer');
  const again = (token: string, state: boolean) =>
    server.request('PUT', `${app}/instances/${id}/lock`, { token, body: { locked: state } });
  expect((await again(developer.token, true)).body).toEqual(locked);
  const { token: operator } = await server.createKey('operator');
  expectStatus(await again(operator, false), 403);
  const unlocked = await again(developer.token, false);
  expectStatus(unlocked, 200);
  expect(unlocked.body).not.toHaveProperty('locked_by');
  expect(unlocked.body).toMatchObject({ locked: false });
  expectStatus(await put(`instances/${id}`, { name: 'New name' }), 200);
  expectStatus(await server.request('DELETE', `${app}/instances/${id}`), 204);
});

test('a locked instance runs, and can become the default instance', async () => {
  const { id } = await createInstance();
  await setLock(id, true);
  await createRun(server, application, { input: {}, instance: id });
  for (const default_instance of [id, 'latest'])
    expectStatus(await server.request('PUT', app, { body: { default_instance } }), 200);
});

test('a lock is refused for latest, for a missing instance and for a deleted version', async () => {
  expectError(await setLock('latest', true), 400, 'latest');
  expectError(await setLock('missing', true), 404, 'missing');
  expectError(await put('instances/missing/lock', {}), 400, 'locked');
  const version = uniqueId('v');
  const body = { id: version, name: 'Any version' };
  expectStatus(await server.request('POST', `${app}/versions`, { body }), 201);
  const { id } = await createInstance({ version_id: version });
  expectStatus(await server.request('DELETE', `${app}/versions/${version}`), 204);
  expectError(await setLock(id, true), 400, 'was deleted', 'another version');
});

test('lock and unlock have an audit entry each', async () => {
  const { id } = await createInstance();
  for (const state of [true, false]) expectStatus(await setLock(id, state), 200);
  const { body } = await server.request('GET', '/v1/account/audit?operation=setInstanceLock');
  expect(JSON.stringify(body).split(`"${id}"`).length - 1).toBe(2);
});
