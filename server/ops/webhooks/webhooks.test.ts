/** Create, read, update and delete webhooks. Their deliveries are in deliveries.test.ts. */
import { WEBHOOKS_MAX } from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { expectError, expectStatus, listAllPages, uniqueId } from '../../testing/fixtures/resources.ts';
import {
  computeSignature,
  computeStandardSignature,
  createWebhook,
  fetchSecret,
  listConversations,
  parseSignature,
  triggerEvent,
  waitForConversations,
} from '../../testing/fixtures/webhooks.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../testing/http/webhook-receiver.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const BODY = {
  event_types: ['run.status'],
  endpoint_url: 'https://example.com/hook',
  description: 'Tells the desk',
};

let server: TestServer;
let receiver: WebhookReceiver;
beforeAll(async () => {
  server = await startTestServer();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});

const request = (method: string, rest: string, body?: unknown) =>
  server.request(method, `/v1/webhooks${rest}`, { body });

describe('a webhook', () => {
  test('can be created, read, listed, updated by a PUT with 204, and deleted', async () => {
    const id = uniqueId('hook');
    const created = await request('POST', '', { id, ...BODY });
    expectStatus(created, 201);
    const times = { created_at: expect.stringMatching(INSTANT), updated_at: expect.stringMatching(INSTANT) };
    expect(created.body).toEqual({ id, ...BODY, ...times });
    expect((await request('GET', `/${id}`)).body).toEqual(created.body);
    expect((await request('GET', '')).body).toContainEqual(created.body);

    const changed = await request('PUT', `/${id}`, { ...(created.body as object), description: 'Other' });
    expectStatus(changed, 204);
    expect(changed.text).toBe('');
    expect((await request('GET', `/${id}`)).body).toMatchObject({ ...BODY, description: 'Other' });

    expectStatus(await request('DELETE', `/${id}`), 204);
    for (const rest of ['', '/secret', '/conversations', '/conversations/any'])
      expectError(await request('GET', `/${id}${rest}`), 404, `no webhook "${id}"`);
    expectError(await request('DELETE', `/${id}`), 404, `no webhook "${id}"`);
  });

  test.each([
    ['id', undefined, 'id'],
    ['id', 'Not an id', 'id is "Not an id"'],
    ['event_types', undefined, 'event_types'],
    ['event_types', [], 'event_types'],
    ['event_types', ['run.created'], 'event_types'],
    ['event_types', ['run.status', 'run.status'], 'each value once'],
    ['endpoint_url', undefined, 'endpoint_url'],
    ['endpoint_url', 'not a url', 'endpoint_url is "not a url"'],
    ['endpoint_url', 'ftp://example.com/', 'endpoint_url is "ftp://example.com/"'],
    ['endpoint_url', 'https://user:pass@example.com/', 'user and password'],
    ['endpoint_url', 'http://169.254.169.254/latest/meta-data', 'not a public address'],
    ['endpoint_url', `https://example.com/${'x'.repeat(2048)}`, 'endpoint_url'],
    ['description', undefined, 'description'],
    ['description', 'x'.repeat(129), 'description'],
    ['secret', 'whsec_mine', 'secret'],
  ])('with the %s %j is refused with 400', async (field, value, words) => {
    const body: Record<string, unknown> = { id: uniqueId('hook'), ...BODY, [field]: value };
    expectError(await request('POST', '', body), 400, words);
    if (typeof body.id === 'string')
      expectStatus(await request('GET', `/${encodeURIComponent(body.id)}`), 404);
  });

  test('has a unique id in the account and is invisible to other accounts', async () => {
    const { id } = await createWebhook(server, BODY.endpoint_url);
    expectError(await request('POST', '', { id, ...BODY }), 400, `id is "${id}"`);
    const { token } = await createOtherAccount(server);
    const other = (method: string, rest: string, body?: unknown) =>
      server.request(method, `/v1/webhooks${rest}`, { body, token });
    for (const rest of ['', '/secret', '/conversations'])
      expectStatus(await other('GET', `/${id}${rest}`), 404);
    expectStatus(await other('PUT', `/${id}`, BODY), 404);
    expectStatus(await other('DELETE', `/${id}`), 404);
    expectStatus(await other('POST', `/${id}/secret`, {}), 404);
    expect((await other('GET', '')).body).toEqual([]);
    expectStatus(await other('POST', '', { id, ...BODY }), 201);
    expectStatus(await request('DELETE', `/${id}`), 204);
    expectStatus(await other('GET', `/${id}`), 200);
  });

  test('is one of at most a hundred, also for concurrent requests', async () => {
    const { token } = await createOtherAccount(server);
    const responses = await Promise.all(
      Array.from({ length: WEBHOOKS_MAX + 10 }, (_, index) =>
        server.request('POST', '/v1/webhooks', { token, body: { id: `hook-${index}`, ...BODY } }),
      ),
    );
    expect(responses.filter((one) => one.status === 201)).toHaveLength(WEBHOOKS_MAX);
    for (const refused of responses.filter((one) => one.status !== 201))
      expectError(refused, 400, `${WEBHOOKS_MAX} webhooks`);
    const list = await server.request('GET', '/v1/webhooks', { token });
    expect(list.body).toHaveLength(WEBHOOKS_MAX);
  });

  test('is on one page of the list', async () => {
    const created = await Promise.all(
      Array.from({ length: 5 }, () => createWebhook(server, BODY.endpoint_url)),
    );
    const pages = await listAllPages(server, '/v1/webhooks', 2);
    for (const { id } of created) expect(pages.flat().filter((one) => one === id)).toHaveLength(1);
    for (const { id } of created) expectStatus(await request('DELETE', `/${id}`), 204);
  });

  test('is not updated by a PUT with an invalid field', async () => {
    const { id } = await createWebhook(server, BODY.endpoint_url);
    const wrong = { description: 'Other', endpoint_url: 'http://10.0.0.1/' };
    expectError(await request('PUT', `/${id}`, wrong), 400, 'endpoint_url is "http://10.0.0.1/"');
    expect((await request('GET', `/${id}`)).body).toMatchObject({ description: '' });
  });
});

