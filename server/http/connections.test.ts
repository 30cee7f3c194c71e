/** What is no HTTP, or comes too slowly: the connection gets an answer where one can be read, and is closed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { expectStatus } from '../testing/resources.ts';
import { startTestServer, type TestServer } from '../testing/server.ts';
import { openSocket, readAll, sendRaw } from '../testing/sockets.ts';
import { NO_ACTS } from './acts.ts';
import type { Handlers } from './handler.ts';
import { createMetrics } from './metrics.ts';
import { createHttp } from './server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

describe('400 and the end of the connection for', () => {
  test.each([
    ['rubbish', 'hello there\r\n\r\n'],
    ['bytes', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 0x0a])],
    ['a method that is none', 'FETCH /v1/account HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a name', 'GET /v1/account HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
    ['a header with a zero byte', 'GET /v1/account HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n'],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'y'.repeat(70_000)}\r\n\r\n`],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    [
      'a length beside chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no host', 'GET /v1/account HTTP/1.1\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const answer = await sendRaw(server, bytes);
    expect(answer.status, answer.text.slice(0, 200)).toBe(400);
  });
});

test('a chunk that is none ends the request, and the server goes on', async () => {
  const head = `POST /v1/applications HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const answer = await sendRaw(server, `${head}zz\r\n`);
  expect([0, 400]).toContain(answer.status);
  expectStatus(await server.ask('GET', '/v1/account'), 200);
});

test('a body that ends before its stated length is no request', async () => {
  const before = (await server.ask('GET', '/v1/applications')).body;
  const head = `POST /v1/applications HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n`;
  const answer = await sendRaw(server, `${head}{"name":"Any name"}`, 'end');
  expect([0, 400]).toContain(answer.status);
  expect((await server.ask('GET', '/v1/applications')).body).toEqual(before);
});

test('what follows a body of the stated length is a request of its own', async () => {
  const token = `Authorization: Bearer ${server.token}`;
  const first = `POST /v1/applications HTTP/1.1\r\nHost: x\r\n${token}\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{"name":"Any name"}`;
  const second = `GET /v1/account HTTP/1.1\r\nHost: x\r\n${token}\r\nConnection: close\r\n\r\n`;
  const { text } = await sendRaw(server, first + second);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200']);
});

test('a connection that never sends its headers is closed in bounded time', async () => {
  const http = await createHttp({
    handlers: {} as Handlers,
    only: [],
    authenticate: async () => null,
    rateLimit: null,
    idempotency: null,
    acts: NO_ACTS,
    connectionsMax: 100,
    requestId: () => 'request-1',
    clock: systemClock,
    log: createLog('silent'),
    metrics: createMetrics(),
    headersMs: 120,
    errorPages: null,
  });
  try {
    const url = await http.listen({ host: '127.0.0.1', port: 0 });
    for (const bytes of ['', 'GET / HTTP/1.1\r\nHost: x\r\nA: ']) {
      const socket = await openSocket(url);
      if (bytes) socket.write(bytes);
      const answer = await readAll(socket);
      expect([0, 400, 408]).toContain(answer.status);
    }
  } finally {
    await http.close();
  }
});
