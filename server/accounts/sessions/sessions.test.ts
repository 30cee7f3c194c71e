/** Sessions of the console: sign-in by link and by token, their cookies, and their end. */
import type { Session } from '@switchyard/contract/account/sessions.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const clock = createManualClock(Date.parse('2026-11-23T08:00:00Z'));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());

/** The headers that a page of the console sends. */
const fromConsole = () => ({ 'x-switchyard-console': '1', origin: server.url });

async function createTicket(token = server.token): Promise<string> {
  const response = await server.request('POST', '/v1/account/sign-in-links', { token });
  expectStatus(response, 201);
  const { url } = response.body as { url: string };
  expect(url.startsWith(`${server.url}/console?ticket=`)).toBe(true);
  return new URL(url).searchParams.get('ticket') ?? '';
}

const signInWith = (ticket: string, headers: Record<string, string> = fromConsole()): Promise<TestResponse> =>
  server.request('POST', '/v1/account/sessions', { token: null, body: { ticket }, headers });

/** Returns the cookie header of the browser after a sign-in. */
const readCookie = (response: TestResponse): string =>
  (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

async function signIn(token = server.token): Promise<{ cookie: string; session: Session }> {
  const response = await signInWith(await createTicket(token));
  expectStatus(response, 201);
  return { cookie: readCookie(response), session: response.body as Session };
}

const requestAs = (
  cookie: string,
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<TestResponse> =>
  server.request(method, path, {
    token: null,
    ...(options.body === undefined ? {} : { body: options.body }),
    headers: { cookie, ...(options.headers ?? fromConsole()) },
  });

describe('signing in', () => {
  test('a link signs in with the key that created it', async () => {
    const { token, id } = await server.createKey('operator');
    const { cookie, session } = await signIn(token);
    expect(session).toMatchObject({ current: true, key: { id, role: 'operator' } });
    const { body } = await requestAs(cookie, 'GET', '/v1/account');
    expect(body).toMatchObject({ key: { id, role: 'operator' } });
  });

  test('a bearer token signs in', async () => {
    const response = await server.request('POST', '/v1/account/sessions', {
      body: {},
      headers: fromConsole(),
    });
    expectStatus(response, 201);
    expectStatus(await requestAs(readCookie(response), 'GET', '/v1/applications'), 200);
  });

  test('the cookie is hidden from scripts and stays on this site', async () => {
    const cookie = (await signInWith(await createTicket())).headers.get('set-cookie') ?? '';
    for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Path=/']) expect(cookie).toContain(attribute);
    expect(cookie).toContain(`_${new URL(server.url).port}=`);
  });

  test('a link works once', async () => {
    const ticket = await createTicket();
    expectStatus(await signInWith(ticket), 201);
    expectError(await signInWith(ticket), 401, 'already used');
  });

  test('two simultaneous sign-ins with one link give one session', async () => {
    const ticket = await createTicket();
    const responses = await Promise.all([signInWith(ticket), signInWith(ticket), signInWith(ticket)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
  });

  test('a link expires after 10 minutes', async () => {
    const ticket = await createTicket();
    clock.advance(10 * MINUTE_MS);
    expectError(await signInWith(ticket), 401, '10 minutes');
  });

  test('a link of a revoked key does not sign in', async () => {
    const { token, id } = await server.createKey('viewer');
    const ticket = await createTicket(token);
    await server.request('DELETE', `/v1/account/keys/${id}`);
    expectError(await signInWith(ticket), 401, 'sign-in link');
  });

  test.each([
    ['no credential', {}],
    ['an unknown ticket', { ticket: 'rubbish' }],
  ])('%s signs nobody in', async (_title, body) => {
    const response = await server.request('POST', '/v1/account/sessions', {
      token: null,
      body,
      headers: fromConsole(),
    });
    expect([400, 401]).toContain(response.status);
    expect(response.headers.get('set-cookie')).toBeNull();
  });

  test('two credentials are refused', async () => {
    const ticket = await createTicket();
    const response = await server.request('POST', '/v1/account/sessions', {
      body: { ticket },
      headers: fromConsole(),
    });
    expectError(response, 400, 'one credential');
  });

  test.each([
    ['another site', { 'x-switchyard-console': '1', origin: 'https://evil.example' }],
    ['a page without an origin', { 'x-switchyard-console': '1' }],
    ['an opaque origin', { 'x-switchyard-console': '1', origin: 'null' }],
    ['a form', {}],
  ])('%s cannot sign a person in', async (_title, headers) => {
    expectError(await signInWith(await createTicket(), headers), 403, 'Origin');
  });

  test('a sign-in never continues an older session', async () => {
    const first = await signIn();
    const response = await server.request('POST', '/v1/account/sessions', {
      token: null,
      body: { ticket: await createTicket() },
      headers: { ...fromConsole(), cookie: first.cookie },
    });
    expectStatus(response, 201);
    expect(readCookie(response)).not.toBe(first.cookie);
    expect((response.body as Session).id).not.toBe(first.session.id);
  });
});

describe('requests with a session', () => {
  const create = { name: 'Made in the console' };

  test('have the rights of the role', async () => {
    const { cookie } = await signIn((await server.createKey('viewer')).token);
    expectError(await requestAs(cookie, 'POST', '/v1/applications', { body: create }), 403, 'viewer');
  });

  test.each([
    ['the page of another site', 'https://evil.example'],
    ['another port of the host', 'http://127.0.0.1:1'],
    ['no page', undefined],
  ])('that change something are refused from %s', async (_title, origin) => {
    const { cookie } = await signIn();
    const headers = { 'x-switchyard-console': '1', ...(origin === undefined ? {} : { origin }) };
    const response = await requestAs(cookie, 'POST', '/v1/applications', { body: create, headers });
    expectError(response, 403, 'Origin');
  });

  test('need the header of the console, also to read', async () => {
    const { cookie } = await signIn();
    for (const method of ['GET', 'POST'])
      expectError(
        await requestAs(cookie, method, '/v1/applications', { headers: { origin: server.url } }),
        401,
        'Authorization',
      );
  });

  test('leave an audit entry with the key', async () => {
    const { cookie, session } = await signIn();
    expectStatus(await requestAs(cookie, 'PUT', '/v1/account', { body: { name: 'Renamed' } }), 200);
    const { body } = await server.request('GET', '/v1/account/audit');
    const entries = (body as { items: { operation: string; key_id: string }[] }).items;
    expect(entries[0]).toMatchObject({ operation: 'updateAccount', key_id: session.key.id });
    expect(entries.some(({ operation }) => operation === 'createSession')).toBe(true);
    expect(JSON.stringify(entries)).not.toContain(cookie.split('=')[1]);
  });
});

describe('the end of a session', () => {
  test('signing out ends it and removes the cookie', async () => {
    const { cookie } = await signIn();
    const response = await requestAs(cookie, 'DELETE', '/v1/account/sessions/current');
    expectStatus(response, 204);
    expect(response.headers.get('set-cookie')).toContain('Max-Age=0');
    expectError(await requestAs(cookie, 'GET', '/v1/account'), 401, 'session has ended');
  });

  test('revoking the key ends it', async () => {
    const { token, id } = await server.createKey('developer');
    const { cookie } = await signIn(token);
    await server.request('DELETE', `/v1/account/keys/${id}`);
    expectError(await requestAs(cookie, 'GET', '/v1/account'), 401, 'session has ended');
  });

  test('it ends after 7 days without a request', async () => {
    const { cookie, session } = await signIn();
    clock.advance(6 * DAY_MS);
    expectStatus(await requestAs(cookie, 'GET', '/v1/account'), 200);
    const readExpiry = async () => {
      const { body } = await server.request('GET', '/v1/account/sessions');
      return (body as Session[]).find(({ id }) => id === session.id)?.expires_at;
    };
    const expected = new Date(clock.now() + 7 * DAY_MS).toISOString();
    await expect.poll(readExpiry).toBe(expected);
    clock.advance(7 * DAY_MS);
    expectError(await requestAs(cookie, 'GET', '/v1/account'), 401, 'session has ended');
  });

  test('a member lists and ends own sessions alone, an admin all of the account', async () => {
    const viewer = await server.request('POST', '/v1/account/keys', {
      body: { name: 'viewer', role: 'viewer', user_email: 'bob@example.com' },
    });
    const { token } = viewer.body as { token: string };
    const own = await signIn(token);
    const other = await signIn();
    const list = async (cookie: string) =>
      ((await requestAs(cookie, 'GET', '/v1/account/sessions')).body as Session[]).map(({ id }) => id);
    expect(await list(own.cookie)).toEqual([own.session.id]);
    expect(await list(other.cookie)).toEqual(expect.arrayContaining([own.session.id, other.session.id]));
    const path = (session: Session) => `/v1/account/sessions/${session.id}`;
    expectError(await requestAs(own.cookie, 'DELETE', path(other.session)), 404, 'no session');
    expectStatus(await requestAs(other.cookie, 'DELETE', path(own.session)), 204);
    expectError(await requestAs(own.cookie, 'GET', '/v1/account'), 401, 'session has ended');
  });

  test('the session of another account is unknown', async () => {
    const { session } = await signIn();
    const created = await server.request('POST', '/v1/accounts', {
      body: { name: 'Other account', email: 'eve@example.com' },
    });
    const { token } = created.body as { token: string };
    const path = `/v1/account/sessions/${session.id}`;
    expectError(await server.request('DELETE', path, { token }), 404, 'no session');
  });

  test('A9: a key has at most 50 sessions; a new one ends its oldest, and none of another key', async () => {
    const { token } = (
      await server.request('POST', '/v1/account/keys', {
        body: { name: 'many', role: 'viewer', user_email: 'carol@example.com' },
      })
    ).body as { token: string };
    const other = await server.request('POST', '/v1/account/keys', {
      body: { name: 'own', role: 'admin', user_email: 'carol@example.com' },
    });
    const own = await signIn((other.body as { token: string }).token);
    const first = await signIn(token);
    for (let count = 0; count < 50; count += 1) {
      clock.advance(1);
      await signIn(token);
    }
    expectError(await requestAs(first.cookie, 'GET', '/v1/account'), 401, 'session has ended');
    const { body } = await server.request('GET', '/v1/account/sessions', { token });
    expect(body).toHaveLength(51);
    expectStatus(await requestAs(own.cookie, 'GET', '/v1/account'), 200);
  });
});
