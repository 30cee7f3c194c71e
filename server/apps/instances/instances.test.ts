import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import {
  createApplication,
  createVersion,
  expectError,
  expectStatus,
  uniqueId,
} from '../../testing/fixtures/resources.ts';
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

const create = (body: unknown, to = path) => server.request('POST', to, { body });
const get = (id: string) => server.request('GET', `${path}/${id}`);
const put = (id: string, body: unknown) => server.request('PUT', `${path}/${id}`, { body });
const remove = (id: string) => server.request('DELETE', `${path}/${id}`);
const createInstance = async (fields: object = {}): Promise<Instance> => {
  const response = await create({ id: uniqueId('i'), name: 'Any instance', version_id: 'v1', ...fields });
  expectStatus(response, 201);
  return response.body as Instance;
};

describe('creating an instance', () => {
  test('201 returns the instance with its defaults, as a later GET does', async () => {
    const response = await create({ id: 'production', name: 'Production', version_id: 'v1' });
    expectStatus(response, 201);
    expect(response.body).toEqual({
      id: 'production',
      application_id: application,
      version_id: 'v1',
      name: 'Production',
      description: '',
      configuration: {
        execution_class: '6c9500mb870s',
        options: {},
        secrets_collection_id: '',
        queuing: { priority: 6, disabled: false },
        network: false,
      },
      locked: false,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await get('production')).body).toEqual(response.body);
  });

  test('stores its configuration, with options as text', async () => {
    const { configuration } = await createInstance({
      configuration: {
        execution_class: '8c16gb12h',
        options: { 'solve.duration': 10, fast: true, name: 'ä 🚚' },
        queuing: { priority: 1, disabled: true },
        format: { input: { type: 'text' }, output: { type: 'json' } },
        secrets_collection_id: null,
        integration_id: 'ignored',
        network: true,
      },
    });
    expect(configuration).toEqual({
      execution_class: '8c16gb12h',
      options: { 'solve.duration': '10', fast: 'true', name: 'ä 🚚' },
      queuing: { priority: 1, disabled: true },
      format: { input: { type: 'text' }, output: { type: 'json' } },
      secrets_collection_id: '',
      network: true,
    });
  });

  test('an id and a name are generated when absent, and the whole object can be sent back', async () => {
    for (const fields of [{ id: null }, { id: 'i' }, { id: 'y'.repeat(64) }]) {
      const instance = await createInstance({ ...fields, name: null });
      expectStatus(await put(instance.id, instance), 200);
    }
  });

  test.each(['latest', 'devint', 'default'])('400 for the reserved id %s', async (id) => {
    expectError(await create({ id, name: 'Any name', version_id: 'v1' }), 400, `id is "${id}"`);
  });

  test('400 for an existing id', async () => {
    const { id } = await createInstance();
    expectError(await create({ id, name: 'Any name', version_id: 'v1' }), 400, `id is "${id}"`);
  });

  test.each([
    ['version_id', 'missing', 'version_id is "missing"'],
    ['version_id', '', 'version_id is ""'],
    ['version_id', 'v\0', 'NUL'],
    ['version_id', null, 'version_id is null'],
    ['name', 'ab', 'name is "ab"'],
    ['description', 'x'.repeat(129), '129 characters'],
    ['configuration', { execution_class: '1c' }, 'configuration.execution_class is "1c"'],
    ['configuration', { queuing: { priority: 0 } }, 'configuration.queuing.priority is 0'],
    ['configuration', { queuing: { priority: 10 } }, 'must be 1 to 9'],
    ['configuration', { queuing: { priority: 1.5 } }, 'a whole number'],
    ['configuration', { options: { a_b: '1' } }, 'letters, digits and periods'],
    ['configuration', { options: { '': '1' } }, 'letters, digits and periods'],
    ['configuration', { options: { ['__proto__']: '1' } }, 'letters, digits and periods'],
    ['configuration', { options: { a: null } }, 'configuration.options.a is null'],
    ['configuration', { options: { a: [1] } }, 'configuration.options.a is a JSON array'],
    ['configuration', { options: { a: 'x\0' } }, 'NUL'],
    ['configuration', { options: { ['n'.repeat(129)]: '1' } }, '129 characters long'],
    ['configuration', { options: { a: 'x'.repeat(8193) } }, '8193 characters long'],
    ['configuration', { exection_class: 'x' }, 'did you mean "execution_class"'],
    ['configuration', { format: { input: { type: 'xml' } } }, 'configuration.format.input.type is "xml"'],
    ['versionid', 'v1', 'did you mean "version_id"'],
  ])('400 for the %s %j names the field', async (field, value, words) => {
    const body = { id: uniqueId('bad'), name: 'Any name', version_id: 'v1', [field]: value };
    expectError(await create(body), 400, words);
  });

  test('400 for too many options', async () => {
    const options = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`o${index}`, '1']));
    expectError(await create({ version_id: 'v1', configuration: { options } }), 400, '257 options');
  });
});

