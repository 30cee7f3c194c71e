/** Invalid HTTP and slow headers: the server responds with an error where it can, and closes the connection. */
import type { Socket } from 'node:net';
import type { AccountId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus } from '../../../testing/fixtures/resources.ts';
import { openSocket, readResponse, sendRaw } from '../../../testing/http/raw-sockets.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';
import { systemClock } from '../../clock.ts';
import { createLog } from '../../log.ts';
import { NO_AUDIT_LOG } from '../handlers/audited-actions.ts';
import type { Handlers } from '../handlers/handler.ts';
import { createMetrics } from '../metrics.ts';
import { createHttpServer } from '../server.ts';

const MINIMAL_OPTIONS = {
  rateLimit: null,
  publicUrl: () => 'http://127.0.0.1:8080',
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

describe('400 and a closed connection for', () => {
  test.each([
    ['text that is not HTTP', 'hello there\r\n\r\n'],
    [
      'a TLS handshake',
      Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 0x0a]),
    ],
    ['an unknown method', 'FETCH /v1/account HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a name', 'GET /v1/account HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
    ['a header with a zero byte', 'GET /v1/account HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n'],
    ['headers of 70,000 bytes', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'y'.repeat(70_000)}\r\n\r\n`],
    [
      'two Content-Length headers',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    ],
    ['a negative Content-Length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    [
      'both Content-Length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a missing Host header', 'GET /v1/account HTTP/1.1\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const response = await sendRaw(server, bytes);
    expect(response.status, response.text.slice(0, 200)).toBe(400);
  });
});

test('an invalid chunk ends the request, and the server stays available', async () => {
  const head = `POST /v1/applications HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const response = await sendRaw(server, `${head}zz\r\n`);
  expect([0, 400]).toContain(response.status);
  expectStatus(await server.request('GET', '/v1/account'), 200);
});

test('a body that is shorter than its Content-Length has no effect', async () => {
  const before = (await server.request('GET', '/v1/applications')).body;
  const head = `POST /v1/applications HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n`;
  const response = await sendRaw(server, `${head}{"name":"Any name"}`, 'end');
  expect([0, 400]).toContain(response.status);
  expect((await server.request('GET', '/v1/applications')).body).toEqual(before);
});

test('bytes after a body of the stated length are a separate request', async () => {
  const token = `Authorization: Bearer ${server.token}`;
  const first = `POST /v1/applications HTTP/1.1\r\nHost: x\r\n${token}\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{"name":"Any name"}`;
  const second = `GET /v1/account HTTP/1.1\r\nHost: x\r\n${token}\r\nConnection: close\r\n\r\n`;
  const { text } = await sendRaw(server, first + second);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200']);
});

test('a connection that never sends its headers is closed in bounded time', async () => {
  const http = await createHttpServer({
    ...MINIMAL_OPTIONS,
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
      const response = await readResponse(socket);
      expect([0, 400, 408]).toContain(response.status);
    }
  } finally {
    await http.close();
  }
});

test('V4: callers that disconnect while the server checks their token hold neither requests nor memory', async () => {
  const DISCONNECTING_CALLERS = 10;
  const caller = {
    account: 'account-1' as AccountId,
    key: 'key-1' as KeyId,
    name: 'one',
    role: 'root' as const,
    email: 'ada@example.com',
    owner: 'ada@example.com',
    session: null,
  };
  const authenticated = Promise.withResolvers<typeof caller>();
  let checks = 0;
  const http = await createHttpServer({
    ...MINIMAL_OPTIONS,
    handlers: {
      createRun: async ({ rawBody }) => ({ status: 200, body: rawBody.length }),
    } as Partial<Handlers> as Handlers,
    servedOperations: ['createRun'],
    authenticate() {
      checks += 1;
      return authenticated.promise;
    },
    // One member may have half of them, which is fewer than the disconnecting callers.
    connectionsMax: 16,
  });
  try {
    let closedConnections = 0;
    http.server.on('connection', (socket: Socket) =>
      socket.once('close', () => {
        closedConnections += 1;
      }),
    );
    const url = await http.listen({ host: '127.0.0.1', port: 0 });
    const head = `POST /v1/applications/a/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\nContent-Length: ${6 * 1024 * 1024}\r\n\r\n`;
    const sockets = await Promise.all(Array.from({ length: DISCONNECTING_CALLERS }, () => openSocket(url)));
    for (const socket of sockets) socket.write(head);
    await expect.poll(() => checks).toBe(DISCONNECTING_CALLERS);
    for (const socket of sockets) socket.resetAndDestroy();
    await expect.poll(() => closedConnections).toBe(DISCONNECTING_CALLERS);
    authenticated.resolve(caller);
    const body = JSON.stringify({ input: 'x'.repeat(5_000_000) });
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1/applications/a/runs`, { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toEqual([200, body.length]);
  } finally {
    await http.close();
  }
});
