/** Concurrent changes of instances. */
import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createVersion, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
let path: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createVersion(server);
  path = `/v1/applications/${application}/instances`;
});
afterAll(() => server.close());

const get = (id: string) => server.request('GET', `${path}/${id}`);
const put = (id: string, body: unknown) => server.request('PUT', `${path}/${id}`, { body });
const remove = (id: string) => server.request('DELETE', `${path}/${id}`);
const createInstance = async (version_id = 'v1'): Promise<Instance> => {
  const body = { id: uniqueId('i'), name: 'Any instance', version_id };
  const response = await server.request('POST', path, { body });
  expectStatus(response, 201);
  return response.body as Instance;
};

test('concurrent changes of different fields both take effect', async () => {
  const { id } = await createInstance();
  await Promise.all([put(id, { name: 'Renamed' }), put(id, { description: 'Described' })]);
  expect((await get(id)).body).toMatchObject({ name: 'Renamed', description: 'Described' });
});

test('of the deletion of an instance and its choice as the default, one is refused', async () => {
  const setDefault = (default_instance: string) =>
    server.request('PUT', `/v1/applications/${application}`, { body: { default_instance } });
  for (let round = 0; round < 8; round += 1) {
    const { id } = await createInstance();
    const [set, deleted] = await Promise.all([setDefault(id), remove(id)]);
    expect(['200 400', '400 204']).toContain(`${set.status} ${deleted.status}`);
    expectStatus(await setDefault('latest'), 200);
  }
});

test('of the deletion of a version and the lock of its instance, one is refused', async () => {
  for (let round = 0; round < 8; round += 1) {
    const id = uniqueId('v');
    const versions = `/v1/applications/${application}/versions`;
    expectStatus(await server.request('POST', versions, { body: { id, name: 'Any version' } }), 201);
    const instance = await createInstance(id);
    const [lock, deleted] = await Promise.all([
      put(`${instance.id}/lock`, { locked: true }),
      server.request('DELETE', `${versions}/${id}`),
    ]);
    expect(['200 400', '400 204']).toContain(`${lock.status} ${deleted.status}`);
  }
});
