import type { SecretsCollectionSummary } from '@switchyard/contract/applications/secrets.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import {
  createApplication,
  expectError,
  expectStatus,
  listAllPages,
  uniqueId,
} from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
let path: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createApplication(server);
  path = `/v1/applications/${application}/secrets`;
});
afterAll(() => server.close());

const SECRETS = [
  { type: 'env', location: 'MAPS_KEY', value: 'ä 🚚 = "quoted" $HOME' },
  { type: 'file', location: 'keys/licence.txt', value: 'line one\nline two\n' },
];
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const create = (body: unknown, to = path) => server.request('POST', to, { body });
const get = (id: string) => server.request('GET', `${path}/${id}`);
const put = (id: string, body: unknown) => server.request('PUT', `${path}/${id}`, { body });
const remove = (id: string) => server.request('DELETE', `${path}/${id}`);
const createCollection = async (fields: object = {}): Promise<SecretsCollectionSummary> => {
  const response = await create({ id: uniqueId('s'), name: 'Any name', secrets: SECRETS, ...fields });
  expectStatus(response, 201);
  return response.body as SecretsCollectionSummary;
};

describe('creating a secrets collection', () => {
  test('201 returns the summary; a GET returns the values in the given order', async () => {
    const response = await create({ id: 'licence', name: 'Licence', secrets: SECRETS });
    expectStatus(response, 201);
    expect(response.body).toEqual({
      id: 'licence',
      application_id: application,
      name: 'Licence',
      description: '',
      created_at: expect.stringMatching(INSTANT),
      updated_at: expect.stringMatching(INSTANT),
    });
    const whole = await get('licence');
    expectStatus(whole, 200);
    expect(whole.body).toEqual({ ...(response.body as object), secrets: SECRETS });
  });

  test('an id and a name are generated when absent', async () => {
    const collection = await createCollection({ id: null, name: null, description: 'Told' });
    expect(collection.id).toMatch(/^[a-z0-9-]{1,64}$/);
    expect(collection.name).toContain('Secrets');
    expect((await get(collection.id)).body).toMatchObject({ description: 'Told', secrets: SECRETS });
  });

  test('accepts an empty list, an empty value, and one location as variable and as file', async () => {
    await createCollection({ secrets: [] });
    await createCollection({
      secrets: [
        { type: 'env', location: 'KEY', value: '' },
        { type: 'file', location: 'KEY', value: '' },
      ],
    });
  });

  test('400 for an existing id; another application can use it', async () => {
    const { id } = await createCollection();
    expectError(await create({ id, name: 'Any name', secrets: [] }), 400, `id is "${id}"`);
    const other = await createApplication(server);
    expectStatus(await create({ id, secrets: [] }, `/v1/applications/${other}/secrets`), 201);
  });

  test('a repeated Idempotency-Key has one effect and is bound to the values', async () => {
    const headers = { 'idempotency-key': 'once' };
    const body = { id: uniqueId('s'), name: 'Any name', secrets: SECRETS };
    const first = await server.request('POST', path, { body, headers });
    expectStatus(first, 201);
    expect((await server.request('POST', path, { body, headers })).text).toBe(first.text);
    const other = { ...body, secrets: [{ type: 'env', location: 'KEY', value: 'another' }] };
    expectError(await server.request('POST', path, { body: other, headers }), 400, 'once');
  });

  test.each([
    ['id', 'Licence', 'id is "Licence"'],
    ['name', 'ab', 'name is "ab"'],
    ['name', 'x'.repeat(49), '49 characters'],
    ['description', 'x'.repeat(129), '129 characters'],
    ['secrets', null, 'secrets is null'],
    ['secrets', undefined, 'secrets is missing'],
    ['secrets', {}, 'secrets is a JSON object'],
    ['secrets', [{ type: 'env', location: 'KEY' }], 'secrets.0.value is missing'],
    ['secrets', [{ type: 'var', location: 'KEY', value: '' }], 'secrets.0.type is "var"'],
    ['secrets', [{ type: 'env', location: 'KEY', value: '', valeu: '' }], 'did you mean "value"'],
    ['secret', [], 'did you mean "secrets"'],
  ])('400 for the %s %j names the field', async (field, value, words) => {
    expectError(await create({ name: 'Any name', secrets: [], [field]: value }), 400, words);
  });

  test('404 in a missing application', async () => {
    expectError(await create({ secrets: [] }, '/v1/applications/missing/secrets'), 404, 'missing');
  });
});

