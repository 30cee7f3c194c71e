import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Key } from '@switchyard/contract/account/account.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { multiplyRows } from '../../testing/database/multiply-rows.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

type NewKey = Key & { token: string };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const requestKey = (token: string, body: unknown) =>
  server.request('POST', '/v1/account/keys', { token, body });
const whoAmI = (token: string) => server.request('GET', '/v1/account', { token });
const revoke = (token: string, id: string) => server.request('DELETE', `/v1/account/keys/${id}`, { token });
const listKeyIds = async (token: string): Promise<string[]> => {
  const { body } = await server.request('GET', '/v1/account/keys', { token });
  return (body as Key[]).map((key) => key.id);
};
const createKey = async (token: string, role: Role, name = `made ${role}`): Promise<NewKey> => {
  const response = await requestKey(token, { name, role });
  expect(response.status, response.text).toBe(201);
  return response.body as NewKey;
};

describe('the first start', () => {
  test('stores the root token in a file that only its owner may read', async () => {
    const path = join(server.dataFolder, 'root-token');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).toBe(`${server.token}\n`);
    expect((await stat(join(server.dataFolder, 'master-key'))).mode & 0o777).toBe(0o600);
  });

  test('happens once: account, key and token stay the same after a restart', async () => {
    const before = await whoAmI(server.token);
    await server.restart();
    expect(server.runningServer.firstStart).toBeNull();
    const after = await whoAmI(server.token);
    expect(after.status).toBe(200);
    expect((after.body as { id: string }).id).toBe((before.body as { id: string }).id);
  });
});

describe('the own account', () => {
  test('200 with the account and the key of the token, without the token', async () => {
    const response = await whoAmI(server.token);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      name: 'Main account',
      key: { role: 'root', name: 'root', user_email: 'root@localhost' },
    });
    expect(response.text).not.toContain(server.token.slice(-20));
  });

  test('403 for the role unassigned, which has no rights', async () => {
    const key = await createKey(server.token, 'unassigned');
    const response = await whoAmI(key.token);
    expect(response.status).toBe(403);
    expect(response.body).toEqual({ message: expect.stringContaining('unassigned'), code: 'forbidden' });
  });
});

describe('creating a key', () => {
  test('201 with the token, visible once, which works immediately', async () => {
    const key = await createKey(server.token, 'viewer', 'watch the plans');
    expect(key).toMatchObject({
      name: 'watch the plans',
      role: 'viewer',
      user_email: 'root@localhost',
      last_used_at: null,
    });
    expect((await whoAmI(key.token)).status).toBe(200);
    const list = await server.request('GET', '/v1/account/keys');
    expect(list.text).not.toContain(key.token.split('.')[2]);
    expect((list.body as Key[]).find((one) => one.id === key.id)).not.toHaveProperty('token');
  });

  test('user_email names the owner of the key and is returned', async () => {
    const response = await requestKey(server.token, {
      name: 'for Ada',
      role: 'operator',
      user_email: 'ada@example.com',
    });
    expect(response.body).toMatchObject({ user_email: 'ada@example.com' });
    const nested = await createKey((response.body as NewKey).token, 'viewer');
    expect(nested.user_email).toBe('ada@example.com');
  });

  const grants: [Role, Role, 201 | 403][] = [
    ['root', 'root', 201],
    ['admin', 'admin', 201],
    ['admin', 'root', 403],
    ['developer', 'developer', 201],
    ['developer', 'operator', 201],
    ['developer', 'admin', 403],
    ['operator', 'operator', 201],
    ['operator', 'developer', 403],
    ['viewer', 'viewer', 201],
    ['viewer', 'unassigned', 201],
    ['viewer', 'operator', 403],
    ['unassigned', 'unassigned', 403],
  ];
  test.each(grants)('by %s with the role %s returns %i', async (granter, granted, status) => {
    const { token } = await server.createKey(granter);
    const response = await requestKey(token, { name: 'given', role: granted });
    expect(response.status, response.text).toBe(status);
    if (status === 403) expect(response.body).toEqual({ message: expect.any(String), code: 'forbidden' });
  });

  test.each([
    ['no role', { name: 'abc' }, 'role is missing'],
    ['no name', { role: 'viewer' }, 'name is missing'],
    ['a short name', { name: 'ab', role: 'viewer' }, 'name is "ab"'],
    ['an unknown role', { name: 'abc', role: 'king' }, 'role is "king"'],
    ['an unknown field', { name: 'abc', role: 'viewer', rol: 'x' }, 'did you mean "role"?'],
  ])('400 for %s names the field', async (_, body, words) => {
    const response = await requestKey(server.token, body);
    expect(response.status).toBe(400);
    expect(response.body).toEqual({
      status: 'Bad Request',
      error: expect.stringContaining(words),
      code: 'invalid_request',
    });
  });
});

