import { request as httpRequest } from 'node:http';
import type { AccountSummary } from '@switchyard/contract/account/account.ts';
import type { Admission, Member } from '@switchyard/contract/account/members.ts';
import { createClient } from '@switchyard/contract/client.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeApp, packFiles, pushArchive } from '../testing/fixtures/apps.ts';
import { expectError, expectStatus, MANIFEST, uniqueId } from '../testing/fixtures/resources.ts';
import { createManualClock } from '../testing/host/manual-clock.ts';
import { startTestServer, type TestResponse, type TestServer } from '../testing/servers/test-server.ts';

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

/** Returns the server with a client that uses the token. */
const withToken = (token: string): TestServer => ({
  ...server,
  client: createClient({ url: server.url, token }),
  request: (method, path, options = {}) => server.request(method, path, { token, ...options }),
});

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
    const accept = { token: null, body: { invite: 'any' } };
    expectError(await limited.request('POST', '/v1/account/invites/accept', accept), 429);
    expectStatus(await limited.request('GET', '/v1/sign-up', { token: null }), 200);
    expectStatus(await signUp(limited, {}, limited.token), 201);
    clock.advance(10_000);
    expectStatus(await signUp(limited), 201);
    expect(await countAccounts(limited)).toBe(13);
  });
});

describe('renaming', () => {
  test('200 with the account and the caller’s key', async () => {
    const { account, token } = await createAccount();
    const response = await server.request('PUT', '/v1/account', {
      token,
      body: { name: 'New name', id: 'x' },
    });
    expectStatus(response, 200);
    expect(response.body).toMatchObject({ id: account.id, name: 'New name', key: { role: 'admin' } });
    expect((await server.request('GET', '/v1/account', { token })).body).toMatchObject({ name: 'New name' });
    expectError(
      await server.request('PUT', '/v1/account', { token, body: { name: 'ab' } }),
      400,
      'name is "ab"',
    );
    expect((await server.request('GET', '/v1/account')).body).toMatchObject({ name: 'Main account' });
  });
});

describe('the accounts of the server', () => {
  test('are listed for root, newest first, page by page', async () => {
    const [first, second] = [await createAccount(), await createAccount()];
    const page = (await server.request('GET', `${ACCOUNTS}?pagereturn=true&limit=2`)).body as {
      items: AccountSummary[];
      next_page_token: string;
    };
    expect(page.items).toEqual([second.account, first.account]);
    const next = await server.request('GET', `${ACCOUNTS}?pagetoken=${page.next_page_token}&limit=1`);
    expect((next.body as AccountSummary[])[0]?.id).not.toBe(first.account.id);
    expectStatus(next, 200);
  });

  test('a deleted account loses its keys at once and then all its data; others stay', async () => {
    const { account, token } = await createAccount();
    const neighbour = await createAccount();
    const body = { id: 'routing', name: 'Any name' };
    expectStatus(await server.request('POST', '/v1/applications', { token, body }), 201);
    expectStatus(await server.request('POST', '/v1/applications', { token: neighbour.token, body }), 201);
    const archive = await packFiles({ 'app.yaml': MANIFEST, ...nodeApp('(input) => input') });
    expectStatus(await pushArchive(withToken(token), 'routing', archive), 200);
    const run = await server.request('POST', '/v1/applications/routing/runs', { token, body: { input: {} } });
    expectStatus(run, 202);

    expectStatus(await server.request('DELETE', `${ACCOUNTS}/${account.id}`), 204);
    expectError(await server.request('GET', '/v1/account', { token }), 401);
    expectError(await server.request('DELETE', `${ACCOUNTS}/${account.id}`), 404);
    const listed = (await server.request('GET', ACCOUNTS)).body as AccountSummary[];
    expect(listed.map((one) => one.id)).not.toContain(account.id);
    expect(listed.map((one) => one.id)).toContain(neighbour.account.id);
    const application = await server.request('GET', '/v1/applications/routing', { token: neighbour.token });
    expectStatus(application, 200);

    const { read } = server.runningServer.database;
    const queryRemaining = async () => ({
      applications: await read
        .selectFrom('applications')
        .select('uid')
        .where('account_id', '=', account.id)
        .execute(),
      runs: await read.selectFrom('runs').select('id').where('account_id', '=', account.id).execute(),
      keys: await read.selectFrom('keys').select('id').where('account_id', '=', account.id).execute(),
      members: await read.selectFrom('members').select('id').where('account_id', '=', account.id).execute(),
    });
    await expect.poll(queryRemaining).toEqual({ applications: [], runs: [], keys: [], members: [] });
    const row = () =>
      read.selectFrom('accounts').select('id').where('id', '=', account.id).executeTakeFirst();
    expect(await row()).toBeDefined();
    clock.advance(60 * 60 * 1000);
    const last = await createAccount();
    expectStatus(await server.request('DELETE', `${ACCOUNTS}/${last.account.id}`), 204);
    await expect.poll(row).toBeUndefined();
  });

  test('400 for deleting the own account, 404 for an unknown one', async () => {
    const { id } = (await server.request('GET', '/v1/account')).body as { id: string };
    expectError(await server.request('DELETE', `${ACCOUNTS}/${id}`), 400, 'account_id is ');
    expectError(await server.request('DELETE', `${ACCOUNTS}/missing`), 404);
    const { account, token } = await createAccount();
    expectError(await server.request('DELETE', `${ACCOUNTS}/${account.id}`, { token }), 403, 'admin');
    expectStatus(await server.request('GET', '/v1/account', { token }), 200);
  });

  test('an open invite of a deleted account is refused', async () => {
    const { account, token } = await createAccount();
    const body = { email: 'bob@example.com', role: 'admin' };
    const invited = await server.request('POST', '/v1/account/members', { token, body });
    const { invite } = invited.body as Member & { invite: string };
    expectStatus(await server.request('DELETE', `${ACCOUNTS}/${account.id}`), 204);
    const response = await server.request('POST', '/v1/account/invites/accept', {
      token: null,
      body: { invite },
    });
    expectError(response, 403);
  });

  test('keys and members created while an account is deleted are deleted with it', async () => {
    const { account, token } = await createAccount();
    const key = { name: 'Any name', role: 'viewer' };
    const responses = await Promise.all([
      server.request('POST', '/v1/account/keys', { token, body: key }),
      server.request('POST', '/v1/account/members', { token, body: { email: 'c@d', role: 'admin' } }),
      server.request('DELETE', `${ACCOUNTS}/${account.id}`),
      server.request('POST', '/v1/account/keys', { token, body: key }),
    ]);
    expect(responses[2]?.status).toBe(204);
    for (const response of responses) expect([201, 204, 401]).toContain(response.status);
    const { read } = server.runningServer.database;
    const keys = await read.selectFrom('keys').select('id').where('account_id', '=', account.id).execute();
    const members = await read
      .selectFrom('members')
      .select('id')
      .where('account_id', '=', account.id)
      .execute();
    expect([...keys, ...members]).toEqual([]);
  });
});
