/** Addresses of deliveries: each connection goes to the checked address, also when a name changes its address. */
import { WEBHOOK_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { createWebhook, triggerEvent, waitForConversations } from '../../testing/fixtures/webhooks.ts';
import { sendRaw } from '../../testing/http/raw-sockets.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../testing/http/webhook-receiver.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const ALLOWED = '127.0.0.2';
const REFUSED = '127.0.0.1';

let server: TestServer;
let inside: WebhookReceiver;
let outside: WebhookReceiver;
/** The results of the next lookups of names, in order. */
let responses: (() => Promise<string[]>)[] = [];
let lookups: string[] = [];
let timeOut = (): void => {};
const clock = {
  ...systemClock,
  after(delayMs: number, callback: () => void) {
    if (delayMs !== WEBHOOK_TIMEOUT_MS) return systemClock.after(delayMs, callback);
    timeOut = callback;
    return () => {};
  },
};
beforeAll(async () => {
  server = await startTestServer({
    clock,
    env: { SWITCHYARD_WEBHOOK_NETWORKS: ALLOWED },
    resolve: (name) => {
      lookups.push(name);
      return (responses.shift() ?? (() => Promise.reject(new Error(`${name} has an unexpected lookup`))))();
    },
  });
  inside = await startWebhookReceiver(undefined, REFUSED);
  outside = await startWebhookReceiver(undefined, ALLOWED);
});
afterAll(async () => {
  await server.close();
  await inside.close();
  await outside.close();
});
beforeEach(() => {
  lookups = [];
  responses = [];
});

const respondToLookup = (...addresses: string[]): void => {
  responses.push(async () => addresses);
};
/** Sends a test event to a new webhook; returns its conversation. */
async function sendTestEvent(url: string) {
  const { id } = await createWebhook(server, url, { id: uniqueId('reach') });
  await triggerEvent(server);
  const [one] = await waitForConversations(server, id, 1);
  expectStatus(await server.request('DELETE', `/v1/webhooks/${id}`), 204);
  return one;
}

test('a name with an allowed address is resolved once; the request has the name as host', async () => {
  respondToLookup(ALLOWED);
  const before = outside.received.length;
  const url = `http://receiver.example:${outside.port}/a?b=c`;
  expect(await sendTestEvent(url)).toMatchObject({ status: 'succeeded', http_status: 200 });
  expect(lookups).toEqual(['receiver.example']);
  expect(outside.received.slice(before)).toMatchObject([
    { path: '/a?b=c', headers: { host: `receiver.example:${outside.port}` } },
  ]);
});

test.each([
  ['loopback', [REFUSED]],
  ['the metadata of a cloud', ['169.254.169.254']],
  ['loopback in IPv6', ['::1']],
  ['loopback mapped into IPv6', ['::ffff:127.0.0.1']],
  ['an allowed address and another', [ALLOWED, REFUSED]],
])('a name that resolves to %s gets no request', async (_, addresses) => {
  respondToLookup(...addresses);
  const url = `http://receiver.example:${inside.port}/`;
  expect(await sendTestEvent(url)).toMatchObject({
    status: 'failed',
    http_status: 0,
    error: expect.stringContaining('not a public address'),
  });
  expect(inside.received).toEqual([]);
});

test('a name is resolved and checked again for each attempt', async () => {
  respondToLookup(ALLOWED);
  respondToLookup(REFUSED);
  const { id } = await createWebhook(server, `http://rebinds.example:${inside.port}/`);
  // No process listens on this port of the first address.
  await triggerEvent(server);
  const [first] = await waitForConversations(server, id, 1);
  expect(first?.error).toContain(`ECONNREFUSED ${ALLOWED}`);
  await triggerEvent(server);
  const [second] = await waitForConversations(server, id, 2);
  expect(second?.error).toContain(`${REFUSED}, which is not a public address`);
  expect(lookups).toEqual(['rebinds.example', 'rebinds.example']);
  expect(inside.received).toEqual([]);
  expectStatus(await server.request('DELETE', `/v1/webhooks/${id}`), 204);
});

test('a lookup without a response times out; a missing name reports its error', async () => {
  let startLookup = (): void => {};
  const lookupStarted = new Promise<void>((resolve) => {
    startLookup = resolve;
  });
  responses.push(() => {
    startLookup();
    return new Promise(() => {});
  });
  const { id } = await createWebhook(server, 'http://silent.example/');
  await triggerEvent(server);
  await lookupStarted;
  timeOut();
  expect((await waitForConversations(server, id, 1))[0]).toMatchObject({
    status: 'timed_out',
    http_status: 0,
  });
  expectStatus(await server.request('DELETE', `/v1/webhooks/${id}`), 204);
  responses.push(() => Promise.reject(new Error('queryA ENOTFOUND nobody.example')));
  expect(await sendTestEvent('http://nobody.example/')).toMatchObject({
    status: 'failed',
    error: 'queryA ENOTFOUND nobody.example',
  });
});

test('deliveries reach the machine of the server only while no other machine reaches it', async () => {
  await using local = await startTestServer();
  const { id } = await createWebhook(local, `http://localhost:${inside.port}/`);
  await triggerEvent(local);
  expect((await waitForConversations(local, id, 1))[0]).toMatchObject({ status: 'succeeded' });

  await using reachable = await startTestServer({ env: { SWITCHYARD_HOST: '0.0.0.0' } });
  const body = { id: 'hook', event_types: ['run.status'], description: '' };
  const literal = { ...body, endpoint_url: `http://127.0.0.1:${inside.port}/` };
  expectError(
    await reachable.request('POST', '/v1/webhooks', { body: literal }),
    400,
    'not a public address',
  );
  const count = inside.received.length;
  await createWebhook(reachable, `http://localhost:${inside.port}/`, body);
  await triggerEvent(reachable);
  expect((await waitForConversations(reachable, 'hook', 1))[0]).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('not a public address'),
  });
  expect(inside.received).toHaveLength(count);
});

