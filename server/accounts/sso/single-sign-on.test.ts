/** Single sign-on with a real provider: members, roles and sessions, and attacks on the sign-in. */
import { generateKeyPairSync } from 'node:crypto';
import type { Member } from '@switchyard/contract/account/members.ts';
import type { Session } from '@switchyard/contract/account/sessions.ts';
import { decodeJwt, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import {
  CONSOLE_CLIENT,
  requestWith,
  sendCallback,
  signOn,
  ssoSettings,
  startIdentityProvider,
  startSignOn,
  type TestIdentityProvider,
  type TestPerson,
} from '../../testing/http/identity-provider.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';

const clock = createManualClock(Date.now());
let provider: TestIdentityProvider;
let server: TestServer;
beforeAll(async () => {
  provider = await startIdentityProvider();
  const roles = 'planners=operator,engineers=developer,admins=admin';
  const env = { ...ssoSettings(provider), SWITCHYARD_OIDC_ROLES: roles };
  server = await startTestServer({ clock, env });
  provider.allowConsole(server.url);
});
afterEach(() => {
  provider.changeIdToken = null;
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

let people = 0;
/** Returns a person whom nobody has seen yet. */
function createPerson(claims: Partial<TestPerson> = {}): TestPerson & { email: string } {
  people += 1;
  const email = `person${people}@example.com`;
  return { sub: `sub-${people}`, email, email_verified: true, name: 'Ada', groups: ['planners'], ...claims };
}

const enter = (person: TestPerson): Promise<TestResponse> => signOn(server, provider, person);
const readRole = (response: TestResponse) => (response.body as Session).key.role;
const findMember = async ({ email }: Partial<TestPerson>): Promise<Member | undefined> => {
  const { body } = await server.request('GET', '/v1/account/members');
  return (body as Member[]).find((one) => one.email === email);
};

/** Returns the operations and resources of audit entries about the member, oldest first. */
async function listAuditEntries(member: string): Promise<string[]> {
  const { body } = await server.client.call('listAuditEntries');
  return body.items
    .filter(({ resource }) => resource.member_id === member)
    .map(({ operation, resource }) => `${operation} ${resource.role ?? ''}`.trim())
    .reverse();
}

describe('a person', () => {
  test('becomes a member at the first sign-in, with the role of their groups', async () => {
    const person = createPerson({ groups: ['staff', 'planners', 'engineers'] });
    const first = await enter(person);
    expectStatus(first, 201);
    expect(first.body).toMatchObject({ current: true, key: { name: 'Single sign-on', role: 'developer' } });
    expectStatus(await requestWith(server, first, 'GET /v1/applications'), 200);
    const member = await findMember(person);
    expect(member).toMatchObject({ name: 'Ada', role: 'developer', pending_invite: false });
    const second = await enter(person);
    expect((second.body as Session).key.id).toBe((first.body as Session).key.id);
    expect(await listAuditEntries(member?.id ?? '')).toEqual(['provisionMember developer']);
  });

  test('has a session like any other: listed, audited, ended', async () => {
    const person = createPerson({ groups: ['admins'] });
    const entered = await enter(person);
    const { id, key } = entered.body as Session;
    const list = await requestWith(server, entered, 'GET /v1/account/sessions');
    expect((list.body as Session[]).map((one) => one.id)).toContain(id);
    const { body } = await server.client.call('listAuditEntries', { query: { operation: 'createSession' } });
    expect(body.items[0]?.resource).toMatchObject({ session_id: id, key_id: key.id });
    expectStatus(await server.request('DELETE', `/v1/account/sessions/${id}`), 204);
    expectError(await requestWith(server, entered, 'GET /v1/account'), 401, 'session has ended');
  });

  test('becomes one member by ten first requests at once', async () => {
    const person = createPerson();
    const token = await provider.issueIdToken(person);
    const requests = Array.from({ length: 10 }, () => server.request('GET', '/v1/account', { token }));
    const keys = (await Promise.all(requests)).map((response) => {
      expectStatus(response, 200);
      return (response.body as { key: { id: string } }).key.id;
    });
    expect(new Set(keys).size).toBe(1);
    const member = (await findMember(person))?.id ?? '';
    expect(await listAuditEntries(member)).toEqual(['provisionMember operator']);
  });

  test('joins by an invite without its link', async () => {
    const person = createPerson();
    const invite = { email: person.email.toUpperCase(), role: 'viewer' };
    expectStatus(await server.request('POST', '/v1/account/members', { body: invite }), 201);
    expect(readRole(await enter(person))).toBe('operator');
    expect(await findMember({ email: person.email.toUpperCase() })).toMatchObject({
      role: 'operator',
      pending_invite: false,
      invite_expires_at: null,
    });
  });

  test('loses stronger keys and sessions when the groups grant less', async () => {
    const person = createPerson({ groups: ['admins'] });
    const entered = await enter(person);
    const body = { name: 'Strong key', role: 'developer' };
    const created = await requestWith(server, entered, 'POST /v1/account/keys', body);
    const { token } = created.body as { token: string };
    expect(readRole(await enter({ ...person, groups: ['planners'] }))).toBe('operator');
    expectError(await server.request('GET', '/v1/account', { token }), 401, 'revoked');
    expect(await findMember(person)).toMatchObject({ role: 'operator' });
    expectError(await requestWith(server, entered, 'GET /v1/account/audit'), 401, 'session has ended');
  });

  test('gets more rights when the groups grant more', async () => {
    const person = createPerson();
    const entered = await enter(person);
    expect(readRole(await enter({ ...person, groups: ['admins'] }))).toBe('admin');
    expectStatus(await requestWith(server, entered, 'GET /v1/account/audit'), 200);
    const member = (await findMember(person))?.id ?? '';
    expect(await listAuditEntries(member)).toEqual(['provisionMember operator', 'changeMemberRole admin']);
  });

  test('loses sessions and keys at once after a removal, and comes back by an invite alone', async () => {
    const person = createPerson({ groups: ['engineers'] });
    const entered = await enter(person);
    const key = { name: 'Own key', role: 'viewer' };
    const created = await requestWith(server, entered, 'POST /v1/account/keys', key);
    const { token } = created.body as { token: string };
    expectStatus(await server.request('GET', '/v1/account', { token }), 200);
    const member = await findMember(person);
    expectStatus(await server.request('DELETE', `/v1/account/members/${member?.id}`), 204);
    expectError(await requestWith(server, entered, 'GET /v1/account'), 401, 'session has ended');
    expectError(await server.request('GET', '/v1/account', { token }), 401, 'revoked');
    const moved = { ...person, email: 'moved@example.com' };
    for (const again of [person, moved, { ...person, sub: 'another' }])
      expectError(await enter(again), 403, 'was removed');
    const invite = { email: person.email, role: 'viewer' };
    expectStatus(await server.request('POST', '/v1/account/members', { body: invite }), 201);
    expectStatus(await enter(person), 201);
  });

  test('stays removed after a removal before the first single sign-on', async () => {
    const person = createPerson();
    const body = { email: person.email, role: 'viewer' };
    const invited = await server.request('POST', '/v1/account/members', { body });
    const path = `/v1/account/members/${(invited.body as { id: string }).id}`;
    expectStatus(await server.request('DELETE', path), 204);
    expectError(await enter(person), 403, 'was removed');
  });

  test('does not become another one by a changed address or subject', async () => {
    const [ada, eve] = [createPerson(), createPerson()];
    for (const person of [ada, eve]) expectStatus(await enter(person), 201);
    expectError(await enter({ ...eve, email: ada.email }), 403, 'An admin has to remove that member');
    expectError(await enter({ ...ada, sub: 'sub-of-a-successor' }), 403, 'another person');
  });
});

describe('the userinfo endpoint', () => {
  const drop = (...names: string[]) => {
    provider.changeIdToken = (token) =>
      provider.sign({ ...decodeJwt(token), ...Object.fromEntries(names.map((name) => [name, undefined])) });
  };

  test('completes an ID token without address and groups', async () => {
    drop('email', 'email_verified', 'groups');
    const person = createPerson({ groups: ['engineers'] });
    expect((await enter(person)).body).toMatchObject({
      key: { role: 'developer', user_email: person.email },
    });
  });

  test('does not verify another address of the ID token', async () => {
    const person = createPerson();
    provider.changeIdToken = (token) =>
      provider.sign({ ...decodeJwt(token), email: 'boss@example.com', email_verified: undefined });
    expect((await enter(person)).body).toMatchObject({ key: { user_email: person.email } });
  });
});

describe('a refused person', () => {
  test.each<[string, Partial<TestPerson>, string]>([
    ['an address that is not verified', { email_verified: false }, 'not verified'],
    ['an address without a word about verification', { email_verified: undefined }, 'not verified'],
    ['no address', { email: undefined }, 'no e-mail address'],
    ['a domain that is not allowed', { email: 'eve@example.net' }, '@example.com, @example.org'],
    ['a subdomain of an allowed one', { email: 'eve@evil.example.com' }, '@example.com'],
    ['two @ signs', { email: 'eve@evil.net@example.com' }, 'in ASCII'],
    ['the Kelvin sign, whose lower case is k', { email: '\u212Aim@example.com' }, 'in ASCII'],
    ['groups without a role', { groups: ['staff'] }, 'None of your groups'],
    ['a group that is no text', { groups: [{ planners: true }] }, 'None of your groups'],
    ['no groups', { groups: undefined }, 'None of your groups'],
  ])('has %s', async (_title, claims, message) => {
    const response = await enter(createPerson(claims));
    expectError(response, 403, message);
    expect(response.headers.get('set-cookie')).toBeNull();
  });
});

/** Starts a sign-in of a new person; returns its cookie and the callback that the provider sends. */
async function startCallback(claims: Partial<TestPerson> = {}) {
  provider.person = createPerson(claims);
  const { cookie, url } = await startSignOn(server);
  const callback = (await provider.followSignIn(url)).searchParams;
  return { cookie, url, callback };
}

describe('the callback is refused', () => {
  test.each<[string, (callback: URLSearchParams) => void, string]>([
    ['without a state', (callback) => callback.delete('state'), 'no state'],
    ['with an empty state', (callback) => callback.set('state', ''), 'no state'],
    ['with a wrong state', (callback) => callback.set('state', 'mwu3g5sr.AAAA'), 'not one of this browser'],
    ['with two states', (callback) => callback.append('state', callback.get('state') ?? ''), 'no state'],
    ['of another issuer', (callback) => callback.set('iss', 'https://evil.example'), 'is not valid'],
    ['without the issuer', (callback) => callback.delete('iss'), 'is not valid'],
    ['without a code', (callback) => callback.delete('code'), 'is not valid'],
    ['with a wrong code', (callback) => callback.set('code', 'wrong'), 'refused the code'],
    [
      'with an ID token in the address',
      (callback) => callback.set('id_token', 'eyJhbGciOiJub25lIn0.e30.'),
      'is not valid',
    ],
  ])('%s', async (_title, change, message) => {
    const { cookie, callback } = await startCallback();
    change(callback);
    const response = await sendCallback(server, cookie, callback.toString());
    expectError(response, 401, message);
    expect(response.headers.get('set-cookie')).toBeNull();
  });

  test('in another browser, which has no cookie or its own (login CSRF)', async () => {
    const { callback } = await startCallback();
    const other = await startSignOn(server);
    for (const cookie of ['', other.cookie])
      expectError(await sendCallback(server, cookie, callback.toString()), 401, 'not one of this browser');
  });

  test('from a page of another site', async () => {
    const { cookie, callback } = await startCallback();
    const headers = { 'x-switchyard-console': '1', origin: 'https://evil.example' };
    expectError(await sendCallback(server, cookie, callback.toString(), headers), 403, 'Origin');
  });

  test('with a code of another sign-in in the same browser (code injection)', async () => {
    const [own, other] = [await startCallback(), await startCallback()];
    own.callback.set('code', other.callback.get('code') ?? '');
    expectError(await sendCallback(server, own.cookie, own.callback.toString()), 401, 'refused the code');
  });

  test('with a code that was used', async () => {
    const { cookie, callback } = await startCallback();
    expectStatus(await sendCallback(server, cookie, callback.toString()), 201);
    expectError(await sendCallback(server, cookie, callback.toString()), 401, 'refused the code');
  });

  test('with a state that was used, also with a new code', async () => {
    const { cookie, url, callback } = await startCallback();
    expectStatus(await sendCallback(server, cookie, callback.toString()), 201);
    const again = (await provider.followSignIn(url)).searchParams;
    expect(again.get('state')).toBe(callback.get('state'));
    expect(again.get('code')).not.toBe(callback.get('code'));
    expectError(await sendCallback(server, cookie, again.toString()), 401, 'used already');
  });

  test('after a person declined at the provider', async () => {
    const { cookie, callback } = await startCallback();
    callback.delete('code');
    callback.set('error', 'access_denied');
    const response = await sendCallback(server, cookie, callback.toString());
    expectError(response, 403, 'refused the sign-in: "access_denied"');
  });

  test('after 10 minutes', async () => {
    const { cookie, callback } = await startCallback();
    clock.advance(10 * 60_000);
    expectError(await sendCallback(server, cookie, callback.toString()), 401, 'older than 10 minutes');
  });
});

describe('an ID token is refused', () => {
  const foreignKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const resign = (changes: JWTPayload) => (token: string) =>
    provider.sign({ ...decodeJwt(token), ...changes });
  const seconds = (): number => Math.floor(clock.now() / 1000);

  test.each<[string, (token: string) => string | Promise<string>]>([
    ['that is expired', (token) => resign({ exp: seconds() - 60 })(token)],
    ['with the nonce of another sign-in', resign({ nonce: 'other' })],
    ['without a nonce', resign({ nonce: undefined })],
    ['of another issuer', resign({ iss: 'https://evil.example' })],
    ['for another client', resign({ aud: 'switchyard-cli' })],
    ['for several clients, issued to another', resign({ aud: ['switchyard', 'other'], azp: 'other' })],
    ['without a subject', resign({ sub: undefined })],
    ['without a signature (alg none)', (token) => new UnsecuredJWT(decodeJwt(token)).encode()],
    ['whose signature was cut off', (token) => token.slice(0, token.lastIndexOf('.') + 1)],
    [
      'that another key signed',
      (token) =>
        new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'RS256', kid: 'test-key' }).sign(foreignKey),
    ],
    [
      'that the secret of the client signed (HS256)',
      (token) =>
        new SignJWT(decodeJwt(token))
          .setProtectedHeader({ alg: 'HS256', kid: 'test-key' })
          .sign(Buffer.from(CONSOLE_CLIENT.secret)),
    ],
    [
      'whose claims were changed after the signature',
      (token) => {
        const [header, , signature] = token.split('.');
        const claims = { ...decodeJwt(token), groups: ['admins'] };
        return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
      },
    ],
    ['that is no token', () => 'rubbish'],
  ])('%s', async (_title, change) => {
    provider.changeIdToken = change;
    const response = await enter(createPerson());
    expectError(response, 401, 'The response of the identity provider is not valid');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await findMember(provider.person)).toBeUndefined();
  });

  test.each<[string, JWTPayload, string]>([
    ['for several clients', { aud: ['switchyard', 'other'], azp: 'switchyard' }, 'is for 2 clients'],
    ['that is an access token with its nonce', { typ: 'Bearer' }, 'The claim typ is "Bearer"'],
  ])('A13: %s', async (_title, changes, words) => {
    provider.changeIdToken = resign(changes);
    expectError(await enter(createPerson()), 401, words);
    expect(await findMember(provider.person)).toBeUndefined();
  });
});

