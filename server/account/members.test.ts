import type { Admission, Member } from '@switchyard/contract/account/members.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../testing/fixtures/accounts.ts';
import { createEmail, type InvitedMember, MEMBERS_PATH, memberCalls } from '../testing/fixtures/members.ts';
import { expectError, expectStatus } from '../testing/fixtures/resources.ts';
import { startTestServer, type TestResponse, type TestServer } from '../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
const { account, accept, ask, invite, joined, keyFor, put, remove, whoAmI, works } = memberCalls(
  () => server,
);

describe('the first start', () => {
  test('makes root@localhost a member', async () => {
    const members = (await ask('GET', MEMBERS_PATH, server.token)).body as Member[];
    expect(members.at(-1)).toMatchObject({
      email: 'root@localhost',
      role: 'root',
      pending_invite: false,
      invite_expires_at: null,
    });
  });
});

describe('changing the role', () => {
  test('to one with fewer rights stops the keys that may do more, at once, and no other', async () => {
    const member = await joined(server.token, 'developer');
    const weak = await keyFor(server.token, 'viewer', member.email.toUpperCase());
    const other = await joined(server.token, 'developer');
    expect(await works(member.token)).toBe(true);
    const answer = await put(server.token, member.id, { role: 'operator' });
    expectStatus(answer, 200);
    expect(answer.body).toMatchObject({ id: member.id, role: 'operator' });
    expectError(await whoAmI(member.token), 401);
    expect([await works(weak.token), await works(other.token)]).toEqual([true, true]);
  });

  test('to one with more rights gives no key more, and lets a new one be made', async () => {
    const member = await joined(server.token, 'viewer');
    const body = { name: 'Any name', role: 'developer', user_email: member.email };
    expectError(
      await ask('POST', '/v1/account/keys', server.token, body),
      400,
      'role is "developer"',
      'viewer',
    );
    expectStatus(await put(server.token, member.id, { role: 'developer' }), 200);
    expect((await whoAmI(member.token)).body).toMatchObject({ key: { role: 'viewer' } });
    expectStatus(await ask('POST', '/v1/account/keys', server.token, body), 201);
  });

  test('and the name leaves alone what is not named; other fields are ignored', async () => {
    const member = await joined(server.token, 'viewer');
    const named = await put(server.token, member.id, { name: 'Ada', email: 'x@y', id: 'z', created_at: '' });
    expect(named.body).toMatchObject({ id: member.id, email: member.email, name: 'Ada', role: 'viewer' });
    const same = await put(server.token, member.id, {});
    expect(same.body).toMatchObject({ name: 'Ada', role: 'viewer' });
    expect(await works(member.token)).toBe(true);
  });

  test('403 for who would give more than they have, or raise themselves', async () => {
    const { root, admin } = await account();
    const { id } = await joined(root.token, 'viewer');
    expectError(await put(admin.token, id, { role: 'root' }), 403, 'root');
    expectError(await put(admin.token, admin.id, { role: 'root' }), 403, 'root');
    expectError(await put(admin.token, root.member, { role: 'viewer' }), 403, 'root');
    expectError(await remove(admin.token, root.member), 403, 'root');
    expectError(await ask('POST', `${MEMBERS_PATH}/${root.member}/invite`, admin.token), 403, 'root');
    for (const role of ['developer', 'operator', 'viewer'] as const) {
      const { id: own, token } = await joined(root.token, role);
      expectError(await put(token, own, { role: 'admin' }), 403, role);
      expectError(await remove(token, id), 403, role);
    }
    expect((await ask('GET', `${MEMBERS_PATH}/${root.member}`, root.token)).body).toMatchObject({
      role: 'root',
    });
  });

  test('an admin may step down where another stays', async () => {
    const { root, admin } = await account();
    expectStatus(await put(admin.token, admin.id, { role: 'viewer' }), 200);
    expect([await works(admin.token), await works(root.token)]).toEqual([false, true]);
  });
});

describe('removing', () => {
  test('204 stops every key of the member at once and no other, and the address can be invited again', async () => {
    const member = await joined(server.token, 'developer');
    const more = await keyFor(server.token, 'viewer', member.email);
    const own = await ask('POST', '/v1/account/keys', member.token, { name: 'Any name', role: 'viewer' });
    const tokens = [member.token, more.token, (own.body as InvitedMember).token];
    expect(await Promise.all(tokens.map(works))).toEqual([true, true, true]);
    expectStatus(await remove(server.token, member.id), 204);
    expect(await Promise.all(tokens.map(works))).toEqual([false, false, false]);
    expectError(await ask('GET', `${MEMBERS_PATH}/${member.id}`, server.token), 404);
    expectError(await remove(server.token, member.id), 404);
    expect(await works(server.token)).toBe(true);
    await joined(server.token, 'viewer', member.email);
  });

  test('whoever may not manage the account makes no key that would outlive them', async () => {
    const member = await joined(server.token, 'developer');
    const body = { name: 'Any name', role: 'viewer', user_email: 'a-service' };
    expectError(await ask('POST', '/v1/account/keys', member.token, body), 403, 'user_email is "a-service"');
    expectStatus(await ask('POST', '/v1/account/keys', server.token, body), 201);
  });

  test('a key made while its maker is removed does not outlive them', async () => {
    for (let round = 0; round < 5; round += 1) {
      const member = await joined(server.token, 'developer');
      const make = () => ask('POST', '/v1/account/keys', member.token, { name: 'Any name', role: 'viewer' });
      const answers: TestResponse[] = await Promise.all([
        make(),
        make(),
        remove(server.token, member.id),
        make(),
        make(),
      ]);
      for (const answer of answers.filter((one) => one.status === 201))
        expect(await works((answer.body as InvitedMember).token)).toBe(false);
      expect(answers[2]?.status).toBe(204);
    }
  });
});

