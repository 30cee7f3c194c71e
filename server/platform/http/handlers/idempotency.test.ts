import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import type { TObject } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeApp, pushApp } from '../../../testing/fixtures/apps.ts';
import { createManualClock } from '../../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';

const HOUR_MS = 60 * 60 * 1000;
const clock = createManualClock(Date.UTC(2026, 10, 20));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' } });
  await pushApp(server, 'twice', nodeApp('() => ({})'));
});
afterAll(() => server.close());

const post = (path: string, key: string, body: unknown, token?: string) =>
  server.request('POST', path, { body, headers: { 'idempotency-key': key }, ...(token ? { token } : {}) });
const runs = '/v1/applications/twice/runs';
const countRuns = async () =>
  ((await server.request('GET', `${runs}?limit=50`)).body as { runs: unknown[] }).runs.length;

describe('a POST with an Idempotency-Key', () => {
  test('that is repeated has one effect and the same response', async () => {
    const before = await countRuns();
    const first = await post(runs, 'order-1', { input: { a: 1 } });
    const second = await post(runs, 'order-1', { input: { a: 1 } });
    expect(first.status).toBe(202);
    expect([second.status, second.text]).toEqual([202, first.text]);
    expect(await countRuns()).toBe(before + 1);
  });

  test('sent twenty times concurrently has one effect', async () => {
    const before = await countRuns();
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => post(runs, 'order-2', { input: { a: 2 } })),
    );
    expect(new Set(responses.map((one) => `${one.status} ${one.text}`)).size).toBe(1);
    expect(responses[0]?.status).toBe(202);
    expect(await countRuns()).toBe(before + 1);
  });

  test('with its own id, sent ten times concurrently, has one effect and no refusal', async () => {
    const body = { id: 'simultaneous', name: 'Created once' };
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => post('/v1/applications', 'order-8', body)),
    );
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses[0]?.status).toBe(201);
    const entries = (await server.request('GET', '/v1/account/audit?resource=simultaneous')).body;
    expect((entries as { items: unknown[] }).items).toHaveLength(1);
  });

  test('with another body or another path is refused and names the key', async () => {
    await post(runs, 'order-3', { input: { a: 3 } });
    for (const response of [
      await post(runs, 'order-3', { input: { a: 4 } }),
      await post(`${runs}?instance_id=latest`, 'order-3', { input: { a: 3 } }),
      await post('/v1/applications', 'order-3', { name: 'Another app' }),
    ]) {
      expect(response.status).toBe(400);
      expect((response.body as { error: string }).error).toContain('order-3');
    }
  });

  test.each([
    ['createApplication', '/v1/applications', { id: 'once', name: 'Made once' }, 201],
    ['createVersion', '/v1/applications/twice/versions', { id: 'v1', name: 'First version' }, 201],
    [
      'createInstance',
      '/v1/applications/twice/instances',
      { id: 'prod', name: 'Production', version_id: 'v1' },
      201,
    ],
    ['createRunUpload', '/v1/applications/twice/runs/uploadurl', undefined, 200],
    ['createKey', '/v1/account/keys', { name: 'planner', role: 'operator' }, 201],
  ])('%s responds the same twice', async (operation, path, body, status) => {
    const first = await post(path, `again-${operation}`, body);
    const second = await post(path, `again-${operation}`, body);
    expect(first.status).toBe(status);
    expect([second.status, second.text]).toEqual([status, first.text]);
  });

  test('createInput responds the same twice', async () => {
    const { run_id } = (await server.request('POST', runs, { body: { input: {} } })).body as {
      run_id: string;
    };
    const inputs = '/v1/applications/twice/inputs';
    const first = await post(inputs, 'again-createInput', { run_id });
    const second = await post(inputs, 'again-createInput', { run_id });
    expect(first.status).toBe(201);
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect((await server.request('GET', inputs)).body).toHaveLength(1);
  });

  test('never returns the token of another key of the account', async () => {
    const body = { name: 'all of it', role: 'admin' };
    expect((await post('/v1/account/keys', 'keys-1', body)).status).toBe(201);
    for (const role of ['developer', 'admin'] as const) {
      const { token } = await server.createKey(role);
      const response = await post('/v1/account/keys', 'keys-1', body, token);
      expect(response.status).toBe(400);
      expect((response.body as { error: string }).error).toContain('keys-1');
    }
  });

  test('is bound to its caller where the response grants access', () => {
    const posts = (Object.values(operations) as Operation[]).filter((one) => one.method === 'POST');
    const grantsAccess = ({ responses }: Operation): boolean =>
      Object.values(responses).some(({ schema }) =>
        ['token', 'invite'].some((name) => name in ((schema as TObject | undefined)?.properties ?? {})),
      );
    // A public operation has no caller to bind to, and ignores the Idempotency-Key.
    const bound = posts.filter((one) => grantsAccess(one) && (one.right !== 'public' || one.optionalToken));
    expect(bound.map((one) => one.id)).toContain('createKey');
    for (const one of bound) expect(one.returnsToken, one.id).toBe(true);
  });

  test('from another key of the account creates no second run', async () => {
    const { token } = await server.createKey('operator');
    const first = await post(runs, 'keys-2', { input: 'plan of today' });
    const second = await post(runs, 'keys-2', { input: 'plan of today' }, token);
    expect([second.status, second.text]).toEqual([202, first.text]);
  });

  test('that was refused may be repeated after its correction', async () => {
    const refused = await post('/v1/applications', 'order-5', { id: 'twice', name: 'Taken' });
    expect(refused.status).toBe(400);
    expect((await post('/v1/applications', 'order-5', { id: 'thrice', name: 'Free' })).status).toBe(201);
  });

  test('has a new effect after 24 hours', async () => {
    const first = await post(runs, 'order-6', { input: null });
    clock.advance(23 * HOUR_MS);
    expect((await post(runs, 'order-6', { input: null })).text).toBe(first.text);
    clock.advance(2 * HOUR_MS);
    const later = await post(runs, 'order-6', { input: null });
    expect(later.status).toBe(202);
    expect(later.text).not.toBe(first.text);
  });

  test.each(['', 'with space', 'x'.repeat(256), 'ümlaut'])('whose key is %j is refused', async (key) => {
    expect(
      (await post(runs, encodeURI(key) === key ? key : Buffer.from(key).toString('latin1'), {})).status,
    ).toBe(400);
  });

  test('stores no token in plain text', async () => {
    const created = await post('/v1/account/keys', 'order-7', { name: 'secret key', role: 'viewer' });
    const { token } = created.body as { token: string };
    const rows = await server.runningServer.database.read.selectFrom('answers').selectAll().execute();
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(Buffer.from(row.body ?? []).includes(token)).toBe(false);
  });
});
