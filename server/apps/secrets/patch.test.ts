/** Changes of single secrets: a request applies all its operations or none, and concurrent requests lose none. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApplication, expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let path: string;
beforeAll(async () => {
  server = await startTestServer();
  path = `/v1/applications/${await createApplication(server)}/secrets`;
});
afterAll(() => server.close());

const KEY = { type: 'env', location: 'KEY', value: 'one' };
const FILE = { type: 'file', location: 'KEY', value: 'two' };
const patch = (id: string, body: unknown) => server.request('PATCH', `${path}/${id}`, { body });
const read = async (id: string) =>
  (await server.request('GET', `${path}/${id}`)).body as {
    name: string;
    description: string;
    secrets: object[];
  };
async function createCollection(secrets: object[] = [KEY, FILE]): Promise<string> {
  const id = uniqueId('s');
  expectStatus(await server.request('POST', path, { body: { id, name: 'Any name', secrets } }), 201);
  return id;
}

test('creates, updates and deletes in the order of the operations, and returns the summary', async () => {
  const id = await createCollection();
  const response = await patch(id, {
    name: 'New name',
    operations: [
      { op: 'update', ...KEY, value: 'three' },
      { op: 'delete', type: 'file', location: 'KEY' },
      { op: 'create', type: 'env', location: 'MORE', value: '' },
      { op: 'create', ...FILE, value: 'four' },
    ],
  });
  expectStatus(response, 200);
  expect(response.body).toMatchObject({ id, name: 'New name', description: '' });
  expect(response.text).not.toContain('three');
  expect((await read(id)).secrets).toEqual([
    { ...KEY, value: 'three' },
    { type: 'env', location: 'MORE', value: '' },
    { ...FILE, value: 'four' },
  ]);
});

test('leaves the secrets unchanged without operations', async () => {
  const id = await createCollection();
  expectStatus(await patch(id, { description: 'Told' }), 200);
  expect(await read(id)).toMatchObject({ name: 'Any name', description: 'Told', secrets: [KEY, FILE] });
});

describe('is refused as a whole when one operation', () => {
  test.each([
    ['creates what is there', { op: 'create', ...KEY }, ['operations.1.location', '"KEY"', 'update']],
    [
      'updates what is not there',
      { op: 'update', ...KEY, location: 'NONE' },
      ['operations.1.location', '"NONE"'],
    ],
    [
      'deletes what is not there',
      { op: 'delete', type: 'file', location: 'none' },
      ['operations.1.location'],
    ],
    ['has no value', { op: 'update', type: 'env', location: 'KEY' }, ['operations.1.value', 'missing']],
    ['is of another kind', { op: 'rename', ...KEY }, ['operations.1.op', '"rename"']],
    ['has too large a value', { op: 'update', ...KEY, value: 'ä'.repeat(513) }, ['value']],
    ['has a bad location', { op: 'create', type: 'env', location: '1A', value: '' }, ['"1A"']],
  ])('%s', async (_what, change, words) => {
    const id = await createCollection();
    expectError(
      await patch(id, { name: 'Not this', operations: [{ op: 'update', ...FILE, value: 'x' }, change] }),
      400,
      ...words,
    );
    expect(await read(id)).toMatchObject({ name: 'Any name', secrets: [KEY, FILE] });
  });

  test('makes the collection larger than its limit', async () => {
    const id = await createCollection(
      Array.from({ length: 64 }, (_, n) => ({ type: 'env', location: `K${n}`, value: '' })),
    );
    expectError(await patch(id, { operations: [{ op: 'create', ...KEY }] }), 400, '65', '64');
    const swap = [
      { op: 'delete', type: 'env', location: 'K0' },
      { op: 'create', ...KEY },
    ];
    expectStatus(await patch(id, { operations: swap }), 200);
  });
});

test('concurrent changes are all applied', async () => {
  const id = await createCollection([]);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      patch(id, { operations: [{ op: 'create', type: 'env', location: `K${n}`, value: `${n}` }] }),
    ),
  );
  for (const response of responses) expectStatus(response, 200);
  expect((await read(id)).secrets).toHaveLength(20);
});

test('404 for a missing collection', async () => {
  expectError(await patch('none', { name: 'New name' }), 404, 'none');
});
