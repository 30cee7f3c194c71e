import type { Admission, Member } from '@switchyard/contract/account/members.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import {
  createEmail,
  type InvitedMember,
  MEMBERS_PATH,
  memberCalls,
} from '../../testing/fixtures/members.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
const { account, accept, request, invite, addMember, createKeyFor, put, remove, getOwnAccount, works } =
  memberCalls(() => server);

describe('the first start', () => {
  test('makes root@localhost a member', async () => {
    const members = (await request('GET', MEMBERS_PATH, server.token)).body as Member[];
    expect(members.at(-1)).toMatchObject({
      email: 'root@localhost',
      role: 'root',
      pending_invite: false,
      invite_expires_at: null,
    });
  });
});

describe('changing the role', () => {
  test('to fewer rights revokes the keys that have more, and no other', async () => {
    const member = await addMember(server.token, 'developer');
    const weak = await createKeyFor(server.token, 'viewer', member.email.toUpperCase());
    const other = await addMember(server.token, 'developer');
    expect(await works(member.token)).toBe(true);
    const response = await put(server.token, member.id, { role: 'operator' });
    expectStatus(response, 200);
    expect(response.body).toMatchObject({ id: member.id, role: 'operator' });
    expectError(await getOwnAccount(member.token), 401);
    expect([await works(weak.token), await works(other.token)]).toEqual([true, true]);
  });

  test('to more rights leaves the keys unchanged and allows a key with the new role', async () => {
    const member = await addMember(server.token, 'viewer');
    const body = { name: 'Any name', role: 'developer', user_email: member.email };
    expectError(
      await request('POST', '/v1/account/keys', server.token, body),
      400,
      'role is "developer"',
      'viewer',
    );
    expectStatus(await put(server.token, member.id, { role: 'developer' }), 200);
    expect((await getOwnAccount(member.token)).body).toMatchObject({ key: { role: 'viewer' } });
    expectStatus(await request('POST', '/v1/account/keys', server.token, body), 201);
  });

  test('or the name leaves absent fields unchanged; other fields are ignored', async () => {
    const member = await addMember(server.token, 'viewer');
    const named = await put(server.token, member.id, { name: 'Ada', created_at: '' });
    expect(named.body).toMatchObject({ id: member.id, email: member.email, name: 'Ada', role: 'viewer' });
    const same = await put(server.token, member.id, {});
    expect(same.body).toMatchObject({ name: 'Ada', role: 'viewer' });
    expect(await works(member.token)).toBe(true);
  });

  test('403 for a role with more rights than the caller, also for the caller itself', async () => {
    const { root, admin } = await account();
    const { id } = await addMember(root.token, 'viewer');
    expectError(await put(admin.token, id, { role: 'root' }), 403, 'root');
    expectError(await put(admin.token, admin.id, { role: 'root' }), 403, 'root');
    expectError(await put(admin.token, root.member, { role: 'viewer' }), 403, 'root');
    expectError(await remove(admin.token, root.member), 403, 'root');
    expectError(await request('POST', `${MEMBERS_PATH}/${root.member}/invite`, admin.token), 403, 'root');
    for (const role of ['developer', 'operator', 'viewer'] as const) {
      const { id: own, token } = await addMember(root.token, role);
      expectError(await put(token, own, { role: 'admin' }), 403, role);
      expectError(await remove(token, id), 403, role);
    }
    expect((await request('GET', `${MEMBERS_PATH}/${root.member}`, root.token)).body).toMatchObject({
      role: 'root',
    });
  });

  test('an admin can give up the role while another admin remains', async () => {
    const { root, admin } = await account();
    expectStatus(await put(admin.token, admin.id, { role: 'viewer' }), 200);
    expect([await works(admin.token), await works(root.token)]).toEqual([false, true]);
  });
});

describe('removing', () => {
  test('204 revokes every key of the member and no other; the address can be invited again', async () => {
    const member = await addMember(server.token, 'developer');
    const more = await createKeyFor(server.token, 'viewer', member.email);
    const own = await request('POST', '/v1/account/keys', member.token, { name: 'Any name', role: 'viewer' });
    const tokens = [member.token, more.token, (own.body as InvitedMember).token];
    expect(await Promise.all(tokens.map(works))).toEqual([true, true, true]);
    expectStatus(await remove(server.token, member.id), 204);
    expect(await Promise.all(tokens.map(works))).toEqual([false, false, false]);
    expectError(await request('GET', `${MEMBERS_PATH}/${member.id}`, server.token), 404);
    expectError(await remove(server.token, member.id), 404);
    expect(await works(server.token)).toBe(true);
    await addMember(server.token, 'viewer', member.email);
  });

  test('a member who cannot manage the account creates no key for another owner', async () => {
    const member = await addMember(server.token, 'developer');
    const body = { name: 'Any name', role: 'viewer', user_email: 'a-service' };
    expectError(
      await request('POST', '/v1/account/keys', member.token, body),
      403,
      'user_email is "a-service"',
    );
    expectStatus(await request('POST', '/v1/account/keys', server.token, body), 201);
  });

  test('a key that a member creates while being removed does not work afterwards', async () => {
    for (let round = 0; round < 5; round += 1) {
      const member = await addMember(server.token, 'developer');
      const make = () =>
        request('POST', '/v1/account/keys', member.token, { name: 'Any name', role: 'viewer' });
      const responses: TestResponse[] = await Promise.all([
        make(),
        make(),
        remove(server.token, member.id),
        make(),
        make(),
      ]);
      for (const response of responses.filter((one) => one.status === 201))
        expect(await works((response.body as InvitedMember).token)).toBe(false);
      expect(responses[2]?.status).toBe(204);
    }
  });
});

