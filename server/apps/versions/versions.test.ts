import type { Version } from '@switchyard/contract/applications/versions.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, nodeApp, packFiles, pushArchive } from '../../testing/fixtures/apps.ts';
import {
  createApplication,
  createVersion,
  expectError,
  expectStatus,
  MANIFEST,
  uniqueId,
} from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
let path: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createVersion(server);
  path = `/v1/applications/${application}/versions`;
});
afterAll(() => server.close());

const create = (body: unknown, to = path) => server.request('POST', to, { body });

describe('creating a version', () => {
  test('201 returns the version of the active executable, as a later GET does', async () => {
    const response = await create({ id: 'first', name: 'First version', description: 'Described' });
    expectStatus(response, 201);
    const { active_executable } = (await server.request('GET', `/v1/applications/${application}`)).body as {
      active_executable: unknown;
    };
    expect(response.body).toEqual({
      id: 'first',
      application_id: application,
      name: 'First version',
      description: 'Described',
      executable: active_executable,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await server.request('GET', `${path}/first`)).body).toEqual(response.body);
  });

  test('400 for an application without an executable', async () => {
    const empty = await createApplication(server);
    const response = await create({ id: 'v1', name: 'Version one' }, `/v1/applications/${empty}/versions`);
    expectError(response, 400, 'has no executable yet', empty);
  });

  test('an id and a name are generated when absent, and the whole object can be sent back', async () => {
    for (const body of [{}, { id: 'v' }, { id: 'x'.repeat(64) }]) {
      const response = await create(body);
      expectStatus(response, 201);
      const version = response.body as Version;
      expect(version.name.length).toBeGreaterThanOrEqual(3);
      expect(version.name.length).toBeLessThanOrEqual(48);
      expectStatus(await server.request('PUT', `${path}/${version.id}`, { body: version }), 200);
    }
  });

  test('400 for an existing id of the application; another application can use it', async () => {
    expectError(await create({ id: 'v1', name: 'Once more' }), 400, 'id is "v1"');
    await createVersion(server);
  });

  test.each([
    ['id', 'V1'],
    ['id', 'v.1'],
    ['name', 'ab'],
    ['name', 'x'.repeat(49)],
    ['description', 'x'.repeat(129)],
    ['description', 7],
  ])('400 for the %s %j', async (field, value) => {
    expectError(await create({ id: uniqueId('v'), name: 'Any name', [field]: value }), 400, `${field} is `);
  });

  test('400 for an unknown field suggests the nearest known field', async () => {
    expectError(await create({ name: 'Any name', excutable: 'x', nam: 'x' }), 400, 'did you mean');
  });
});

describe('a version', () => {
  test('runs the same executable after later pushes', async () => {
    const id = await createApplication(server);
    const versions = `/v1/applications/${id}/versions`;
    for (const response of [1, 2]) {
      const archive = await packFiles({
        'app.yaml': MANIFEST,
        ...nodeApp(`() => ({ answer: ${response} })`),
      });
      expectStatus(await pushArchive(server, id, archive), 200);
      expectStatus(await create({ id: `v${response}`, name: `Version ${response}` }, versions), 201);
    }
    const one = (await server.request('GET', `${versions}/v1`)).body as Version;
    const two = (await server.request('GET', `${versions}/v2`)).body as Version;
    expect(one.executable.id).not.toBe(two.executable.id);
    const body = { id: 'old', name: 'The old one', version_id: 'v1' };
    expectStatus(await server.request('POST', `/v1/applications/${id}/instances`, { body }), 201);
    expect((await createRunAndWait(server, id, { instance: 'old', input: {} })).output).toEqual({
      answer: 1,
    });
    expect((await createRunAndWait(server, id, { instance: 'latest', input: {} })).output).toEqual({
      answer: 2,
    });
  });

  test('updates name and description from the whole object, and nothing else', async () => {
    await create({ id: 'changing', name: 'Before it' });
    const before = (await server.request('GET', `${path}/changing`)).body as Version;
    const body = {
      ...before,
      name: 'After it',
      executable: null,
      x: 1,
    };
    const response = await server.request('PUT', `${path}/changing`, { body });
    expectStatus(response, 200);
    expect(response.body).toEqual({
      ...before,
      name: 'After it',
      updated_at: (response.body as Version).updated_at,
    });
    expectStatus(await server.request('PUT', `${path}/changing`, { body: { name: null } }), 200);
    expect((await server.request('GET', `${path}/changing`)).body).toMatchObject({ name: 'After it' });
    expectError(
      await server.request('PUT', `${path}/changing`, { body: { name: 'ab' } }),
      400,
      'name is "ab"',
    );
  });

  test('404 for a missing version or application', async () => {
    expectError(await server.request('GET', `${path}/missing`), 404, 'missing', application);
    expectError(await server.request('PUT', `${path}/missing`, { body: { name: 'Any name' } }), 404);
    expectError(await server.request('DELETE', `${path}/missing`), 404);
    expectError(await server.request('GET', '/v1/applications/missing/versions'), 404);
    expectError(await create({ name: 'Any name' }, '/v1/applications/missing/versions'), 404);
  });
});

describe('deleting a version', () => {
  test('204; then it is a 404 and its id can be reused', async () => {
    await create({ id: 'passing', name: 'Passing by' });
    expectStatus(await server.request('DELETE', `${path}/passing`), 204);
    expectError(await server.request('GET', `${path}/passing`), 404);
    expectStatus(await create({ id: 'passing', name: 'Passing by' }), 201);
  });

  test('concurrent with the creation of an instance of it: the instance is refused or marks the version as deleted', async () => {
    for (let round = 0; round < 8; round += 1) {
      const id = uniqueId('racing');
      expectStatus(await create({ id, name: 'Racing one' }), 201);
      const body = { id, name: 'Racing one', version_id: id };
      const [created, deleted] = await Promise.all([
        server.request('POST', `/v1/applications/${application}/instances`, { body }),
        server.request('DELETE', `${path}/${id}`),
      ]);
      expect([`${created.status} ${deleted.status}`]).toEqual([expect.stringMatching(/^(201|400) 204$/)]);
      const { body: instance } = await server.request(
        'GET',
        `/v1/applications/${application}/instances/${id}`,
      );
      if (created.status === 201) expect(instance).toMatchObject({ version_id: id, version_deleted: true });
    }
  });
});
