/** What is no HTTP, or comes too slowly: the connection gets an answer where one can be read, and is closed. */
import type { Socket } from 'node:net';
import type { AccountId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { createLog } from '../../log.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { openSocket, readResponse, sendRaw } from '../../testing/http/raw-sockets.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { NO_AUDIT_LOG } from '../handlers/audited-actions.ts';
import type { Handlers } from '../handlers/handler.ts';
import { createMetrics } from '../metrics.ts';
import { createHttpServer } from '../server.ts';

const BARE = {
  rateLimit: null,
  idempotency: null,
  auditLog: NO_AUDIT_LOG,
  newRequestId: () => 'request-1',
  clock: systemClock,
  log: createLog('silent'),
  metrics: createMetrics(),
  errorPages: null,
};

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
  expectStatus(await server.request('GET', '/v1/account'), 200);
});

test('a body that ends before its stated length is no request', async () => {
  const before = (await server.request('GET', '/v1/applications')).body;
  const head = `POST /v1/applications HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n`;
  const answer = await sendRaw(server, `${head}{"name":"Any name"}`, 'end');
  expect([0, 400]).toContain(answer.status);
  expect((await server.request('GET', '/v1/applications')).body).toEqual(before);
});

test('what follows a body of the stated length is a request of its own', async () => {
  const token = `Authorization: Bearer ${server.token}`;
  const first = `POST /v1/applications HTTP/1.1\r\nHost: x\r\n${token}\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{"name":"Any name"}`;
  const second = `GET /v1/account HTTP/1.1\r\nHost: x\r\n${token}\r\nConnection: close\r\n\r\n`;
  const { text } = await sendRaw(server, first + second);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200']);
});

test('a connection that never sends its headers is closed in bounded time', async () => {
  const http = await createHttpServer({
    ...BARE,
    handlers: {} as Handlers,
    servedOperations: [],
    authenticate: async () => null,
    connectionsMax: 100,
    headersTimeoutMs: 120,
  });
  try {
    const url = await http.listen({ host: '127.0.0.1', port: 0 });
    for (const bytes of ['', 'GET / HTTP/1.1\r\nHost: x\r\nA: ']) {
      const socket = await openSocket(url);
      if (bytes) socket.write(bytes);
      const answer = await readResponse(socket);
      expect([0, 400, 408]).toContain(answer.status);
    }
  } finally {
    await http.close();
  }
});

test('V4: callers that leave while their token is checked hold neither requests nor memory', async () => {
  const CALLERS = 10;
  const caller = {
    account: 'account-1' as AccountId,
    key: 'key-1' as KeyId,
    name: 'one',
    role: 'root' as const,
    email: 'ada@example.com',
    owner: 'ada@example.com',
  };
  const checked = Promise.withResolvers<typeof caller>();
  let checks = 0;
  const http = await createHttpServer({
    ...BARE,
    handlers: {
      createRun: async ({ rawBody }) => ({
        status: 200,
        raw: String(rawBody.length),
        contentType: 'text/plain',
      }),
    } as Partial<Handlers> as Handlers,
    servedOperations: ['createRun'],
    authenticate() {
      checks += 1;
      return checked.promise;
    },
    // Half of them are a member's: fewer than leave here.
    connectionsMax: 16,
  });
  try {
    let closed = 0;
    http.server.on('connection', (socket: Socket) =>
      socket.once('close', () => {
        closed += 1;
      }),
    );
    const url = await http.listen({ host: '127.0.0.1', port: 0 });
    const head = `POST /v1/applications/a/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\nContent-Length: ${6 * 1024 * 1024}\r\n\r\n`;
    const sockets = await Promise.all(Array.from({ length: CALLERS }, () => openSocket(url)));
    for (const socket of sockets) socket.write(head);
    await expect.poll(() => checks).toBe(CALLERS);
    for (const socket of sockets) socket.resetAndDestroy();
    await expect.poll(() => closed).toBe(CALLERS);
    checked.resolve(caller);
    const body = JSON.stringify({ input: 'x'.repeat(5_000_000) });
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/applications/a/runs`, { method: 'POST', headers, body });
    expect([answer.status, await answer.text()]).toEqual([200, String(body.length)]);
  } finally {
    await http.close();
  }
});
