/** The audit log over HTTP: the content of entries, the right to read them, and the absence of secrets. */
import { createHash } from 'node:crypto';
import type { AuditEntry } from '@switchyard/contract/account/audit.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun } from '../../testing/fixtures/apps.ts';
import {
  createApplication,
  createVersion,
  expectError,
  expectStatus,
  uploadContent,
} from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { type RequestOptions, startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
let clock: ManualClock;
let server: TestServer;
beforeAll(async () => {
  clock = createManualClock(NOON);
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' } });
});
afterAll(() => server.close());

async function entries(query = '', options: RequestOptions = {}): Promise<AuditEntry[]> {
  const response = await server.request('GET', `/v1/account/audit${query}`, options);
  expectStatus(response, 200);
  return (response.body as { items: AuditEntry[] }).items;
}
/** Entries compare by id, because their number and hashes change when they are chained. */
const listIds = (items: AuditEntry[]): string[] => items.map((one) => one.id);
const newest = async (): Promise<AuditEntry> => (await entries('?limit=1'))[0] as AuditEntry;

describe('an audit entry', () => {
  test('of the first key has no key, role, request or address', async () => {
    const { body } = await server.client.call('getAccount');
    const first = (await entries()).at(-1);
    expect(first).toMatchObject({
      account_id: body.id,
      key_id: null,
      role: null,
      operation: 'firstStart',
      outcome: 'done',
      resource: { account_id: body.id, key_id: body.key.id, member_id: expect.any(String) },
      request_id: null,
      address: null,
    });
  });

  test('has the caller, operation, resource, time and address', async () => {
    const application = await createVersion(server);
    const { id, token } = await server.createKey('operator');
    clock.advance(1000);
    const response = await server.request('POST', `/v1/applications/${application}/runs`, {
      token,
      body: { input: { a: 1 } },
    });
    expect(await newest()).toMatchObject({
      created_at: new Date(NOON + 1000).toISOString(),
      account_id: (await server.client.call('getAccount')).body.id,
      key_id: id,
      key_name: 'test operator',
      role: 'operator',
      user_email: 'root@localhost',
      operation: 'createRun',
      outcome: 'done',
      resource: { application_id: application, run_id: (response.body as { run_id: string }).run_id },
      request_id: expect.stringMatching(/^request-.+-\d+$/),
      address: '127.0.0.1',
    });
  });

  test.each([
    ['createKey', 'POST', '/v1/account/keys', { name: 'planner', role: 'viewer' }, 'key_id'],
    [
      'inviteMember',
      'POST',
      '/v1/account/members',
      { email: 'ada@example.com', role: 'viewer' },
      'member_id',
    ],
    ['createAccount', 'POST', '/v1/accounts', { name: 'Third one', email: 'eve@example.com' }, 'account_id'],
    ['createApplication', 'POST', '/v1/applications', { id: 'named', name: 'Named' }, 'application_id'],
    [
      'createSecretsCollection',
      'POST',
      '/v1/applications/named/secrets',
      { id: 'keys', name: 'Any name', secrets: [{ type: 'env', location: 'KEY', value: 'treasure' }] },
      'collection_id',
    ],
    ['getSecretsCollection', 'GET', '/v1/applications/named/secrets/keys', undefined, 'collection_id'],
    ['createRunUpload', 'POST', '/v1/applications/named/runs/uploadurl', undefined, 'upload_id'],
    [
      'createWebhook',
      'POST',
      '/v1/webhooks',
      {
        id: 'status-hook',
        event_types: ['run.status'],
        endpoint_url: 'https://example.com/h',
        description: 'Test webhook',
      },
      'webhook_id',
    ],
    ['getWebhookSecret', 'GET', '/v1/webhooks/status-hook/secret', undefined, 'webhook_id'],
    ['rotateWebhookSecret', 'POST', '/v1/webhooks/status-hook/secret', undefined, 'webhook_id'],
    ['triggerEvent', 'POST', '/v1/events/trigger', { event_type: 'run.status' }, 'event_id'],
    ['deleteWebhook', 'DELETE', '/v1/webhooks/status-hook', undefined, 'webhook_id'],
    ['deleteApplication', 'DELETE', '/v1/applications/named', undefined, 'application_id'],
  ])('of %s has the id of its resource', async (...[operation, method, path, body, name]) => {
    clock.advance(1);
    const response = await server.request(method, path, body === undefined ? {} : { body });
    expect(response.status, response.text).toBeLessThan(300);
    const created = response.body as Record<string, unknown> | undefined;
    const entry = await newest();
    expect(entry).toMatchObject({ operation, outcome: 'done' });
    const id = created?.id ?? created?.[name] ?? (created?.account as { id?: string } | undefined)?.id;
    expect(entry.resource[name]).toBe(id ?? path.split('/').at(-1));
  });

  test('of an upload by a signed URL belongs to the account of the application and has no key', async () => {
    const application = await createApplication(server);
    clock.advance(1);
    const upload_id = await uploadContent(server, application, '{}');
    clock.advance(1);
    const [entry] = await entries('?operation=putUpload&limit=1');
    expect(entry).toMatchObject({ key_id: null, resource: { application_id: application, upload_id } });
  });

  test('exists for successful requests only, and once for a repeated POST', async () => {
    const count = async () => (await entries('?operation=createApplication')).length;
    const before = await count();
    const body = { id: 'again', name: 'Made once' };
    const key = { 'idempotency-key': 'audit-1' };
    expectStatus(await server.request('POST', '/v1/applications', { body, headers: key }), 201);
    expectStatus(await server.request('POST', '/v1/applications', { body, headers: key }), 201);
    expect(await count()).toBe(before + 1);
    expectError(await server.request('POST', '/v1/applications', { body }), 400, 'again');
    expectStatus(await server.request('POST', '/v1/applications', { body: { id: 'x' } }), 400);
    expectStatus(await server.request('POST', '/v1/applications', { body, token: 'rubbish' }), 401);
    expect(await count()).toBe(before + 1);
  });

  test('of a request without the right is written once a minute for each key and operation', async () => {
    const { id, token } = await server.createKey('viewer');
    const refusals = async () =>
      (await entries(`?key_id=${id}`)).map((one) => [one.operation, one.outcome, one.resource]);
    const remove = () => server.request('DELETE', '/v1/applications/again', { token });
    for (let times = 0; times < 3; times += 1) expectStatus(await remove(), 403);
    const refused = ['deleteApplication', 'refused', { application_id: 'again' }];
    expect(await refusals()).toEqual([refused]);
    // The handler refuses this request, because its body asks for more rights than the caller has.
    const body = { name: 'all of it', role: 'admin' };
    expectStatus(await server.request('POST', '/v1/account/keys', { token, body }), 403);
    clock.advance(60_000);
    expectStatus(await remove(), 403);
    const forKey = ['createKey', 'refused', {}];
    expect(await refusals()).toEqual([refused, forKey, refused]);
  });

  test('contains no secret, token, input or option', async () => {
    const application = await createVersion(server);
    const secrets = [{ type: 'env' as const, location: 'KEY', value: 'treasure' }];
    const path = `/v1/applications/${application}`;
    await server.request('POST', `${path}/secrets`, { body: { id: 's', name: 'Any name', secrets } });
    await server.request('PUT', `${path}/secrets/s`, { body: { secrets } });
    await createRun(server, application, { input: 'buried', body: { options: { depth: 'fathoms' } } });
    const { token } = await server.createKey('viewer');
    const rows = JSON.stringify(
      await server.runningServer.database.read.selectFrom('audit_entries').selectAll().execute(),
    );
    expect(rows).toContain(`"operation":"updateSecretsCollection"`);
    for (const hidden of ['treasure', 'buried', 'fathoms', token.slice(-20), server.token.slice(-20)])
      expect(rows).not.toContain(hidden);
  });
});

describe('the list of audit entries', () => {
  test('applies each filter and pages through all entries', async () => {
    const { id, token } = await server.createKey('developer');
    const from = new Date(clock.now() + 1).toISOString();
    for (const name of ['One', 'Two', 'Three']) {
      clock.advance(1);
      const application = `list-${name.toLowerCase()}`;
      const body = { id: application, name };
      await server.request('POST', '/v1/applications', { token, body });
      await server.request('PUT', `/v1/applications/${application}`, { token, body: { name: 'Renamed' } });
    }
    const formatActions = (items: AuditEntry[]) =>
      items.map((one) => `${one.operation} ${one.resource.application_id}`);
    const all = await entries(`?key_id=${id}`);
    expect(formatActions(all).sort()).toEqual([
      'createApplication list-one',
      'createApplication list-three',
      'createApplication list-two',
      'updateApplication list-one',
      'updateApplication list-three',
      'updateApplication list-two',
    ]);
    expect(formatActions(await entries(`?key_id=${id}&operation=updateApplication`))).toEqual([
      'updateApplication list-three',
      'updateApplication list-two',
      'updateApplication list-one',
    ]);
    expect(formatActions(await entries('?resource=list-two')).sort()).toEqual([
      'createApplication list-two',
      'updateApplication list-two',
    ]);
    expect(listIds(await entries(`?start=${from}`))).toEqual(listIds(all));
    expect(await entries(`?key_id=${id}&end=${from}`)).toEqual([]);
    const walked: AuditEntry[] = [];
    let path = `/v1/account/audit?key_id=${id}&limit=4`;
    for (let next: string | undefined = ''; next !== undefined; ) {
      const { body } = await server.request('GET', path + (next && `&pagetoken=${next}`));
      const page = body as { items: AuditEntry[]; next_page_token?: string };
      walked.push(...page.items);
      next = page.next_page_token;
      path = `/v1/account/audit?key_id=${id}&limit=4`;
    }
    expect(listIds(walked)).toEqual(listIds(all));
    const token2 = (await server.request('GET', path)).body as { next_page_token: string };
    expectError(
      await server.request('GET', `/v1/account/audit?pagetoken=${token2.next_page_token}`),
      400,
      'pagetoken',
    );
  });

  test('has the entries of the own account; root lists every account, also deleted ones', async () => {
    const other = await createOtherAccount(server, 'admin');
    const body = { id: 'theirs', name: 'Theirs' };
    expectStatus(await server.request('POST', '/v1/applications', { token: other.token, body }), 201);
    expect((await entries('', { token: other.token })).map((one) => one.operation)).toEqual([
      'createApplication',
    ]);
    expect(await entries('?resource=theirs')).toEqual([]);
    for (const account of ['all', 'account-1'])
      expectError(
        await server.request('GET', `/v1/account/audit?account_id=${account}`, { token: other.token }),
        403,
        account,
      );
    const { token } = await server.createKey('developer');
    expectStatus(await server.request('GET', '/v1/account/audit', { token }), 403);
    expectStatus(await server.request('DELETE', `/v1/accounts/${other.id}`), 204);
    expect(await entries(`?account_id=${other.id}`)).toHaveLength(1);
    expect((await entries('?account_id=all&resource=theirs')).map((one) => one.account_id)).toEqual([
      other.id,
    ]);
  });
});

test('each entry is chained within seconds, with a hash that a caller can compute', async () => {
  await server.createKey('viewer');
  await expect.poll(async () => (await newest()).number).not.toBeNull();
  const { items } = (await server.request('GET', '/v1/account/audit?account_id=all')).body as {
    items: AuditEntry[];
  };
  const [last, before] = items.sort((a, b) => (b.number ?? 0) - (a.number ?? 0));
  const { hash, ...content } = last as AuditEntry;
  const fields = [...Object.keys(content), ...Object.keys(content.resource)].sort();
  expect(createHash('sha256').update(JSON.stringify(content, fields)).digest('hex')).toBe(hash);
  expect(content.previous_hash).toBe(before?.hash);
  const { body } = await server.client.call('getAuditHead');
  expect(body).toEqual({ number: content.number, hash });
});