describe('the secret of a webhook', () => {
  test('has 32 bytes, and only its own operation returns it, to permitted roles', async () => {
    const hook = await createWebhook(server, BODY.endpoint_url);
    const secret = await fetchSecret(server, hook.id);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await fetchSecret(server, hook.id)).toBe(secret);
    for (const role of ['operator', 'viewer'] as const) {
      const { token } = await server.createKey(role);
      expectStatus(await server.request('GET', `/v1/webhooks/${hook.id}`, { token }), 200);
      expectStatus(await server.request('GET', `/v1/webhooks/${hook.id}/secret`, { token }), 403);
    }
    const rows = await server.runningServer.database.read.selectFrom('webhooks').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(secret.slice('whsec_'.length));
    const bytes = rows.map((row) => Buffer.from(row.secret).toString('latin1')).join();
    expect(bytes).not.toContain(secret);
  });

  test('is rotated; the previous secret signs too during the overlap', async () => {
    const { id } = await createWebhook(server, receiver.url);
    const old = await fetchSecret(server, id);
    const rotated = await request('POST', `/${id}/secret`, { overlap_hours: 2 });
    expectStatus(rotated, 201);
    const { secret, previous_until } = rotated.body as { secret: string; previous_until: string };
    expect(secret).not.toBe(old);
    const hours = (Date.parse(previous_until) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(1.9);
    expect(hours).toBeLessThanOrEqual(2);
    expect((await request('GET', `/${id}/secret`)).body).toEqual({ id, secret, previous_until });

    const both = await sendTestEvent(id);
    expect(parseSignature(both.headers['switchyard-signature']).v1).toEqual([
      computeSignature(secret, both),
      computeSignature(old, both),
    ]);
    expect(parseSignature(both.headers['nextmv-signature']).v1).toEqual([computeSignature(secret, both)]);
    expect(both.headers['webhook-signature']).toBe(
      `${computeStandardSignature(secret, both)} ${computeStandardSignature(old, both)}`,
    );

    const at_once = (await request('POST', `/${id}/secret`, { overlap_hours: 0 })).body as { secret: string };
    expect(at_once).not.toHaveProperty('previous_until');
    const one = await sendTestEvent(id);
    expect(parseSignature(one.headers['switchyard-signature']).v1).toEqual([
      computeSignature(at_once.secret, one),
    ]);
    expect(one.headers['webhook-signature']).toBe(computeStandardSignature(at_once.secret, one));
    expectStatus(await request('DELETE', `/${id}`), 204);
  });

  test.each([-1, 169, 1.5, 'a'])('is not rotated with overlap_hours %j', async (overlap_hours) => {
    const { id } = await createWebhook(server, BODY.endpoint_url);
    const secret = await fetchSecret(server, id);
    expectError(await request('POST', `/${id}/secret`, { overlap_hours }), 400, 'overlap_hours');
    expect(await fetchSecret(server, id)).toBe(secret);
    expectStatus(await request('DELETE', `/${id}`), 204);
  });

  /** Sends a test event; returns the delivery that the receiver gets. */
  async function sendTestEvent(id: string) {
    const event = await triggerEvent(server);
    const found = await receiver.until((all) => all.find((one) => one.event.event_id === event));
    await waitForConversations(server, id, 1);
    return found;
  }
});

