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
const count = async (on: TestServer): Promise<number> =>
  ((await on.request('GET', ACCOUNTS)).body as AccountSummary[]).length;
const made = async (): Promise<Admission> => {
  const answer = await signUp(server);
  expectStatus(answer, 201);
  return answer.body as Admission;
};

/** The server as somebody else calls it. */
const calledBy = (token: string): TestServer => ({
  ...server,
  client: createClient({ url: server.url, token }),
  request: (method, path, ask = {}) => server.request(method, path, { token, ...ask }),
});

/** Sends what fetch would not: any Host header. */
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
  test('201 makes an account with an admin, whose token is shown this once and works at once', async () => {
    const answer = await signUp(server);
    expectStatus(answer, 201);
    const { account, member, key, token } = answer.body as Admission;
    expect(account.name).toBe('Any name');
    expect(member).toMatchObject({ email: 'ada@example.com', role: 'admin', pending_invite: false });
    expect(key).toMatchObject({ role: 'admin', user_email: 'ada@example.com' });
    const who = await server.request('GET', '/v1/account', { token });
    expect(who.body).toMatchObject({ ...account, key: { id: key.id } });
    expect((await server.request('GET', '/v1/account/members', { token })).body).toEqual([member]);
    expect((await server.request('GET', '/v1/applications', { token })).body).toEqual([]);
  });

  test('never makes an operator of the server, whatever is sent', async () => {
    const answer = await server.request('POST', ACCOUNTS, { token: null, body: { ...BODY, role: 'root' } });
    expectError(answer, 400, 'role is not a field');
    const { token } = await made();
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
    const before = await count(server);
    const answer = await server.request('POST', ACCOUNTS, {
      token: null,
      body,
      headers: { 'content-type': type },
    });
    expectError(answer, 400, 'application/json');
    const accept = { method: 'POST', body, headers: { 'content-type': type } };
    expect((await fetch(`${server.url}/v1/account/invites/accept`, accept)).status).toBe(400);
    expect(await count(server)).toBe(before);
  });

  test('lets no page of another origin send JSON or read the answer', async () => {
    const headers = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const asked = await server.request('OPTIONS', ACCOUNTS, { token: null, headers });
    expectError(asked, 404);
    const answered = await signUp(server, { origin: 'https://evil.example' });
    for (const answer of [asked, answered])
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('401 for a token that is none, which is not taken for no token', async () => {
    expectError(await signUp(server, {}, 'rubbish'), 401);
  });
});

describe('who may sign up', () => {
  const start = (env: Record<string, string>) => startTestServer({ env });
  const asked = async (on: TestServer, headers: Record<string, string> = {}) =>
    (await on.request('GET', '/v1/sign-up', { token: null, headers })).body;
  const refused = (words: string) => ({ allowed: false, reason: expect.stringContaining(words) });

  test('by default whoever is on the machine, while the server listens to it alone', async () => {
    expect(await asked(server)).toEqual({ allowed: true, reason: '' });
    await using open = await start({ SWITCHYARD_HOST: '0.0.0.0' });
    expect(await asked(open)).toEqual(refused('root key'));
    expectError(await signUp(open), 403, 'root key', 'SWITCHYARD_SIGN_UP=open');
    expect(await count(open)).toBe(1);
  });

  test('by default nobody where the server is known by a public address', async () => {
    await using named = await start({ SWITCHYARD_PUBLIC_URL: 'https://run.example.com' });
    expectError(await signUp(named), 403, 'root key');
  });

  test('by default not through a proxy, nor under a name that another site had point here', async () => {
    const before = await count(server);
    const proxied = { 'x-forwarded-for': '203.0.113.7' };
    expectError(await signUp(server, proxied), 403);
    expect(await asked(server, proxied)).toEqual(refused('root key'));
    for (const host of ['evil.example', 'evil.example:8080', '127.0.0.1.evil.example', '10.0.0.1', '[::2]'])
      expect(await sendTo(server, host), host).toBe(403);
    expect(await count(server)).toBe(before);
    for (const host of ['localhost', 'LOCALHOST:1', 'app.localhost', '127.9.9.9:80', '[::1]:80'])
      expect(await sendTo(server, host), host).toBe(201);
  });

  test('anyone when it is open', async () => {
    await using open = await start({ SWITCHYARD_HOST: '0.0.0.0', SWITCHYARD_SIGN_UP: 'open' });
    expect(await asked(open)).toEqual({ allowed: true, reason: '' });
    expectStatus(await signUp(open, { 'x-forwarded-for': '203.0.113.7' }), 201);
    expect(await sendTo(open, 'run.example.com')).toBe(201);
  });

  test('nobody when it is closed, but root', async () => {
    await using closed = await start({ SWITCHYARD_SIGN_UP: 'closed' });
    expect(await asked(closed)).toEqual(refused('closed'));
    expectError(await signUp(closed), 403, 'closed', 'root key');
    const admin = await closed.createKey('admin');
    expectError(await signUp(closed, {}, admin.token), 403, 'root key');
    const answer = await signUp(closed, {}, closed.token);
    expectStatus(answer, 201);
    expect(answer.body).toMatchObject({ key: { role: 'admin' } });
    const headers = { 'idempotency-key': uniqueId('once') };
    const [first, again] = [
      await signUp(closed, headers, closed.token),
      await signUp(closed, headers, closed.token),
    ];
    expect(again.body).toEqual(first.body);
    expect(await count(closed)).toBe(3);
  });

  test('an address beyond its rate gets 429, and root does not', async () => {
    await using limited = await startTestServer({ clock, env: { SWITCHYARD_RATE_LIMIT: '6000/1000' } });
    const answers: TestResponse[] = [];
    for (let round = 0; round < 11; round += 1) answers.push(await signUp(limited));
    expect(answers.map((one) => one.status)).toEqual([...Array.from({ length: 10 }, () => 201), 429]);
    expectError(answers.at(-1) as TestResponse, 429, '6 requests a minute');
    expect(answers.at(-1)?.headers.get('retry-after')).toBe('10');
    expect(answers[0]?.headers.get('ratelimit')).toBe('"address";r=9;t=0');
    const accept = { token: null, body: { invite: 'any' } };
    expectError(await limited.request('POST', '/v1/account/invites/accept', accept), 429);
    expectStatus(await limited.request('GET', '/v1/sign-up', { token: null }), 200);
    expectStatus(await signUp(limited, {}, limited.token), 201);
    clock.advance(10_000);
    expectStatus(await signUp(limited), 201);
    expect(await count(limited)).toBe(13);
  });
});