describe('updating an instance', () => {
  test('accepts the whole object with changes; read-only and unknown fields are ignored', async () => {
    const before = await createInstance({ configuration: { options: { a: '1' } } });
    const body = {
      ...before,
      name: 'New name',
      locked: false,
      created_at: 'never',
      unknown: {},
      configuration: { ...before.configuration, options: { b: 2 }, unknown: 1 },
    };
    const response = await put(before.id, body);
    expectStatus(response, 200);
    expect(response.body).toEqual({
      ...before,
      name: 'New name',
      configuration: { ...before.configuration, options: { b: '2' } },
      updated_at: (response.body as Instance).updated_at,
    });
    expect((await get(before.id)).body).toEqual(response.body);
  });

  test('leaves absent and null fields unchanged', async () => {
    const before = await createInstance({ description: 'Kept', configuration: { options: { a: '1' } } });
    expectStatus(await put(before.id, {}), 200);
    const nothing = { name: null, description: null, version_id: null, configuration: null };
    expectStatus(await put(before.id, nothing), 200);
    const { updated_at: _, ...rest } = before;
    expect((await get(before.id)).body).toMatchObject(rest);
  });

  test('400 for a missing version, with nothing changed', async () => {
    const before = await createInstance();
    expectError(await put(before.id, { name: 'New name', version_id: 'missing' }), 400, 'missing');
    expect((await get(before.id)).body).toEqual(before);
  });
});

describe('latest and devint', () => {
  test.each(['latest', 'devint'])('%s can be read, is locked and belongs to no version', async (id) => {
    const response = await get(id);
    expectStatus(response, 200);
    expect(response.body).toMatchObject({ id, version_id: '', locked: true, application_id: application });
  });

  test.each(['latest', 'devint'])('%s is not listed and cannot be changed or deleted', async (id) => {
    const list = (await server.request('GET', path)).body as Instance[];
    expect(list.map((one) => one.id)).not.toContain(id);
    expectError(await put(id, { name: 'New name' }), 400, id);
    expectError(await remove(id), 400, id);
    expectError(await server.request('DELETE', `/v1/applications/missing/instances/${id}`), 404);
  });

  test.each(['latest', 'devint'])('a run on %s runs the executable pushed last', async (id) => {
    const app = await createApplication(server);
    expectError(
      await server.request('POST', `/v1/applications/${app}/runs?instance_id=${id}`, { body: {} }),
      400,
      'no executable',
    );
    await pushApp(server, app, nodeApp('() => ({ push: 1 })'));
    await pushApp(server, app, nodeApp('() => ({ push: 2 })'));
    const run = await createRunAndWait(server, app, { instance: id });
    expect(run.output).toEqual({ push: 2 });
    expect(run.metadata).toMatchObject({ application_instance_id: id, application_version_id: '' });
  });
});

