import type { Admission } from '@switchyard/contract/account/members.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmail, type Invite, MEMBERS_PATH, memberCalls } from '../../testing/fixtures/members.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const clock = createManualClock(Date.now());
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());
const { account, accept, request, invite, addMember, createKeyFor, put, remove, getOwnAccount, works } =
  memberCalls(() => server);

describe('inviting', () => {
  test('201 with a link to the sign-up page, visible once and valid for seven days', async () => {
    const body = { email: createEmail(), role: 'developer', name: 'Ada 🚚' };
    const response = await request('POST', MEMBERS_PATH, server.token, body);
    expectStatus(response, 201);
    const invited = response.body as Invite;
    expect(invited).toMatchObject({ ...body, pending_invite: true });
    expect(invited.invite_url).toBe(`${server.url}/sign-up?invite=${invited.invite}`);
    expect(Date.parse(invited.invite_expires_at ?? '') - clock.now()).toBe(7 * DAY_MS);
    const read = await request('GET', `${MEMBERS_PATH}/${invited.id}`, server.token);
    const { invite: _, invite_url: __, ...member } = invited;
    expect(read.body).toEqual(member);
    expect((await request('GET', MEMBERS_PATH, server.token)).text).not.toContain(invited.invite);
  });

  test('the link names the public address of the server', async () => {
    await using own = await startTestServer({ env: { SWITCHYARD_PUBLIC_URL: 'https://run.example.com/a' } });
    const response = await own.request('POST', MEMBERS_PATH, { body: { email: 'a@b', role: 'viewer' } });
    expect((response.body as Invite).invite_url).toMatch(/^https:\/\/run\.example\.com\/a\/sign-up\?invite=/);
  });

  test('a pending member has no key and is marked as pending', async () => {
    const { id, email } = await invite(server.token, 'viewer');
    const keys = (await request('GET', '/v1/account/keys', server.token)).body as { user_email: string }[];
    expect(keys.map((key) => key.user_email)).not.toContain(email);
    expect((await request('GET', `${MEMBERS_PATH}/${id}`, server.token)).body).toMatchObject({
      pending_invite: true,
    });
  });

  test('400 for the address of a member, in any capitals and Unicode normal form', async () => {
    const email = `Ä.${createEmail()}`;
    await invite(server.token, 'viewer', email);
    for (const same of [email, email.toUpperCase(), email.normalize('NFD').toLowerCase()]) {
      const response = await request('POST', MEMBERS_PATH, server.token, { email: same, role: 'viewer' });
      expectError(response, 400, 'email is ', 'another member');
    }
  });

  test('one of three concurrent invites for one address succeeds', async () => {
    const email = createEmail();
    const responses = await Promise.all(
      [1, 2, 3].map(() => request('POST', MEMBERS_PATH, server.token, { email, role: 'viewer' })),
    );
    expect(responses.map((one) => one.status).sort()).toEqual([201, 400, 400]);
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
    expectError(await request('POST', MEMBERS_PATH, server.token, body), 400, words);
  });

  test('403 for a role with more rights than the inviter’s', async () => {
    const { admin } = await account();
    const response = await request('POST', MEMBERS_PATH, admin.token, { email: createEmail(), role: 'root' });
    expectError(response, 403, 'root');
  });

  test('400 when a key of that address has more rights than the role', async () => {
    const { root } = await account();
    const email = createEmail();
    const service = await createKeyFor(root.token, 'developer', email);
    expectError(await request('POST', MEMBERS_PATH, root.token, { email, role: 'viewer' }), 400, service.id);
    const member = await addMember(root.token, 'developer', email);
    expect(await works(service.token)).toBe(true);
    expectStatus(await remove(root.token, member.id), 204);
    expect(await works(service.token)).toBe(false);
  });

  test('the same Idempotency-Key returns the same invite', async () => {
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
  test('201 with account, member and a key with the role, whose token is visible once', async () => {
    const { id, email, invite: inviteText } = await invite(server.token, 'operator');
    const response = await accept(inviteText, { name: 'Grace' });
    expectStatus(response, 201);
    const { account, member, key, token } = response.body as Admission;
    expect(account.name).toBe('Main account');
    const changes = { pending_invite: false, invite_expires_at: null };
    expect(member).toMatchObject({ id, email, name: 'Grace', role: 'operator', ...changes });
    expect(key).toMatchObject({ role: 'operator', user_email: email });
    expect((await getOwnAccount(token)).body).toMatchObject({ id: account.id, key: { id: key.id } });
    expect((await request('GET', `${MEMBERS_PATH}/${id}`, token)).body).toEqual(member);
  });

  test('succeeds once, also for three concurrent requests', async () => {
    const { id, email, invite: inviteText } = await invite(server.token, 'viewer');
    const responses = await Promise.all([accept(inviteText), accept(inviteText), accept(inviteText)]);
    expect(responses.map((one) => one.status).sort()).toEqual([201, 403, 403]);
    expectError(await accept(inviteText), 403, 'used already');
    const keys = (await request('GET', '/v1/account/keys', server.token)).body as { user_email: string }[];
    expect(keys.filter((key) => key.user_email === email)).toHaveLength(1);
    expect(id).not.toBe('');
  });

  test('403 for an altered or invented invite, wherever it differs', async () => {
    const { invite: inviteText } = await invite(server.token, 'viewer');
    const swap = (at: number) =>
      `${inviteText.slice(0, at)}${inviteText[at] === 'A' ? 'B' : 'A'}${inviteText.slice(at + 1)}`;
    const payload = Buffer.from(inviteText, 'base64url').subarray(32).toString('base64url');
    const wrong = [
      swap(0),
      swap(30),
      swap(50),
      swap(inviteText.length - 2),
      inviteText.slice(0, -1),
      `${inviteText}A`,
    ];
    for (const one of [...wrong, payload, 'x', 'A'.repeat(1024), '🚚', server.token])
      expectError(await accept(one), 403, 'not one of this server');
    expectStatus(await accept(inviteText), 201);
  });

  test('403 for an invite of another server', async () => {
    await using other = await startTestServer();
    const response = await other.request('POST', MEMBERS_PATH, { body: { email: 'a@b', role: 'root' } });
    expectError(await accept((response.body as Invite).invite), 403, 'not one of this server');
  });

  test('403 after seven days; a renewed invite works', async () => {
    const invited = await invite(server.token, 'viewer');
    clock.advance(7 * DAY_MS - 1);
    const late = await invite(server.token, 'viewer');
    clock.advance(1);
    expectError(await accept(invited.invite), 403, 'expired');
    expectStatus(await accept(late.invite), 201);
    const renewed = await request('POST', `${MEMBERS_PATH}/${invited.id}/invite`, server.token);
    expectStatus(renewed, 201);
    expectStatus(await accept((renewed.body as Invite).invite), 201);
  });

  test('403 for a replaced or withdrawn invite', async () => {
    const invited = await invite(server.token, 'viewer');
    const renewed = (await request('POST', `${MEMBERS_PATH}/${invited.id}/invite`, server.token))
      .body as Invite;
    expect(renewed.invite).not.toBe(invited.invite);
    expectError(await accept(invited.invite), 403, 'replaced');
    expectStatus(await remove(server.token, invited.id), 204);
    expectError(await accept(renewed.invite), 403, 'withdrawn');
  });

  test('403 when the inviter was removed or demoted since', async () => {
    for (const end of ['remove', 'demote'] as const) {
      const { root, admin } = await account();
      const invited = await invite(admin.token, 'viewer');
      const remaining = await invite(root.token, 'viewer');
      if (end === 'remove') expectStatus(await remove(root.token, admin.id), 204);
      else expectStatus(await put(root.token, admin.id, { role: 'operator' }), 200);
      expectError(await accept(invited.invite), 403, 'withdrawn');
      expectStatus(await accept(remaining.invite), 201);
    }
  });

  test('creates a key with the role that the member has at that time', async () => {
    const invited = await invite(server.token, 'developer');
    expectStatus(await put(server.token, invited.id, { role: 'viewer' }), 200);
    const { key, token } = (await accept(invited.invite)).body as Admission;
    expect(key.role).toBe('viewer');
    expect((await getOwnAccount(token)).body).toMatchObject({ key: { role: 'viewer' } });
  });

  test('an invite for a joined member adds a key', async () => {
    const member = await addMember(server.token, 'viewer');
    const renewed = await request('POST', `${MEMBERS_PATH}/${member.id}/invite`, server.token);
    expect(renewed.body).toMatchObject({ pending_invite: false });
    const again = (await accept((renewed.body as Invite).invite)).body as Admission;
    expect(again.key.id).not.toBe(member.key);
    expect(again.key.name).toBe('Key by invite');
    expect([await works(member.token), await works(again.token)]).toEqual([true, true]);
  });

  test('400 for a body without a valid invite', async () => {
    for (const body of [{}, { invite: '' }, { invite: 7 }, { invite: 'x'.repeat(1025) }, { invite: 'a\0' }])
      expectError(
        await server.request('POST', '/v1/account/invites/accept', { token: null, body }),
        400,
        'invite',
      );
  });
});
