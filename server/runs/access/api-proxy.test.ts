/** The proxy between the app of a run and the server, against bytes that no client sends. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isHostFault } from '@switchyard/runner';
import { type ApiAccess, ApiProxy } from '@switchyard/worker/access/api-proxy.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLog } from '../../platform/log.ts';
import { readResidentBytes } from '../../testing/host/memory.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { openSocket, readResponse, sendRaw } from '../../testing/http/raw-sockets.ts';

interface Received {
  request: IncomingMessage;
  body: string;
}

let target: Server;
let apiProxy: ApiProxy;
let access: ApiAccess;
let proxy: { url: string };
let received: Received[] = [];
let openStreams = 0;
const streams: ServerResponse[] = [];
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
      streams.push(response);
      response.write('first');
    } else if (refusals > 0) {
      refusals -= 1;
      response.writeHead(429, { 'retry-after': '1' }).end();
    } else response.end('{}');
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', () => resolve()));
  const { port } = target.address() as AddressInfo;
  apiProxy = new ApiProxy({
    api: Promise.resolve({ url: `http://127.0.0.1:${port}`, isOwn: true }),
    socketsFolder: mkdtempSync(join(tmpdir(), 'switchyard-sockets-')),
    log: createLog('error'),
  });
  access = await openAccess();
  proxy = { url: access.environment.NEXTMV_ENDPOINT ?? '' };
});
const TOKEN = 'run.a.1.token';
const AUTHORIZATION = `Authorization: Bearer ${TOKEN}\r\n`;
const openAccess = (isIsolated = false) =>
  apiProxy.open({
    ...{ token: TOKEN, isIsolated },
    trace: { TRACEPARENT: 'parent of the run', TRACESTATE: 'state of the run' },
    prove: async (endpoint) => `${endpoint} proof`,
  });
afterAll(async () => {
  await apiProxy.close();
  target.closeAllConnections();
  await new Promise((resolve) => target.close(resolve));
});
beforeEach(() => {
  received = [];
});

const sendToSocket = (socketPath: string, path: string): Promise<{ status: number }> =>
  new Promise((resolve, reject) => {
    get({ socketPath, path }, (response) => resolve({ status: response.resume().statusCode ?? 0 })).on(
      'error',
      reject,
    );
  });

const fetchTrusted = (): Promise<Response> =>
  fetch(`${proxy.url}/v1/a`, { headers: { authorization: `Bearer ${TOKEN}` } });

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

test('A7: the server gets one request of a connection at a time, however many the app pipelines', async () => {
  const socket = await openSocket(proxy.url);
  const end = readResponse(socket);
  socket.write('GET /v1/stream HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000));
  await waitUntil('the first request', async () => openStreams === 1);
  // Requests of other connections are not behind them.
  for (let n = 0; n < 3; n += 1) expect((await fetch(`${proxy.url}/v1/other`)).status).toBe(200);
  expect(received.filter(({ request }) => request.url === '/v1/stream')).toHaveLength(1);
  socket.destroy();
  await end;
  // The proxy does not read the connection of an app that pipelines, so the end of the response shows that it is gone.
  for (const stream of streams) stream.destroy();
  await waitUntil('the end of the stream', async () => openStreams === 0);
});

test('A7: a request with an expectation or without a host is one like any other', async () => {
  const head = (name: string) => `GET /v1/${name} HTTP/1.1\r\n`;
  const { text } = await sendRaw(
    proxy,
    `${head('bare')}\r\n${head('a')}Host: a\r\nExpect: x\r\n\r\n${head('b')}${END}`,
  );
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200']);
  expect(received.map(({ request }) => request.url)).toEqual(['/v1/bare', '/v1/a', '/v1/b']);
});

test('A7: requests behind a body in chunks reach nobody', async () => {
  const hidden = 'GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(60);
  const first = `POST /v1/first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const { text } = await sendRaw(proxy, `${first}1\r\nx\r\n0\r\n\r\n${hidden}`);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  expect(received.map(({ request, body }) => [request.url, body])).toEqual([['/v1/first', 'x']]);
});

test('A7: what is no HTTP is refused once for each connection, and neither ends nor blocks the proxy', async () => {
  const other = await openAccess();
  const { pid } = apiProxy;
  const garbage = Buffer.from('X\r\n\r\n'.repeat(100_000));
  const sockets = await Promise.all(Array.from({ length: 190 }, () => openSocket(proxy.url)));
  const closed = Promise.all(sockets.map(readResponse));
  for (const socket of sockets) socket.write(garbage);
  const response = await fetch(`${other.environment.NEXTMV_ENDPOINT}/v1/a`);
  expect(response.status).toBe(200);
  await other.close();
  for (const socket of sockets.slice(50)) socket.destroy();
  // Those within the burst are answered at once.
  for (const { status, text } of (await closed).slice(0, 50))
    if (status !== 0) expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(apiProxy.pid).toBe(pid);
});

test('A7: connections and requests without the token of the run do not keep those with it out', async () => {
  const send = () => sendRaw(proxy, `GET /v1/a HTTP/1.1\r\n${AUTHORIZATION}${END}`);
  const unknown = await Promise.all(Array.from({ length: 200 }, () => openSocket(proxy.url)));
  const closed = Promise.all(unknown.map(readResponse));
  expect((await send()).status).toBe(200);
  for (const socket of unknown)
    if (!socket.destroyed) socket.write('GET /v1/stream HTTP/1.1\r\nHost: a\r\n\r\n');
  await waitUntil('unknown requests', async () => openStreams > 0);
  expect((await send()).status).toBe(200);
  expect(openStreams).toBeLessThanOrEqual(32);
  for (const socket of unknown) socket.destroy();
  await closed;
  for (const stream of streams) stream.destroy();
  await waitUntil('the end of the streams', async () => openStreams === 0);
});

test('A6: unfinished bodies stay in the proxy, and its memory is bounded', async () => {
  const length = 256 * 1024;
  const body = 'x'.repeat(length - 1);
  const head = `POST /v1/create HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
  const sockets = await Promise.all(Array.from({ length: 510 }, () => openSocket(proxy.url)));
  const closed = Promise.all(sockets.map(readResponse));
  for (const socket of sockets) socket.write(head + body);
  const { pid = 0 } = apiProxy;
  await waitUntil('bodies in the proxy', async () => readResidentBytes(pid) > 0);
  // A request of an earlier test may still come.
  expect(received.filter(({ request }) => request.url === '/v1/create')).toEqual([]);
  expect(readResidentBytes(pid)).toBeLessThan(256 * 1024 * 1024);
  for (const socket of sockets) socket.destroy();
  await closed;
});

// Only Linux shows the rights of a process.
test.runIf(process.platform === 'linux')('A7: the proxy has no rights and no variables of the server', () => {
  const read = (name: string): string => readFileSync(`/proc/${apiProxy.pid}/${name}`, 'utf8');
  expect(read('status')).toMatch(/^CapEff:\s+0+$/m);
  expect(read('status')).not.toMatch(/^Uid:.*\b0\b/m);
  expect(read('oom_score_adj').trim()).toBe('500');
  expect(read('cmdline')).toContain('--permission');
  expect(readFileSync(`/proc/${process.pid}/environ`, 'utf8')).toContain('HOME=');
  expect(read('environ')).not.toContain('HOME=');
});

test('A7: a proxy that dies is replaced, and its runs reach the API at the same address', async () => {
  const isolated = await openAccess(true);
  const { socketPath = '' } = isolated.forward ?? {};
  const request = async (): Promise<number> => (await sendToSocket(socketPath, '/v1/a')).status;
  const { pid } = apiProxy;
  expect(await request()).toBe(200);
  process.kill(pid ?? 0, 'SIGKILL');
  await waitUntil('the end of the process', async () => apiProxy.pid !== pid);
  // A program that got the port would get the token.
  const thief = createServer();
  const { port } = new URL(proxy.url);
  thief.listen({ host: '127.0.0.1', port: Number(port) });
  expect((await once(thief, 'error'))[0]).toMatchObject({ code: 'EADDRINUSE' });
  // The connection waits for the next process, and so may those of earlier tests without the token.
  expect((await fetchTrusted()).status).toBe(200);
  await waitUntil('the socket', async () => (await request().catch(() => 0)) === 200);
  for (const { request } of received) expect(request.headers['switchyard-run-proof']).toMatch(/ proof$/);
  await isolated.close();
  expect(existsSync(socketPath)).toBe(false);
});

test('A7: a run whose access cannot be opened again loses it by a host fault', async () => {
  const isolated = await openAccess(true);
  rmSync(dirname(isolated.forward?.socketPath ?? ''), { recursive: true });
  process.kill(apiProxy.pid ?? 0, 'SIGKILL');
  await waitUntil('the loss', async () => isolated.lost.aborted);
  expect(isHostFault(isolated.lost.reason)).toBe(true);
  expect(access.lost.aborted).toBe(false);
  await isolated.close();
});

test('A7: a proxy that does not answer delays the end of a run by three seconds, and is replaced', async () => {
  const other = await openAccess();
  process.kill(apiProxy.pid ?? 0, 'SIGSTOP');
  await other.close();
  expect((await fetchTrusted()).status).toBe(200);
});

test('A7: 64 requests of a run are under way and 64 wait; the next one gets 429, and all end with the access', async () => {
  const sockets = await Promise.all(Array.from({ length: 128 }, () => openSocket(proxy.url)));
  const closed = Promise.all(sockets.map(readResponse));
  for (const socket of sockets) socket.write(`GET /v1/stream HTTP/1.1\r\nHost: a\r\n${AUTHORIZATION}\r\n`);
  await waitUntil('all streams that the proxy opens', async () => openStreams === 64);
  const refused = await fetchTrusted();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect((await refused.json()).error).toMatch(
    /^The app of this run has 64 requests under way and 64 that wait/,
  );
  await access.close();
  const ends = await closed;
  // The access can end before the proxy has passed on the last response.
  const opened = ends.filter(({ status }) => status === 200).length;
  expect(opened).toBeGreaterThan(0);
  expect(opened).toBeLessThanOrEqual(64);
  await waitUntil('the end of the streams', async () => openStreams === 0);
  await expect(fetch(`${proxy.url}/v1/a`)).rejects.toThrow();
});