describe('the default instance', () => {
  const setDefault = (fields: object) =>
    server.request('PUT', `/v1/applications/${application}`, { body: fields });

  test('executes runs without an instance; without a default instance, latest does', async () => {
    const { id } = await createInstance();
    const runAndGetInstance = async (instance?: string): Promise<string> => {
      const run = await createRun(server, application, {
        input: {},
        ...(instance === undefined ? {} : { instance }),
      });
      const { body } = await server.request('GET', `/v1/applications/${application}/runs/${run}/metadata`);
      return (body as { application_instance_id: string }).application_instance_id;
    };
    expect(await runAndGetInstance()).toBe('latest');
    expectStatus(await setDefault({ default_instance: id }), 200);
    expect([
      await runAndGetInstance(),
      await runAndGetInstance(''),
      await runAndGetInstance('default'),
    ]).toEqual([id, id, id]);
    expectStatus(await setDefault({ default_instance: 'latest' }), 200);
    expect(await runAndGetInstance()).toBe('latest');
  });

  test('cannot be deleted before another default is set', async () => {
    const { id } = await createInstance();
    expectStatus(await setDefault({ default_instance: id }), 200);
    expectError(await remove(id), 400, 'default_instance');
    expectStatus(await get(id), 200);
    expectStatus(await setDefault({ default_instance: 'latest' }), 200);
    expectStatus(await remove(id), 204);
  });

  test('for experiments is cleared when the instance is deleted', async () => {
    const { id } = await createInstance();
    expectStatus(await setDefault({ default_experiment_instance: id }), 200);
    expectStatus(await remove(id), 204);
    const { body } = await server.request('GET', `/v1/applications/${application}`);
    expect(body).toMatchObject({ default_experiment_instance: '' });
  });
});

describe('options that the executable hides from a role', () => {
  const instances = '/v1/applications/hiding/instances';
  const hidden_from = ['developer' as const, 'viewer' as const];
  beforeAll(async () => {
    const items = [{ name: 'open' }, { name: 'secret', ui: { hidden_from } }];
    await pushApp(server, 'hiding', nodeApp('() => ({})'), { options: { items } });
    await server.client.call('createVersion', {
      params: { application_id: 'hiding' },
      body: { id: 'v1', name: 'Version one' },
    });
    const configuration = { options: { open: '1', secret: 'S3CRET' } };
    expectStatus(
      await create({ id: 'i1', name: 'Instance', version_id: 'v1', configuration }, instances),
      201,
    );
  });

  test.each(['developer', 'viewer'] as const)('are absent from instances that a %s reads', async (role) => {
    const { token } = await server.createKey(role);
    for (const place of [instances, `${instances}?pagereturn=true`, `${instances}/i1`]) {
      const response = await server.request('GET', place, { token });
      expectStatus(response, 200);
      expect(response.text).toContain('"options":{"open":"1"}');
      expect(response.text).not.toContain('secret"');
      expect(response.text).not.toContain('S3CRET');
    }
    expect((await server.request('GET', instances)).text).toContain('"secret":"S3CRET"');
  });

  test('stay when a role that cannot see them updates the instance', async () => {
    const { token } = await server.createKey('developer');
    const { body } = await server.request('GET', `${instances}/i1`, { token });
    const visible = body as Instance;
    const configuration = { ...visible.configuration, options: { open: '2' } };
    const response = await server.request('PUT', `${instances}/i1`, {
      token,
      body: { ...visible, configuration },
    });
    expectStatus(response, 200);
    expect((response.body as Instance).configuration.options).toEqual({ open: '2' });
    const whole = (await server.request('GET', `${instances}/i1`)).body as Instance;
    expect(whole.configuration.options).toEqual({ open: '2', secret: 'S3CRET' });
  });
});

describe('deleting an instance', () => {
  test('204; then it is a 404 and its id can be reused', async () => {
    const { id } = await createInstance();
    expectStatus(await remove(id), 204);
    expectError(await get(id), 404);
    expectError(await put(id, { name: 'New name' }), 404);
    expectError(await remove(id), 404);
    await createInstance({ id });
  });

  test('does not delete its runs', async () => {
    const { id } = await createInstance();
    const run = await createRunAndWait(server, application, { instance: id, input: { kept: true } });
    expectStatus(await remove(id), 204);
    const response = await server.request('GET', `/v1/applications/${application}/runs/${run.id}`);
    expect(response.body).toMatchObject({ output: { kept: true }, application_instance_id: id });
  });
});
