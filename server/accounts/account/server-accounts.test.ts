import type { AccountSummary } from '@switchyard/contract/account/account.ts';
import type { Admission, Member } from '@switchyard/contract/account/members.ts';
import { createClient } from '@switchyard/contract/client.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeApp, packFiles, pushArchive } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, MANIFEST } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

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

describe('renaming', () => {
  test('200 with the account and the caller’s key', async () => {
    const { account, token } = await createAccount();
    const response = await server.request('PUT', '/v1/account', {
      token,
      body: { name: 'New name', id: account.id },
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
