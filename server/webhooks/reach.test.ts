/** Where deliveries go: to the address that was looked at and to no other, whatever a name says the next time. */
import { WEBHOOK_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { type Receiver, startReceiver } from '../testing/receiver.ts';
import { expectError, expectStatus, freshId } from '../testing/resources.ts';
import { startTestServer, type TestServer } from '../testing/server.ts';
import { makeWebhook, talked, trigger } from '../testing/webhooks.ts';

const ALLOWED = '127.0.0.2';
const REFUSED = '127.0.0.1';

let server: TestServer;
let inside: Receiver;
let outside: Receiver;
/** What the name servers say, lookup by lookup. */
let answers: (() => Promise<string[]>)[] = [];
let asked: string[] = [];
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
      asked.push(name);
      return (answers.shift() ?? (() => Promise.reject(new Error(`${name} is asked for too often`))))();
    },
  });
  inside = await startReceiver(undefined, REFUSED);
  outside = await startReceiver(undefined, ALLOWED);
});
afterAll(async () => {
  await server.close();
  await inside.close();
  await outside.close();
});
beforeEach(() => {
  asked = [];
  answers = [];
});

const says = (...addresses: string[]): void => {
  answers.push(async () => addresses);
};
/** Sends an example to a webhook of its own; answers how that went. */
async function sent(url: string) {
  const { id } = await makeWebhook(server, url, { id: freshId('reach') });
  await trigger(server);
  const [one] = await talked(server, id, 1);
  expectStatus(await server.ask('DELETE', `/v1/webhooks/${id}`), 204);
  return one;
}

test('a name that is an allowed address is looked up once, and dialled there under its name', async () => {
  says(ALLOWED);
  const before = outside.received.length;
  const url = `http://receiver.example:${outside.port}/a?b=c`;
  expect(await sent(url)).toMatchObject({ status: 'succeeded', http_status: 200 });
  expect(asked).toEqual(['receiver.example']);
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
])('a name that is %s is not dialled', async (_, addresses) => {
  says(...addresses);
  const url = `http://receiver.example:${inside.port}/`;
  expect(await sent(url)).toMatchObject({
    status: 'failed',
    http_status: 0,
    error: expect.stringContaining('not a public address'),
  });
  expect(inside.received).toEqual([]);
});

test('a name that becomes another address between two attempts is looked at again', async () => {
  says(ALLOWED);
  says(REFUSED);
  const { id } = await makeWebhook(server, `http://rebinds.example:${inside.port}/`);
  // Nobody listens at the first address and this port.
  await trigger(server);
  const [first] = await talked(server, id, 1);
  expect(first?.error).toContain(`ECONNREFUSED ${ALLOWED}`);
  await trigger(server);
  const [second] = await talked(server, id, 2);
  expect(second?.error).toContain(`${REFUSED}, which is not a public address`);
  expect(asked).toEqual(['rebinds.example', 'rebinds.example']);
  expect(inside.received).toEqual([]);
  expectStatus(await server.ask('DELETE', `/v1/webhooks/${id}`), 204);
});

test('a name that nobody answers for is given up in time, and one that is none says so', async () => {
  let hanging = (): void => {};
  const hangs = new Promise<void>((resolve) => {
    hanging = resolve;
  });
  answers.push(() => {
    hanging();
    return new Promise(() => {});
  });
  const { id } = await makeWebhook(server, 'http://silent.example/');
  await trigger(server);
  await hangs;
  timeOut();
  expect((await talked(server, id, 1))[0]).toMatchObject({ status: 'timed_out', http_status: 0 });
  expectStatus(await server.ask('DELETE', `/v1/webhooks/${id}`), 204);
  answers.push(() => Promise.reject(new Error('queryA ENOTFOUND nobody.example')));
  expect(await sent('http://nobody.example/')).toMatchObject({
    status: 'failed',
    error: 'queryA ENOTFOUND nobody.example',
  });
});

test('this machine may be told while no other reaches the server, and not when one does', async () => {
  await using local = await startTestServer();
  const { id } = await makeWebhook(local, `http://localhost:${inside.port}/`);
  await trigger(local);
  expect((await talked(local, id, 1))[0]).toMatchObject({ status: 'succeeded' });

  await using reached = await startTestServer({ env: { SWITCHYARD_HOST: '0.0.0.0' } });
  const body = { id: 'hook', event_types: ['run.status'], description: '' };
  const literal = { ...body, endpoint_url: `http://127.0.0.1:${inside.port}/` };
  expectError(await reached.ask('POST', '/v1/webhooks', { body: literal }), 400, 'not a public address');
  const count = inside.received.length;
  await makeWebhook(reached, `http://localhost:${inside.port}/`, body);
  await trigger(reached);
  expect((await talked(reached, 'hook', 1))[0]).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('not a public address'),
  });
  expect(inside.received).toHaveLength(count);
});