describe('V7: only webhooks of local callers deliver to the machine of the server', () => {
  let local: TestServer;
  beforeAll(async () => {
    local = await startTestServer();
  });
  afterAll(() => local.close());

  const literal = () => `http://127.0.0.1:${inside.port}/`;
  const buildWebhook = (endpoint_url: string) => ({
    id: uniqueId('local'),
    event_types: ['run.status'],
    endpoint_url,
    description: '',
  });
  const sendRawCreate = async (headers: string): Promise<number> => {
    const body = JSON.stringify(buildWebhook(literal()));
    const head = `POST /v1/webhooks HTTP/1.1\r\n${headers}Authorization: Bearer ${local.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
    return (await sendRaw(local, head + body)).status;
  };
  const triggerAndWait = async (id: string, count: number) => {
    await triggerEvent(local);
    const [latest] = await waitForConversations(local, id, count);
    return latest;
  };

  test.each([
    ['Host: 127.0.0.1\r\n', 201],
    ['Host: localhost:8080\r\n', 201],
    ['Host: switchyard.example\r\n', 400],
    ['Host: 127.0.0.1\r\nX-Forwarded-For: 203.0.113.9\r\n', 400],
    ['Host: 127.0.0.1\r\nX-Forwarded-Proto: https\r\n', 400],
    ['Host: 127.0.0.1\r\nForwarded: for=203.0.113.9\r\n', 400],
    ['Host: 127.0.0.1\r\nVia: 1.1 proxy\r\n', 400],
  ])('%j returns %i', async (headers, status) => {
    expect(await sendRawCreate(headers)).toBe(status);
  });

  test('a name of this machine from a proxied request is accepted but gets no delivery', async () => {
    const body = buildWebhook(`http://localhost:${inside.port}/named`);
    const proxied = { 'x-forwarded-for': '203.0.113.9' };
    expectStatus(await local.request('POST', '/v1/webhooks', { body, headers: proxied }), 201);
    expect((await triggerAndWait(body.id, 1))?.error).toContain('not a public address');
    expect(inside.received.filter((one) => one.path === '/named')).toEqual([]);
  });

  test('an existing webhook gets no delivery until a local caller sets its address again', async () => {
    const { id } = await createWebhook(local, `${literal()}before`);
    const path = `/v1/webhooks/${id}`;
    await local.runningServer.database.transact((tx) =>
      tx
        .updateTable('webhooks')
        .set({ given_locally: 0 })
        .where('id', '=', id as never)
        .execute(),
    );
    expect((await triggerAndWait(id, 1))?.error).toContain('SWITCHYARD_WEBHOOK_NETWORKS');
    const again = { endpoint_url: `${literal()}before` };
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    expectError(await local.request('PUT', path, { body: again, headers }), 400, 'not a public address');
    expectStatus(await local.request('PUT', path, { body: again }), 204);
    expectStatus(await local.request('PUT', path, { body: { description: 'x' }, headers }), 204);
    await triggerEvent(local);
    await inside.until((received) => received.some((one) => one.path === '/before'));
  });

  test('400 for a loopback address on a server with a public address', async () => {
    await using reachable = await startTestServer({
      env: { SWITCHYARD_PUBLIC_URL: 'https://switchyard.example' },
    });
    const response = await reachable.request('POST', '/v1/webhooks', { body: buildWebhook(literal()) });
    expectError(response, 400, 'not a public address');
  });
});