describe('the last one who may manage the account', () => {
  /** An account as sign-up makes it: one admin and no root. */
  const signedUp = async (): Promise<InvitedMember> => {
    const body = { name: 'Any name', email: createEmail() };
    const answer = await server.request('POST', '/v1/accounts', { token: null, body });
    expectStatus(answer, 201);
    const { member, key, token } = answer.body as Admission;
    return { id: member.id, key: key.id, token };
  };

  test.each(['admin', 'root'] as const)(
    '%s is neither removed nor demoted nor loses the key',
    async (role) => {
      const other = role === 'root' ? await account() : null;
      const last: InvitedMember = other
        ? { id: other.root.member, key: other.root.key, token: other.root.token }
        : await signedUp();
      const pending = await invite(last.token, role);
      expectError(await remove(last.token, last.id), 400, `last ${role}`);
      expectError(await put(last.token, last.id, { role: 'viewer' }), 400, `last ${role}`);
      expectError(await ask('DELETE', `/v1/account/keys/${last.key}`, last.token), 400, `last ${role} key`);
      expect(await works(last.token)).toBe(true);
      const next = (await accept(pending.invite)).body as Admission;
      expectStatus(await remove(next.token, last.id), 204);
      expectError(await remove(next.token, next.member.id), 400, `last ${role}`);
      expectError(
        await ask('DELETE', `/v1/account/keys/${next.key.id}`, next.token),
        400,
        `last ${role} key`,
      );
      expect(await works(next.token)).toBe(true);
    },
  );

  test('of two admins who remove, demote or revoke each other at once, one stays', async () => {
    const ends = [
      (by: InvitedMember, whom: InvitedMember) => remove(by.token, whom.id),
      (by: InvitedMember, whom: InvitedMember) => put(by.token, whom.id, { role: 'viewer' }),
      (by: InvitedMember, whom: InvitedMember) => ask('DELETE', `/v1/account/keys/${whom.key}`, by.token),
    ];
    for (const one of ends) {
      for (const other of ends) {
        const first = await signedUp();
        const second = await joined(first.token, 'admin');
        const answers = await Promise.all([one(first, second), other(second, first)]);
        const left = await Promise.all([works(first.token), works(second.token)]);
        expect(left.filter(Boolean), JSON.stringify(answers.map((answer) => answer.text))).toHaveLength(1);
        for (const answer of answers) expect([200, 204, 400, 401]).toContain(answer.status);
      }
    }
  });

  test('a member is kept whose keys are the last that may, though another admin has none', async () => {
    const first = await signedUp();
    const second = await joined(first.token, 'admin');
    expectStatus(await ask('DELETE', `/v1/account/keys/${second.key}`, first.token), 204);
    expectError(await remove(first.token, first.id), 400, 'last admin key');
    expectError(await put(first.token, first.id, { role: 'developer' }), 400, 'last admin key');
    expect(await works(first.token)).toBe(true);
  });
});

describe('another account', () => {
  test('sees, changes, removes and renews nothing: 404', async () => {
    const { id } = await joined(server.token, 'viewer');
    const other = await createOtherAccount(server);
    expectError(await ask('GET', `${MEMBERS_PATH}/${id}`, other.token), 404);
    expectError(await put(other.token, id, { role: 'admin' }), 404);
    expectError(await remove(other.token, id), 404);
    expectError(await ask('POST', `${MEMBERS_PATH}/${id}/invite`, other.token), 404);
    const listed = (await ask('GET', MEMBERS_PATH, other.token)).body as Member[];
    expect(listed.map((one) => one.email)).toEqual(['other@localhost']);
    expect((await ask('GET', `${MEMBERS_PATH}/${id}`, server.token)).body).toMatchObject({ role: 'viewer' });
  });

  test('keeps its member and keys when one of the same address leaves here', async () => {
    const other = await createOtherAccount(server);
    const here = await joined(server.token, 'viewer');
    const there = await joined(other.token, 'developer', here.email);
    expectStatus(await remove(server.token, here.id), 204);
    expect([await works(here.token), await works(there.token)]).toEqual([false, true]);
  });
});