describe('listing keys', () => {
  test('root and admin see all keys, other roles the own key and the keys it created', async () => {
    const admin = await createKey(server.token, 'admin');
    const developer = await createKey(server.token, 'developer');
    const child = await createKey(developer.token, 'viewer');
    const all = await listKeyIds(admin.token);
    expect(all).toEqual(expect.arrayContaining([admin.id, developer.id, child.id]));
    expect(await listKeyIds(server.token)).toEqual(all);
    expect((await listKeyIds(developer.token)).sort()).toEqual([child.id, developer.id].sort());
    expect(await listKeyIds(child.token)).toEqual([child.id]);
  });

  test('shows the last use of a key', async () => {
    const key = await createKey(server.token, 'viewer');
    await whoAmI(key.token);
    const used = async () => {
      const list = (await server.request('GET', '/v1/account/keys')).body as Key[];
      return list.find((one) => one.id === key.id)?.last_used_at ?? null;
    };
    await expect.poll(used).not.toBeNull();
    expect(Math.abs(Date.parse((await used()) ?? '') - Date.now())).toBeLessThan(60_000);
  });
});

describe('revoking a key', () => {
  test('204; its token stops working at once', async () => {
    const key = await createKey(server.token, 'developer');
    expect((await whoAmI(key.token)).status).toBe(200);
    expect((await revoke(server.token, key.id)).status).toBe(204);
    const response = await whoAmI(key.token);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(response.body).toEqual({ message: expect.any(String), code: 'unauthorized' });
    expect(await listKeyIds(server.token)).not.toContain(key.id);
    expect((await revoke(server.token, key.id)).status).toBe(404);
  });

  test('a key can revoke itself and the keys it created, no other', async () => {
    const developer = await createKey(server.token, 'developer');
    const child = await createKey(developer.token, 'viewer');
    const other = await createKey(server.token, 'viewer');
    expect((await revoke(developer.token, other.id)).status).toBe(404);
    expect((await revoke(developer.token, child.id)).status).toBe(204);
    expect((await revoke(developer.token, developer.id)).status).toBe(204);
    expect((await whoAmI(other.token)).status).toBe(200);
  });

  test('403 when an admin revokes a root key', async () => {
    const admin = await createKey(server.token, 'admin');
    const root = await createKey(server.token, 'root');
    expect((await revoke(admin.token, root.id)).status).toBe(403);
    expect((await revoke(server.token, root.id)).status).toBe(204);
  });

  test('400 for the last root key, which keeps working', async () => {
    const account = await createOtherAccount(server);
    const response = await revoke(account.token, account.key);
    expect(response.status).toBe(400);
    expect((response.body as { error: string }).error).toContain('last root key');
    expect((await whoAmI(account.token)).status).toBe(200);
  });

  test('one of two root keys that revoke each other concurrently stays', async () => {
    for (let round = 0; round < 5; round += 1) {
      const account = await createOtherAccount(server);
      const second = await createKey(account.token, 'root');
      const responses = await Promise.all([
        revoke(account.token, second.id),
        revoke(second.token, account.key),
      ]);
      const accounts = await Promise.all([whoAmI(account.token), whoAmI(second.token)]);
      expect(accounts.filter((one) => one.status === 200)).toHaveLength(1);
      expect(responses.filter((one) => one.status === 204)).toHaveLength(1);
    }
  });
});