test('A3: the callback of a sign-in passes when its address has used up the limit of failed sign-ins', async () => {
  const env = { ...ssoSettings(provider), SWITCHYARD_RATE_LIMIT: '60/1' };
  const limited = await startTestServer({ clock, env });
  try {
    provider.allowConsole(limited.url);
    provider.person = createPerson();
    const { cookie, url } = await startSignOn(limited);
    const callback = (await provider.followSignIn(url)).search.slice(1);
    const guess = () => sendCallback(limited, cookie, 'code=any&state=any');
    for (let count = 1; (await guess()).status !== 429; count += 1) expect(count).toBeLessThan(30);
    expectStatus(await sendCallback(limited, cookie, callback), 201);
    expectError(await guess(), 429);
  } finally {
    await limited.close();
  }
});

test('a sign-in never continues an older session (session fixation)', async () => {
  const { cookie, callback } = await startCallback();
  const name = `switchyard_session_${new URL(server.url).port}`;
  const fixed = `${cookie}; ${name}=chosen-by-the-attacker`;
  const response = await sendCallback(server, fixed, callback.toString());
  expectStatus(response, 201);
  expect(response.headers.get('set-cookie')).not.toContain('chosen-by-the-attacker');
});

test('the start leads nowhere but to the provider, and back to this server alone', async () => {
  const headers = { 'x-switchyard-console': '1', 'x-forwarded-host': 'evil.example' };
  for (const query of ['?redirect_uri=https://evil.example', '?next=//evil.example'])
    expectStatus(await server.request('GET', `/v1/sso/sign-in${query}`, { token: null, headers }), 400);
  const response = await server.request('GET', '/v1/sso/sign-in', { token: null, headers });
  const url = new URL((response.body as { url: string }).url);
  expect(url.origin).toBe(provider.issuer);
  expect(url.searchParams.get('redirect_uri')).toBe(`${server.url}/console/sign-in/callback`);
  expect(url.searchParams.get('code_challenge_method')).toBe('S256');
  expectError(await server.request('GET', '/v1/sso/sign-in', { token: null }), 403, 'Only the console');
});
