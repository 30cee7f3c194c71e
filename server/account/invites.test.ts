import type { Admission } from '@switchyard/contract/account/members.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmail, type Invite, MEMBERS_PATH, memberCalls } from '../testing/fixtures/members.ts';
import { expectError, expectStatus, uniqueId } from '../testing/fixtures/resources.ts';
import { createManualClock } from '../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const clock = createManualClock(Date.now());
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());
const { account, accept, ask, invite, joined, keyFor, put, remove, whoAmI, works } = memberCalls(
  () => server,
);

describe('inviting', () => {
  test('201 with a link of the sign-up page that is shown this once, good for seven days', async () => {
    const body = { email: createEmail(), role: 'developer', name: 'Ada 🚚' };
    const answer = await ask('POST', MEMBERS_PATH, server.token, body);
    expectStatus(answer, 201);
    const made = answer.body as Invite;
    expect(made).toMatchObject({ ...body, pending_invite: true });
    expect(made.invite_url).toBe(`${server.url}/sign-up?invite=${made.invite}`);
    expect(Date.parse(made.invite_expires_at ?? '') - clock.now()).toBe(7 * DAY_MS);
    const shown = await ask('GET', `${MEMBERS_PATH}/${made.id}`, server.token);
    const { invite: _, invite_url: __, ...member } = made;
    expect(shown.body).toEqual(member);
    expect((await ask('GET', MEMBERS_PATH, server.token)).text).not.toContain(made.invite);
  });

  test('the link names the address the server is known by', async () => {
    await using own = await startTestServer({ env: { SWITCHYARD_PUBLIC_URL: 'https://run.example.com/a' } });
    const answer = await own.request('POST', MEMBERS_PATH, { body: { email: 'a@b', role: 'viewer' } });
    expect((answer.body as Invite).invite_url).toMatch(/^https:\/\/run\.example\.com\/a\/sign-up\?invite=/);
  });

  test('a pending member has no key and cannot be mistaken for one who came in', async () => {
    const { id, email } = await invite(server.token, 'viewer');
    const keys = (await ask('GET', '/v1/account/keys', server.token)).body as { user_email: string }[];
    expect(keys.map((key) => key.user_email)).not.toContain(email);
    expect((await ask('GET', `${MEMBERS_PATH}/${id}`, server.token)).body).toMatchObject({
      pending_invite: true,
    });
  });

  test('400 for an address that a member has, however it is written', async () => {
    const email = `Ä.${createEmail()}`;
    await invite(server.token, 'viewer', email);
    for (const same of [email, email.toUpperCase(), email.normalize('NFD').toLowerCase()]) {
      const answer = await ask('POST', MEMBERS_PATH, server.token, { email: same, role: 'viewer' });
      expectError(answer, 400, 'email is ', 'another member');
    }
  });

  test('of two invites for one address at once, one is made', async () => {
    const email = createEmail();
    const answers = await Promise.all(
      [1, 2, 3].map(() => ask('POST', MEMBERS_PATH, server.token, { email, role: 'viewer' })),
    );
    expect(answers.map((one) => one.status).sort()).toEqual([201, 400, 400]);
  });

  test.each([
    ['no e-mail address', { email: 'ada', role: 'viewer' }, 'email is "ada"; it must be an e-mail address'],
    ['two addresses', { email: 'a@b@c', role: 'viewer' }, 'email is "a@b@c"'],
    ['a space', { email: 'a b@c', role: 'viewer' }, 'email is '],
    ['a line break', { email: 'a@b\n', role: 'viewer' }, 'email is '],
    ['a zero byte', { email: 'a@b\0', role: 'viewer' }, 'email is '],
    ['255 characters', { email: `${'a'.repeat(253)}@b`, role: 'viewer' }, 'email is '],
    ['no role', { email: 'a@b' }, 'role is missing'],
    ['a role that is none', { email: 'a@b', role: 'king' }, 'role is "king"'],
    ['a long name', { email: 'a@b', role: 'viewer', name: 'x'.repeat(49) }, 'name is '],
    ['an unknown field', { email: 'a@b', role: 'viewer', mail: 'x' }, 'mail is not a field'],
  ])('400 for %s names the field', async (_, body, words) => {
    expectError(await ask('POST', MEMBERS_PATH, server.token, body), 400, words);
  });

  test('403 for a role with more rights than the inviter’s', async () => {
    const { admin } = await account();
    const answer = await ask('POST', MEMBERS_PATH, admin.token, { email: createEmail(), role: 'root' });
    expectError(answer, 403, 'root');
  });

  test('400 when keys of that address may do more than the role', async () => {
    const { root } = await account();
    const email = createEmail();
    const service = await keyFor(root.token, 'developer', email);
    expectError(await ask('POST', MEMBERS_PATH, root.token, { email, role: 'viewer' }), 400, service.id);
    const member = await joined(root.token, 'developer', email);
    expect(await works(service.token)).toBe(true);
    expectStatus(await remove(root.token, member.id), 204);
    expect(await works(service.token)).toBe(false);
  });

  test('the same Idempotency-Key answers the same invite', async () => {
    const headers = { 'idempotency-key': uniqueId('once') };
    const body = { email: createEmail(), role: 'viewer' };
    const [first, second] = [
      await server.request('POST', MEMBERS_PATH, { headers, body }),
      await server.request('POST', MEMBERS_PATH, { headers, body }),
    ];
    expectStatus(second, 201);
    expect(second.body).toEqual(first.body);
  });
});