describe('a test event', () => {
  test('is sent to every webhook of the account and recorded as a conversation of each', async () => {
    const { token } = await createOtherAccount(server);
    const hooks = await Promise.all([1, 2].map(() => createWebhook(server, receiver.url)));
    const response = await server.request('POST', '/v1/events/trigger', {
      body: { event_type: 'run.status' },
    });
    expectStatus(response, 201);
    const { event_id, webhook_ids } = response.body as { event_id: string; webhook_ids: string[] };
    expect(webhook_ids).toEqual(expect.arrayContaining(hooks.map((one) => one.id)));
    const copies = await receiver.until((all) => {
      const mine = all.filter((one) => one.event.event_id === event_id);
      return mine.length === 2 && mine;
    });
    expect(copies.map((one) => one.event)).toEqual([copies[0]?.event, copies[0]?.event]);
    expect(copies[0]?.event).toMatchObject({
      event_type: 'run.status',
      api_version: '1.7.0',
      data: { id: 'run-example', status: 'succeeded', status_v2: 'succeeded' },
    });
    for (const { id } of hooks) {
      await waitForConversations(server, id, 1);
      expect(await listConversations(server, id)).toMatchObject([{ event_id, status: 'succeeded' }]);
      expectStatus(await request('DELETE', `/${id}`), 204);
    }
    const none = await server.request('POST', '/v1/events/trigger', {
      token,
      body: { event_type: 'run.status' },
    });
    expect(none.body).toMatchObject({ webhook_ids: [] });
  });

  test.each(['experiment.status', 'queue.trouble'])('of the type %s has data of that type', async (type) => {
    const { id } = await createWebhook(server, receiver.url, { event_types: [type] });
    expectStatus(await server.request('POST', '/v1/events/trigger', { body: { event_type: type } }), 201);
    const [{ request_body } = {}] = await waitForConversations(server, id, 1);
    expect(request_body).toMatchObject({
      event_type: type,
      data: { id: `${type === 'queue.trouble' ? 'problem' : 'experiment'}-example` },
    });
    expectStatus(await request('DELETE', `/${id}`), 204);
  });

  test.each([[{}], [{ event_type: 'run.deleted' }], [{ event_type: 'run.status', more: 1 }]])(
    'requested with %j is refused',
    async (body) => expectError(await server.request('POST', '/v1/events/trigger', { body }), 400, ''),
  );
});