describe('the last member who can manage the account', () => {
  /** Creates an account by sign-up: with one admin and no root. */
  const signUp = async (): Promise<InvitedMember> => {
    const body = { name: 'Any name', email: createEmail() };
    const response = await server.request('POST', '/v1/accounts', { token: null, body });
    expectStatus(response, 201);
    const { member, key, token } = response.body as Admission;
    return { id: member.id, key: key.id, token };
  };

  test.each(['admin', 'root'] as const)(
    '%s cannot be removed or demoted, and its key cannot be revoked',
    async (role) => {
      const other = role === 'root' ? await account() : null;
      const last: InvitedMember = other
        ? { id: other.root.member, key: other.root.key, token: other.root.token }
        : await signUp();
      const pending = await invite(last.token, role);
      expectError(await remove(last.token, last.id), 400, `last ${role}`);
      expectError(await put(last.token, last.id, { role: 'viewer' }), 400, `last ${role}`);
      expectError(
        await request('DELETE', `/v1/account/keys/${last.key}`, last.token),
        400,
        `last ${role} key`,
      );
      expect(await works(last.token)).toBe(true);
      const next = (await accept(pending.invite)).body as Admission;
      expectStatus(await remove(next.token, last.id), 204);
      expectError(await remove(next.token, next.member.id), 400, `last ${role}`);
      expectError(
        await request('DELETE', `/v1/account/keys/${next.key.id}`, next.token),
        400,
        `last ${role} key`,
      );
      expect(await works(next.token)).toBe(true);
    },
  );

  test('one of two admins who remove, demote or revoke each other concurrently stays', async () => {
    const ends = [
      (by: InvitedMember, target: InvitedMember) => remove(by.token, target.id),
      (by: InvitedMember, target: InvitedMember) => put(by.token, target.id, { role: 'viewer' }),
      (by: InvitedMember, target: InvitedMember) =>
        request('DELETE', `/v1/account/keys/${target.key}`, by.token),
    ];
    for (const one of ends) {
      for (const other of ends) {
        const first = await signUp();
        const second = await addMember(first.token, 'admin');
        const responses = await Promise.all([one(first, second), other(second, first)]);
        const working = await Promise.all([works(first.token), works(second.token)]);
        expect(
          working.filter(Boolean),
          JSON.stringify(responses.map((response) => response.text)),
        ).toHaveLength(1);
        for (const response of responses) expect([200, 204, 400, 401]).toContain(response.status);
      }
    }
  });

  test('the member with the last admin key stays, although another admin without keys exists', async () => {
    const first = await signUp();
    const second = await addMember(first.token, 'admin');
    expectStatus(await request('DELETE', `/v1/account/keys/${second.key}`, first.token), 204);
    expectError(await remove(first.token, first.id), 400, 'last admin key');
    expectError(await put(first.token, first.id, { role: 'developer' }), 400, 'last admin key');
    expect(await works(first.token)).toBe(true);
  });
});

describe('another account', () => {
  test('gets 404 for reads, changes, removals and renewals', async () => {
    const { id } = await addMember(server.token, 'viewer');
    const other = await createOtherAccount(server);
    expectError(await request('GET', `${MEMBERS_PATH}/${id}`, other.token), 404);
    expectError(await put(other.token, id, { role: 'admin' }), 404);
    expectError(await remove(other.token, id), 404);
    expectError(await request('POST', `${MEMBERS_PATH}/${id}/invite`, other.token), 404);
    const listed = (await request('GET', MEMBERS_PATH, other.token)).body as Member[];
    expect(listed.map((one) => one.email)).toEqual(['other@localhost']);
    expect((await request('GET', `${MEMBERS_PATH}/${id}`, server.token)).body).toMatchObject({
      role: 'viewer',
    });
  });

  test('keeps its member and keys when a member with the same address is removed here', async () => {
    const other = await createOtherAccount(server);
    const here = await addMember(server.token, 'viewer');
    const there = await addMember(other.token, 'developer', here.email);
    expectStatus(await remove(server.token, here.id), 204);
    expect([await works(here.token), await works(there.token)]).toEqual([false, true]);
  });
});