describe('reading secrets collections', () => {
  test('404 for a missing collection and for one of another application or account', async () => {
    const { id } = await createCollection();
    expectError(await get('missing'), 404, 'missing');
    const other = await createApplication(server);
    expectError(await server.request('GET', `/v1/applications/${other}/secrets/${id}`), 404, id);
    const { token } = await createOtherAccount(server);
    for (const address of [path, `${path}/${id}`])
      expectError(await server.request('GET', address, { token }), 404, application);
    expectError(await server.request('GET', '/v1/applications/missing/secrets'), 404);
  });

  test('the list contains summaries without values, newest first, in items with and without pagereturn', async () => {
    const own = await createApplication(server);
    const list = `/v1/applications/${own}/secrets`;
    expect((await server.request('GET', list)).body).toEqual({ items: [] });
    const ids: string[] = [];
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      const response = await create({ id, name: 'Any name', secrets: SECRETS }, list);
      expectStatus(response, 201);
      ids.unshift((response.body as SecretsCollectionSummary).id);
    }
    for (const query of ['', '?pagereturn=false', '?pagereturn=true']) {
      const { body } = await server.request('GET', `${list}${query}`);
      expect(Object.keys(body as object)).toEqual(['items']);
      const { items } = body as { items: object[] };
      expect(items.map((item) => (item as { id: string }).id)).toEqual(ids);
      for (const item of items)
        expect(Object.keys(item)).toEqual([
          ...['id', 'application_id', 'name', 'description', 'created_at', 'updated_at'],
        ]);
    }
    expect(await listAllPages(server, list, 2)).toEqual([['e', 'd'], ['c', 'b'], ['a']]);
    const late = await listAllPages(server, list, 2, async (page) => {
      if (page === 1) expectStatus(await create({ id: 'f', secrets: [] }, list), 201);
    });
    expect(late.flat()).toEqual(ids);
  });

  test.each(['limit=0', 'limit=51', 'pagetoken=rubbish', 'pagereturn=maybe'])(
    '400 for ?%s',
    async (query) => {
      expectError(await server.request('GET', `${path}?${query}`), 400);
    },
  );
});

describe('updating a secrets collection', () => {
  test('accepts the whole object with changes, replaces the list and returns the summary', async () => {
    const before = await createCollection();
    const secrets = [{ type: 'file', location: '/app/key', value: 'new', unknown: 1 }];
    const response = await put(before.id, {
      ...before,
      name: 'New name',
      description: 'New words',
      created_at: 'never',
      unknown: {},
      secrets,
    });
    expectStatus(response, 200);
    expect(response.body).toEqual({
      ...before,
      name: 'New name',
      description: 'New words',
      updated_at: expect.stringMatching(INSTANT),
    });
    const [{ unknown: _, ...stored } = { unknown: 0 }] = secrets;
    expect((await get(before.id)).body).toEqual({ ...(response.body as object), secrets: [stored] });
  });

  test('leaves absent and null fields unchanged, and clears the list with an empty list', async () => {
    const { id } = await createCollection({ description: 'Kept' });
    for (const body of [{}, { name: null, description: null, secrets: null }]) {
      expectStatus(await put(id, body), 200);
      expect((await get(id)).body).toMatchObject({ description: 'Kept', secrets: SECRETS });
    }
    expectStatus(await put(id, { secrets: [] }), 200);
    expect((await get(id)).body).toMatchObject({ name: 'Any name', secrets: [] });
  });

  test('400 for an invalid secret, with nothing changed; 404 for a missing collection', async () => {
    const { id } = await createCollection();
    const broken = { name: 'New name', secrets: [{ type: 'env', location: 'PATH', value: 'x' }] };
    expectError(await put(id, broken), 400, 'secrets.0.location is "PATH"');
    expectError(await put(id, { name: 'ab' }), 400, 'name is "ab"');
    expect((await get(id)).body).toMatchObject({ name: 'Any name', secrets: SECRETS });
    expectError(await put('missing', { name: 'New name' }), 404, 'missing');
  });
});

describe('deleting a secrets collection', () => {
  test('204; then it is a 404 and its id can be reused', async () => {
    const { id } = await createCollection();
    expectStatus(await remove(id), 204);
    expectError(await get(id), 404);
    expectError(await put(id, {}), 404);
    expectError(await remove(id), 404);
    await createCollection({ id });
  });
});
