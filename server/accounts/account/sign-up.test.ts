/** Sign-up: its requests and the policy of the server. */
import { request as httpRequest } from 'node:http';
import type { AccountSummary } from '@switchyard/contract/account/account.ts';
import type { Admission } from '@switchyard/contract/account/members.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';

const clock = createManualClock(Date.now());
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());

const ACCOUNTS = '/v1/accounts';
const BODY = { name: 'Any name', email: 'ada@example.com' };
const signUp = (on: TestServer, headers: Record<string, string> = {}, token: string | null = null) =>
  on.request('POST', ACCOUNTS, { token, body: BODY, headers });
const countAccounts = async (on: TestServer): Promise<number> =>
  ((await on.request('GET', ACCOUNTS)).body as AccountSummary[]).length;
const createAccount = async (): Promise<Admission> => {
  const response = await signUp(server);
  expectStatus(response, 201);
  return response.body as Admission;
};

/** Signs up with any Host header, which fetch does not allow; returns the status. */
function sendTo(on: TestServer, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json' };
    const sent = httpRequest(`${on.url}${ACCOUNTS}`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end(JSON.stringify(BODY));
  });
}

describe('signing up', () => {
  test('201 creates an account with an admin, whose token is visible once and works at once', async () => {
    const response = await signUp(server);
    expectStatus(response, 201);
    const { account, member, key, token } = response.body as Admission;
    expect(account.name).toBe('Any name');
    expect(member).toMatchObject({ email: 'ada@example.com', role: 'admin', pending_invite: false });
    expect(key).toMatchObject({ role: 'admin', user_email: 'ada@example.com' });
    const ownAccount = await server.request('GET', '/v1/account', { token });
    expect(ownAccount.body).toMatchObject({ ...account, key: { id: key.id } });
    expect((await server.request('GET', '/v1/account/members', { token })).body).toEqual([member]);
    expect((await server.request('GET', '/v1/applications', { token })).body).toEqual([]);
  });

  test('never creates a root key, whatever the body contains', async () => {
    const response = await server.request('POST', ACCOUNTS, { token: null, body: { ...BODY, role: 'root' } });
    expectError(response, 400, 'role is not a field');
    const { token } = await createAccount();
    expectError(await server.request('GET', ACCOUNTS, { token }), 403, 'admin');
    const body = { name: 'Any name', role: 'root' };
    expectError(await server.request('POST', '/v1/account/keys', { token, body }), 403, 'root');
  });

  test.each([
    ['no name', { email: 'a@b' }, 'name is missing'],
    ['a short name', { name: 'ab', email: 'a@b' }, 'name is "ab"'],
    ['no e-mail address', { name: 'Any name' }, 'email is missing'],
    ['an address that is none', { name: 'Any name', email: 'ada' }, 'email is "ada"'],
  ])('400 for %s', async (_, body, words) => {
    expectError(await server.request('POST', ACCOUNTS, { token: null, body }), 400, words);
  });

  test.each([
    ['text/plain', JSON.stringify(BODY)],
    ['text/plain;charset=UTF-8', JSON.stringify(BODY)],
    ['application/x-www-form-urlencoded', 'name=Any+name&email=ada%40example.com'],
    ['application/x-www-form-urlencoded', JSON.stringify(BODY)],
    [
      'multipart/form-data; boundary=x',
      `--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nAny name\r\n--x--`,
    ],
  ])('400 for a body of the type %s, which a form of any site can send', async (type, body) => {
    const before = await countAccounts(server);
    const response = await server.request('POST', ACCOUNTS, {
      token: null,
      body,
      headers: { 'content-type': type },
    });
    expectError(response, 400, 'application/json');
    const accept = { method: 'POST', body, headers: { 'content-type': type } };
    expect((await fetch(`${server.url}/v1/account/invites/accept`, accept)).status).toBe(400);
    expect(await countAccounts(server)).toBe(before);
  });

  test('no page of another origin can send JSON or read the response', async () => {
    const headers = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const preflight = await server.request('OPTIONS', ACCOUNTS, { token: null, headers });
    expectError(preflight, 404);
    const signedUp = await signUp(server, { origin: 'https://evil.example' });
    for (const response of [preflight, signedUp])
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('401 for an invalid token, which is not treated as an absent one', async () => {
    expectError(await signUp(server, {}, 'rubbish'), 401);
  });
});

describe('sign-up policy', () => {
  const start = (env: Record<string, string>) => startTestServer({ env });
  const getPolicy = async (on: TestServer, headers: Record<string, string> = {}) =>
    (await on.request('GET', '/v1/sign-up', { token: null, headers })).body;
  const refused = (words: string) => ({ allowed: false, reason: expect.stringContaining(words) });

  test('by default allows callers on the machine while the server listens on loopback', async () => {
    expect(await getPolicy(server)).toEqual({ allowed: true, reason: '' });
    await using open = await start({ SWITCHYARD_HOST: '0.0.0.0' });
    expect(await getPolicy(open)).toEqual(refused('root key'));
    expectError(await signUp(open), 403, 'root key', 'SWITCHYARD_SIGN_UP=open');
    expect(await countAccounts(open)).toBe(1);
  });

  test('by default refuses all callers of a server with a public address', async () => {
    await using named = await start({ SWITCHYARD_PUBLIC_URL: 'https://run.example.com' });
    expectError(await signUp(named), 403, 'root key');
  });

  test('by default refuses proxied requests and DNS names that another site points here', async () => {
    const before = await countAccounts(server);
    const proxied = { 'x-forwarded-for': '203.0.113.7' };
    expectError(await signUp(server, proxied), 403);
    expect(await getPolicy(server, proxied)).toEqual(refused('root key'));
    for (const host of ['evil.example', 'evil.example:8080', '127.0.0.1.evil.example', '10.0.0.1', '[::2]'])
      expect(await sendTo(server, host), host).toBe(403);
    expect(await countAccounts(server)).toBe(before);
    for (const host of ['localhost', 'LOCALHOST:1', 'app.localhost', '127.9.9.9:80', '[::1]:80'])
      expect(await sendTo(server, host), host).toBe(201);
  });

  test('open allows all callers', async () => {
    await using open = await start({ SWITCHYARD_HOST: '0.0.0.0', SWITCHYARD_SIGN_UP: 'open' });
    expect(await getPolicy(open)).toEqual({ allowed: true, reason: '' });
    expectStatus(await signUp(open, { 'x-forwarded-for': '203.0.113.7' }), 201);
    expect(await sendTo(open, 'run.example.com')).toBe(201);
  });

  test('closed allows only root', async () => {
    await using closed = await start({ SWITCHYARD_SIGN_UP: 'closed' });
    expect(await getPolicy(closed)).toEqual(refused('closed'));
    expectError(await signUp(closed), 403, 'closed', 'root key');
    const admin = await closed.createKey('admin');
    expectError(await signUp(closed, {}, admin.token), 403, 'root key');
    const response = await signUp(closed, {}, closed.token);
    expectStatus(response, 201);
    expect(response.body).toMatchObject({ key: { role: 'admin' } });
    const headers = { 'idempotency-key': uniqueId('once') };
    const [first, again] = [
      await signUp(closed, headers, closed.token),
      await signUp(closed, headers, closed.token),
    ];
    expect(again.body).toEqual(first.body);
    expect(await countAccounts(closed)).toBe(3);
  });

  test('limits the rate of an address with 429, but not the rate of root', async () => {
    await using limited = await startTestServer({ clock, env: { SWITCHYARD_RATE_LIMIT: '6000/1000' } });
    const responses: TestResponse[] = [];
    for (let round = 0; round < 11; round += 1) responses.push(await signUp(limited));
    expect(responses.map((one) => one.status)).toEqual([...Array.from({ length: 10 }, () => 201), 429]);
    expectError(responses.at(-1) as TestResponse, 429, '6 requests a minute');
    expect(responses.at(-1)?.headers.get('retry-after')).toBe('10');
    expect(responses[0]?.headers.get('ratelimit')).toBe('"address";r=9;t=0');
    // A3: each anonymous operation has its own bucket.
    const accept = { token: null, body: { invite: 'any' } };
    expectError(await limited.request('POST', '/v1/account/invites/accept', accept), 403);
    expectStatus(await limited.request('GET', '/v1/sign-up', { token: null }), 200);
    expectStatus(await signUp(limited, {}, limited.token), 201);
    clock.advance(10_000);
    expectStatus(await signUp(limited), 201);
    expect(await countAccounts(limited)).toBe(13);
  });
});
