/** The proxy between the app of a run and the server, against bytes that no client sends. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type ApiAccess, openApiAccess } from '@switchyard/worker/access/api-proxy.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { openSocket, readResponse, sendRaw } from '../../testing/http/raw-sockets.ts';

interface Received {
  request: IncomingMessage;
  body: string;
}

let target: Server;
let access: ApiAccess;
let proxy: { url: string };
let received: Received[] = [];
let openStreams = 0;
/** The number of requests that the server refuses for their rate. */
let refusals = 0;
beforeAll(async () => {
  target = createServer(async (request, response) => {
    received.push({ request, body: (await buffer(request)).toString() });
    if (request.url === '/v1/stream') {
      openStreams += 1;
      response.once('close', () => {
        openStreams -= 1;
      });
      response.write('first');
    } else if (refusals > 0) {
      refusals -= 1;
      response.writeHead(429, { 'retry-after': '1' }).end();
    } else response.end('{}');
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', () => resolve()));
  const { port } = target.address() as AddressInfo;
  const findApi = () => ({ url: `http://127.0.0.1:${port}`, isOwn: true });
  const trace = { TRACEPARENT: 'parent of the run', TRACESTATE: 'state of the run' };
  access = await openApiAccess({
    ...{ token: 'run.a.1.token', isIsolated: false, socketsFolder: '', findApi, trace },
    prove: async (endpoint) => `${endpoint} proof`,
  });
  proxy = { url: access.environment.NEXTMV_ENDPOINT ?? '' };
});
afterAll(async () => {
  target.closeAllConnections();
  await new Promise((resolve) => target.close(resolve));
});
beforeEach(() => {
  received = [];
});

const END = 'Host: evil.test\r\nConnection: close\r\n\r\n';

test.each([
  ['an absolute URL', `GET http://evil.test/v1/account HTTP/1.1\r\n${END}`, 404],
  ['a path with two slashes', `GET //evil.test/v1/account HTTP/1.1\r\n${END}`, 404],
  ['CONNECT', `CONNECT evil.test:443 HTTP/1.1\r\n${END}`, 0],
  ['two lengths', `POST /v1/a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n${END}xx`, 400],
  [
    'a length beside chunks',
    `POST /v1/a HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n${END}0\r\n\r\n`,
    400,
  ],
  ['an encoding that is none', `POST /v1/a HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n${END}0\r\n\r\n`, 400],
  ['64 kB of headers', `GET /v1/a HTTP/1.1\r\nA: ${'a'.repeat(65_536)}\r\n${END}`, 431],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
])('passes %s on to nobody', async (_, bytes, status) => {
  expect((await sendRaw(proxy, bytes)).status).toBe(status);
  expect(received).toEqual([]);
});

test('replaces the host and the proof, and drops an upgrade', async () => {
  const forged = `Switchyard-Run-Proof: forged\r\nSWITCHYARD-RUN-PROOF: forged\r\nUpgrade: websocket`;
  expect((await sendRaw(proxy, `GET /v1/a HTTP/1.1\r\n${forged}\r\n${END}`)).status).toBe(200);
  const { headers } = (received[0] as Received).request;
  expect(headers.host).toMatch(/^127\.0\.0\.1:/);
  expect(headers.upgrade).toBeUndefined();
  expect(headers['switchyard-run-proof']).toBe(`${proxy.url} proof`);
});

test('adds the trace of the run to a request that names none', async () => {
  await fetch(`${proxy.url}/v1/a`);
  await fetch(`${proxy.url}/v1/b`, { headers: { traceparent: 'own' } });
  const traces = received.map(({ request: { headers } }) => [headers.traceparent, headers.tracestate]);
  expect(traces).toEqual([
    ['parent of the run', 'state of the run'],
    ['own', undefined],
  ]);
});

test('passes each of several pipelined requests on with a proof, and none in the body of another', async () => {
  const hidden = 'GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n';
  const first = `POST /v1/first HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`;
  const { text } = await sendRaw(proxy, `${first}GET /v1/second HTTP/1.1\r\n${END}`);
  expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  expect(received.map(({ request: { url }, body }) => [url, body])).toEqual(
    expect.arrayContaining([
      ['/v1/first', hidden],
      ['/v1/second', ''],
    ]),
  );
  for (const { request } of received) expect(request.headers['switchyard-run-proof']).toBeDefined();
});

test('does not repeat a refused request of an app that has gone', async () => {
  refusals = 1;
  const socket = await openSocket(proxy.url);
  const closed = readResponse(socket);
  socket.write('POST /v1/create HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
  await waitUntil('the refusal', async () => received.length === 1 && refusals === 0);
  socket.destroy();
  await closed;
  // A request that is refused at the same time is repeated, so the other one was due before.
  refusals = 1;
  expect((await fetch(`${proxy.url}/v1/other`)).status).toBe(200);
  expect(received.map(({ request }) => request.url)).toEqual(['/v1/create', '/v1/other', '/v1/other']);
});

test('ends an event stream with the access, and has a bounded number of connections', async () => {
  const sockets = await Promise.all(Array.from({ length: 100 }, () => openSocket(proxy.url)));
  const closed = Promise.all(sockets.map(readResponse));
  for (const socket of sockets) socket.write('GET /v1/stream HTTP/1.1\r\nHost: a\r\n\r\n');
  await waitUntil('all streams that the proxy opens', async () => openStreams === 64);
  await access.close();
  const ends = await closed;
  // The access can end before the proxy has passed on the last response.
  const opened = ends.filter(({ status }) => status === 200).length;
  expect(opened).toBeGreaterThan(0);
  expect(opened).toBeLessThanOrEqual(64);
  await waitUntil('the end of the streams', async () => openStreams === 0);
  await expect(fetch(`${proxy.url}/v1/a`)).rejects.toThrow();
});
