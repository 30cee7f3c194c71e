/** Saved views belong to their author. Others see the shared ones, which only author and administrators change. */
import type { Role } from '@switchyard/contract/roles.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const VIEWS = '/v1/applications/routing/views';
const TABLE = {
  filters: { status: 'failed,canceled', indicator: 'result.value:..10' },
  sort: '-name',
  created_within: '7d',
  columns: ['user', 'option:effort'],
};
let server: TestServer;
let tokens: Record<'ada' | 'bob' | 'dan' | 'eve', string>;

async function createToken(email: string, role: Role): Promise<string> {
  const { body } = await server.client.call('createKey', { body: { name: email, role, user_email: email } });
  return body.token;
}

beforeAll(async () => {
  server = await startTestServer();
  await server.client.call('createApplication', { body: { id: 'routing', name: 'Routing' } });
  tokens = {
    ada: await createToken('ada@example.com', 'viewer'),
    bob: await createToken('bob@example.com', 'operator'),
    dan: '',
    eve: await createToken('eve@example.com', 'admin'),
  };
});
afterAll(() => server.close());

type Person = keyof typeof tokens;

const send = (person: Person, method: string, path = '', body?: unknown) =>
  server.request(method, `${VIEWS}${path}`, { token: tokens[person], ...(body ? { body } : {}) });

async function save(person: Person, name: string, isShared = false): Promise<string> {
  const response = await send(person, 'POST', '', { name, is_shared: isShared, table: TABLE });
  expectStatus(response, 201);
  return `/${(response.body as { id: string }).id}`;
}

async function listNames(person: Person): Promise<string[]> {
  const response = await send(person, 'GET');
  expectStatus(response, 200);
  return (response.body as { items: { name: string }[] }).items.map(({ name }) => name);
}

test('a viewer saves, changes and deletes own views, which others see once they are shared', async () => {
  const view = await save('ada', 'Failures');
  expect(await listNames('ada')).toEqual(['Failures']);
  expect(await listNames('bob')).toEqual([]);
  expectStatus(await send('bob', 'PUT', view, { name: 'Stolen' }), 404);
  expectStatus(await send('eve', 'DELETE', view), 404);

  const change = { name: 'All failures', is_shared: true, table: {} };
  const changed = await send('ada', 'PUT', view, change);
  expect(changed.body).toMatchObject({ ...change, is_own: true, author_email: 'ada@example.com' });
  const { body } = await send('bob', 'GET');
  expect(body).toMatchObject({ items: [{ ...change, is_own: false }] });
  expectError(await send('ada', 'PUT', view, { name: ' ' }), 400, 'which is blank');
  expectError(await send('bob', 'PUT', view, { is_shared: false }), 403, 'ada@example.com');
  expectError(await send('bob', 'DELETE', view), 403, 'ada@example.com');

  expectStatus(await send('eve', 'PUT', view, { table: TABLE }), 200);
  expect((await send('ada', 'GET')).body).toMatchObject({ items: [{ name: 'All failures', table: TABLE }] });
  expectStatus(await send('ada', 'DELETE', view), 204);
  expect(await listNames('bob')).toEqual([]);
});

test('a removed member leaves the shared views alone', async () => {
  const { body } = await server.client.call('inviteMember', {
    body: { email: 'dan@example.com', role: 'viewer' },
  });
  tokens.dan = await createToken('dan@example.com', 'viewer');
  await save('dan', 'Mine');
  await save('dan', 'Ours', true);
  await save('ada', 'Private');
  expectStatus(await server.request('DELETE', `/v1/account/members/${body.id}`), 204);
  // The views belong to an address: another key of it would show those that stayed.
  tokens.dan = await createToken('dan@example.com', 'viewer');
  expect(await listNames('dan')).toEqual(['Ours']);
  expect(await listNames('ada')).toEqual(['Ours', 'Private']);
  for (const { id } of ((await send('eve', 'GET')).body as { items: { id: string }[] }).items)
    expectStatus(await send('eve', 'DELETE', `/${id}`), 204);
  for (const { id } of ((await send('ada', 'GET')).body as { items: { id: string }[] }).items)
    expectStatus(await send('ada', 'DELETE', `/${id}`), 204);
});

test('each member has each name once, and at most 50 views', async () => {
  await save('bob', 'b');
  expectError(await send('bob', 'POST', '', { name: 'b', table: {} }), 400, 'name');
  await save('eve', 'b', true);
  expect(await listNames('bob')).toEqual(['b', 'b']);
  for (let count = 1; count < 50; count += 1) await save('bob', `b${count}`);
  expectError(await send('bob', 'POST', '', { name: 'One more', table: {} }), 400, '50');
});

test.each([
  [{ name: '', table: {} }, 'name'],
  [{ name: ' ', table: {} }, 'name is " ", which is blank'],
  [{ name: '\u00a0\u3000', table: {} }, 'Give at least one visible character'],
  [{ name: 'x'.repeat(65), table: {} }, 'name'],
  [{ name: 'x' }, 'table'],
  [{ name: 'x', table: { filters: { status: 'done' } } }, 'status'],
  [{ name: 'x', table: { filters: { colour: 'red' } } }, 'colour'],
  [{ name: 'x', table: { filters: { indicator: 'cost' } } }, 'indicator'],
  [{ name: 'x', table: { sort: 'colour' } }, 'sort'],
  [{ name: 'x', table: { created_within: '2d' } }, 'created_within'],
  [{ name: 'x', table: { columns: Array.from({ length: 31 }, () => 'user') } }, 'columns'],
])('%j is a 400', async (body, word) => {
  expectError(await send('ada', 'POST', '', body), 400, word);
});