describe('accepting an invite', () => {
  test('201 with account, member, and a key with the role, whose token is shown this once', async () => {
    const { id, email, invite: given } = await invite(server.token, 'operator');
    const answer = await accept(given, { name: 'Grace' });
    expectStatus(answer, 201);
    const { account, member, key, token } = answer.body as Admission;
    expect(account.name).toBe('Main account');
    const changes = { pending_invite: false, invite_expires_at: null };
    expect(member).toMatchObject({ id, email, name: 'Grace', role: 'operator', ...changes });
    expect(key).toMatchObject({ role: 'operator', user_email: email });
    expect((await whoAmI(token)).body).toMatchObject({ id: account.id, key: { id: key.id } });
    expect((await ask('GET', `${MEMBERS_PATH}/${id}`, token)).body).toEqual(member);
  });

  test('works once, also when two try at once', async () => {
    const { id, email, invite: given } = await invite(server.token, 'viewer');
    const answers = await Promise.all([accept(given), accept(given), accept(given)]);
    expect(answers.map((one) => one.status).sort()).toEqual([201, 403, 403]);
    expectError(await accept(given), 403, 'used already');
    const keys = (await ask('GET', '/v1/account/keys', server.token)).body as { user_email: string }[];
    expect(keys.filter((key) => key.user_email === email)).toHaveLength(1);
    expect(id).not.toBe('');
  });

  test('403 when it was altered or made up, wherever', async () => {
    const { invite: given } = await invite(server.token, 'viewer');
    const swap = (at: number) =>
      `${given.slice(0, at)}${given[at] === 'A' ? 'B' : 'A'}${given.slice(at + 1)}`;
    const payload = Buffer.from(given, 'base64url').subarray(32).toString('base64url');
    const wrong = [swap(0), swap(30), swap(50), swap(given.length - 2), given.slice(0, -1), `${given}A`];
    for (const one of [...wrong, payload, 'x', 'A'.repeat(1024), '🚚', server.token])
      expectError(await accept(one), 403, 'not one of this server');
    expectStatus(await accept(given), 201);
  });

  test('403 when it is of another server', async () => {
    await using other = await startTestServer();
    const answer = await other.request('POST', MEMBERS_PATH, { body: { email: 'a@b', role: 'root' } });
    expectError(await accept((answer.body as Invite).invite), 403, 'not one of this server');
  });

  test('403 after seven days, and a renewed one works', async () => {
    const made = await invite(server.token, 'viewer');
    clock.advance(7 * DAY_MS - 1);
    const late = await invite(server.token, 'viewer');
    clock.advance(1);
    expectError(await accept(made.invite), 403, 'expired');
    expectStatus(await accept(late.invite), 201);
    const renewed = await ask('POST', `${MEMBERS_PATH}/${made.id}/invite`, server.token);
    expectStatus(renewed, 201);
    expectStatus(await accept((renewed.body as Invite).invite), 201);
  });

  test('403 when it was replaced or withdrawn', async () => {
    const made = await invite(server.token, 'viewer');
    const renewed = (await ask('POST', `${MEMBERS_PATH}/${made.id}/invite`, server.token)).body as Invite;
    expect(renewed.invite).not.toBe(made.invite);
    expectError(await accept(made.invite), 403, 'replaced');
    expectStatus(await remove(server.token, made.id), 204);
    expectError(await accept(renewed.invite), 403, 'withdrawn');
  });

  test('403 when whoever made it was removed or demoted since', async () => {
    for (const end of ['remove', 'demote'] as const) {
      const { root, admin } = await account();
      const made = await invite(admin.token, 'viewer');
      const kept = await invite(root.token, 'viewer');
      if (end === 'remove') expectStatus(await remove(root.token, admin.id), 204);
      else expectStatus(await put(root.token, admin.id, { role: 'operator' }), 200);
      expectError(await accept(made.invite), 403, 'withdrawn');
      expectStatus(await accept(kept.invite), 201);
    }
  });

  test('gives the role the member has then', async () => {
    const made = await invite(server.token, 'developer');
    expectStatus(await put(server.token, made.id, { role: 'viewer' }), 200);
    const { key, token } = (await accept(made.invite)).body as Admission;
    expect(key.role).toBe('viewer');
    expect((await whoAmI(token)).body).toMatchObject({ key: { role: 'viewer' } });
  });

  test('a member who came in long ago gets one more key with a new one', async () => {
    const member = await joined(server.token, 'viewer');
    const renewed = await ask('POST', `${MEMBERS_PATH}/${member.id}/invite`, server.token);
    expect(renewed.body).toMatchObject({ pending_invite: false });
    const again = (await accept((renewed.body as Invite).invite)).body as Admission;
    expect(again.key.id).not.toBe(member.key);
    expect(again.key.name).toBe('Key by invite');
    expect([await works(member.token), await works(again.token)]).toEqual([true, true]);
  });

  test('400 for a body that is none of an invite', async () => {
    for (const body of [{}, { invite: '' }, { invite: 7 }, { invite: 'x'.repeat(1025) }, { invite: 'a\0' }])
      expectError(
        await server.request('POST', '/v1/account/invites/accept', { token: null, body }),
        400,
        'invite',
      );
  });
});