describe('renaming', () => {
  test('200 with the account and the caller’s key', async () => {
    const { account, token } = await made();
    const answer = await server.request('PUT', '/v1/account', { token, body: { name: 'New name', id: 'x' } });
    expectStatus(answer, 200);
    expect(answer.body).toMatchObject({ id: account.id, name: 'New name', key: { role: 'admin' } });
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
    const [first, second] = [await made(), await made()];
    const page = (await server.request('GET', `${ACCOUNTS}?pagereturn=true&limit=2`)).body as {
      items: AccountSummary[];
      next_page_token: string;
    };
    expect(page.items).toEqual([second.account, first.account]);
    const next = await server.request('GET', `${ACCOUNTS}?pagetoken=${page.next_page_token}&limit=1`);
    expect((next.body as AccountSummary[])[0]?.id).not.toBe(first.account.id);
    expectStatus(next, 200);
  });

  test('one of them is deleted: keys stop at once, everything in it goes, and the others stay', async () => {
    const { account, token } = await made();
    const neighbour = await made();
    const body = { id: 'routing', name: 'Any name' };
    expectStatus(await server.request('POST', '/v1/applications', { token, body }), 201);
    expectStatus(await server.request('POST', '/v1/applications', { token: neighbour.token, body }), 201);
    const archive = await packFiles({ 'app.yaml': MANIFEST, ...nodeApp('(input) => input') });
    expectStatus(await pushArchive(calledBy(token), 'routing', archive), 200);
    const run = await server.request('POST', '/v1/applications/routing/runs', { token, body: { input: {} } });
    expectStatus(run, 202);

    expectStatus(await server.request('DELETE', `${ACCOUNTS}/${account.id}`), 204);
    expectError(await server.request('GET', '/v1/account', { token }), 401);
    expectError(await server.request('DELETE', `${ACCOUNTS}/${account.id}`), 404);
    const listed = (await server.request('GET', ACCOUNTS)).body as AccountSummary[];
    expect(listed.map((one) => one.id)).not.toContain(account.id);
    expect(listed.map((one) => one.id)).toContain(neighbour.account.id);
    const kept = await server.request('GET', '/v1/applications/routing', { token: neighbour.token });
    expectStatus(kept, 200);

    const { read } = server.runningServer.database;
    const left = async () => ({
      applications: await read
        .selectFrom('applications')
        .select('uid')
        .where('account_id', '=', account.id)
        .execute(),
      runs: await read.selectFrom('runs').select('id').where('account_id', '=', account.id).execute(),
      keys: await read.selectFrom('keys').select('id').where('account_id', '=', account.id).execute(),
      members: await read.selectFrom('members').select('id').where('account_id', '=', account.id).execute(),
    });
    await expect.poll(left).toEqual({ applications: [], runs: [], keys: [], members: [] });
    const row = () =>
      read.selectFrom('accounts').select('id').where('id', '=', account.id).executeTakeFirst();
    expect(await row()).toBeDefined();
    clock.advance(60 * 60 * 1000);
    const last = await made();
    expectStatus(await server.request('DELETE', `${ACCOUNTS}/${last.account.id}`), 204);
    await expect.poll(row).toBeUndefined();
  });

  test('the own one and one that is not there are not deleted', async () => {
    const { id } = (await server.request('GET', '/v1/account')).body as { id: string };
    expectError(await server.request('DELETE', `${ACCOUNTS}/${id}`), 400, 'account_id is ');
    expectError(await server.request('DELETE', `${ACCOUNTS}/missing`), 404);
    const { account, token } = await made();
    expectError(await server.request('DELETE', `${ACCOUNTS}/${account.id}`, { token }), 403, 'admin');
    expectStatus(await server.request('GET', '/v1/account', { token }), 200);
  });

  test('an open invite of one that was deleted lets nobody in', async () => {
    const { account, token } = await made();
    const body = { email: 'bob@example.com', role: 'admin' };
    const invited = await server.request('POST', '/v1/account/members', { token, body });
    const { invite } = invited.body as Member & { invite: string };
    expectStatus(await server.request('DELETE', `${ACCOUNTS}/${account.id}`), 204);
    const answer = await server.request('POST', '/v1/account/invites/accept', {
      token: null,
      body: { invite },
    });
    expectError(answer, 403);
  });

  test('keys and members made while it is deleted do not outlive it', async () => {
    const { account, token } = await made();
    const key = { name: 'Any name', role: 'viewer' };
    const answers = await Promise.all([
      server.request('POST', '/v1/account/keys', { token, body: key }),
      server.request('POST', '/v1/account/members', { token, body: { email: 'c@d', role: 'admin' } }),
      server.request('DELETE', `${ACCOUNTS}/${account.id}`),
      server.request('POST', '/v1/account/keys', { token, body: key }),
    ]);
    expect(answers[2]?.status).toBe(204);
    for (const answer of answers) expect([201, 204, 401]).toContain(answer.status);
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