test('keys of another account cannot be revoked (404) and are absent from the list', async () => {
  const other = await createOtherAccount(server);
  const ours = await createKey(server.token, 'viewer');
  expect((await revoke(other.token, ours.id)).status).toBe(404);
  expect(await listKeyIds(other.token)).toEqual([other.key]);
  expect((await revoke(server.token, other.key)).status).toBe(404);
  expect((await whoAmI(other.token)).body).toMatchObject({ id: other.id });
});

describe('V8: keys that a key created', () => {
  const createKey = async (token: string, body: object) => {
    const response = await requestKey(token, { name: 'Any name', role: 'viewer', ...body });
    expect(response.status, response.text).toBe(201);
    return response.body as NewKey;
  };

  test('name their creator and its member in the list, also after its revocation', async () => {
    const email = 'vera@example.com';
    const parent = await createKey(server.token, { user_email: email });
    const child = await createKey(parent.token, { name: 'Child of Vera' });
    expect(parent.created_by).toMatchObject({ user_email: 'root@localhost' });
    expect((await revoke(server.token, `${parent.id}?cascade=false`)).status).toBe(204);
    const { body } = await server.request('GET', '/v1/account/keys');
    expect((body as Key[]).find((key) => key.id === child.id)?.created_by).toEqual({
      key_id: parent.id,
      user_email: email,
      invite: null,
    });
    expect((await whoAmI(child.token)).status).toBe(200);
    const first = (body as Key[]).find((key) => key.name === 'root');
    expect(first?.created_by).toBeNull();
  });

  test('are revoked with it, at every depth', async () => {
    const parent = await createKey(server.token, { user_email: 'max@example.com' });
    const child = await createKey(parent.token, {});
    const grandchild = await createKey(child.token, {});
    const other = await createKey(server.token, { user_email: 'max@example.com' });
    expect((await revoke(server.token, parent.id)).status).toBe(204);
    for (const { token } of [parent, child, grandchild]) expect((await whoAmI(token)).status).toBe(401);
    expect((await whoAmI(other.token)).status).toBe(200);
  });

  test('are revoked with it also below a key that was revoked before', async () => {
    const parent = await createKey(server.token, {});
    const child = await createKey(parent.token, {});
    const grandchild = await createKey(child.token, {});
    expect((await revoke(parent.token, `${child.id}?cascade=false`)).status).toBe(204);
    expect((await whoAmI(grandchild.token)).status).toBe(200);
    expect((await revoke(server.token, parent.id)).status).toBe(204);
    expect((await whoAmI(grandchild.token)).status).toBe(401);
  });

  test('stay when the cascade includes the last key that manages the account', async () => {
    await using small = await startTestServer();
    const { id } = await small.createKey('admin');
    const root = ((await small.request('GET', '/v1/account')).body as { key: Key }).key;
    const response = await small.request('DELETE', `/v1/account/keys/${root.id}`);
    expect(response.status).toBe(400);
    expect(response.text).toContain('include the last root key');
    expect((await small.request('GET', '/v1/account/keys')).text).toContain(id);
  });

  test('are at most 100 for one member', async () => {
    const user_email = 'many@example.com';
    const template = { column: 'id', value: (await createKey(server.token, { user_email })).id } as const;
    const changes = { id: `'key-many-' || n` };
    await multiplyRows(server.runningServer.database, {
      table: 'keys',
      template,
      count: 98,
      changes,
    });
    const last = await createKey(server.token, { user_email });
    const refused = await requestKey(server.token, { name: 'One more', role: 'viewer', user_email });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('has 100 keys');
    await revoke(server.token, last.id);
    await createKey(server.token, { user_email });
  });
});
