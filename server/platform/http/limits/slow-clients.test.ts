/** The server closes connections that hardly send or read, and serves slow lines. The clock of each test runs the checks. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSocket, readResponse } from '../../../testing/http/raw-sockets.ts';
import { createLog } from '../../log.ts';
import { NO_AUDIT_LOG } from '../handlers/audited-actions.ts';
import type { Handlers } from '../handlers/handler.ts';
import { createMetrics } from '../metrics.ts';
import { createHttpServer } from '../server.ts';
import { closeSlowClients } from './slow-clients.ts';

/** A body may stand still for five checks and has to send a thousand bytes for each; a response for three. */
const LIMITS = { checkIntervalMs: 1000, bodyTimeoutMs: 5000, responseTimeoutMs: 3000 };
const BYTES_PER_CHECK = 1000;
const LARGE_BYTES = 64 * 1024 * 1024;

let http: FastifyInstance;
let url: string;
let checkConnections = (): void => {};
/** Ends the drain of the last refused body. */
let endDrain = (): void => {};
/** The result of each upload: its bytes, or the error text. */
const uploads: (number | string)[] = [];
/** The upload handler reads the body after this. */
let uploadReadable = Promise.resolve();
/** The upload handler fails after the first bytes. */
let isDiskFull = false;
beforeAll(async () => {
  const handlers = {
    createAccount: async () => ({ status: 200, body: {} }),
    async putUpload({ stream }) {
      await uploadReadable;
      if (isDiskFull) {
        await once(stream.pipe(new PassThrough()), 'readable');
        stream.unpipe();
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      }
      uploads.push(await buffer(stream).then(({ length }) => length, String));
      return { status: 200 };
    },
    getDownload: async () => ({
      content: {
        id: 'large',
        bytes: LARGE_BYTES,
        contentType: 'text/plain',
        open: async () => Readable.from(Array.from({ length: 1024 }, () => Buffer.alloc(LARGE_BYTES / 1024))),
      },
    }),
  } as Partial<Handlers> as Handlers;
  http = await createHttpServer({
    handlers,
    servedOperations: ['createAccount', 'putUpload', 'getDownload'],
    authenticate: async () => null,
    rateLimit: null,
    publicUrl: () => 'http://127.0.0.1:8080',
    idempotency: null,
    auditLog: NO_AUDIT_LOG,
    connectionsMax: 100,
    newRequestId: () => 'request-1',
    clock: {
      now: () => 0,
      elapsed: () => 0,
      processorTime: () => 0,
      after(delayMs, callback) {
        if (delayMs === LIMITS.checkIntervalMs) checkConnections = callback;
        else endDrain = callback;
        return () => {};
      },
    },
    log: createLog('silent'),
    metrics: createMetrics(),
    slowClientLimits: LIMITS,
    errorPages: null,
  });
  url = await http.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => http.close());

const UPLOAD = '/v1/uploads/u?expires=1&signature=x';
const ACCOUNT = '{"name":"Any name","email":"a@example.com"}';
const formatHead = (method: string, path: string, length: number, extraHeaders = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${extraHeaders}Content-Length: ${length}\r\n\r\n`;

/** Opens a connection; `peer` is the socket of the server. */
async function openConnection() {
  const accepted = new Promise<Socket>((resolve) => http.server.once('connection', resolve));
  const socket = await openSocket(url);
  const peer = await accepted;
  let sent = 0;
  return {
    socket,
    peer,
    closed: readResponse(socket),
    /** Resolves when the server has read the text. */
    async send(text: string): Promise<void> {
      sent += text.length;
      socket.write(text);
      await expect.poll(() => peer.bytesRead).toBe(sent);
    },
  };
}

function runChecks(times: number): void {
  for (let count = 0; count < times; count += 1) checkConnections();
}

describe('a body that hardly comes gets 400, and the server closes the connection', () => {
  test.each([
    ['of an operation', formatHead('POST', '/v1/accounts', 5000)],
    ['of an upload', formatHead('PUT', UPLOAD, 5000)],
    [
      'in chunks',
      `${formatHead('POST', '/v1/accounts', 0).replace('Content-Length: 0', 'Transfer-Encoding: chunked')}1388\r\n`,
    ],
  ])('%s', async (_, start) => {
    const { socket, peer, send, closed } = await openConnection();
    await send(start);
    for (let count = 0; count < 5; count += 1) {
      await send('x'.repeat(BYTES_PER_CHECK / 10));
      checkConnections();
    }
    expect(peer.destroyed).toBe(false);
    await send('x');
    checkConnections();
    const response = await closed;
    expect(response.status).toBe(400);
    expect(response.text).toContain('came too slowly');
    socket.destroy();
  });

  test('an upload that stops in the middle gets 400 and is not stored', async () => {
    const { send, closed } = await openConnection();
    const before = uploads.length;
    await send(`${formatHead('PUT', UPLOAD, 50_000)}${'x'.repeat(40_000)}`);
    runChecks(7);
    expect((await closed).status).toBe(400);
    await expect.poll(() => uploads.length).toBe(before + 1);
    expect(uploads.at(-1)).toBeTypeOf('string');
  });
});

describe('W15: a client that sends a refused body to its end gets the response, and then the connection closes:', () => {
  const BYTES = 32 * 1024 * 1024;
  test.each([
    ['a body that nobody reads', formatHead('POST', '/v1/nothing', BYTES), 404],
    ['an upload when the disk is full', formatHead('PUT', UPLOAD, BYTES), 503],
    ['the last request of a client', formatHead('PUT', UPLOAD, BYTES, 'Connection: close\r\n'), 503],
    ['a body that is too large', formatHead('POST', '/v1/accounts', BYTES), 400],
  ])('%s', async (_, head, status) => {
    isDiskFull = true;
    const { socket, closed } = await openConnection();
    endDrain = () => {};
    socket.write(head);
    // The last byte never comes.
    await new Promise((resolve) => socket.write(Buffer.alloc(BYTES - 1, 'x'), resolve));
    endDrain();
    const response = await closed;
    isDiskFull = false;
    expect(response.status).toBe(status);
    expect(response.text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
  });

  test('also when the client sends the rest and never ends its side', async () => {
    const accepted = once(http.server, 'connection');
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen: true });
    const [peer]: Socket[] = await accepted;
    const closed = once(peer ?? socket, 'close');
    socket.write(`${formatHead('POST', '/v1/nothing', 2, 'Connection: close\r\n')}x`);
    await once(socket, 'data');
    socket.write('x');
    endDrain();
    await closed;
    socket.destroy();
  });

  test('a body that ends in time leaves the connection open', async () => {
    const { send, closed } = await openConnection();
    await send(`${formatHead('POST', '/v1/nothing', 2)}x`);
    await send('x');
    await send(formatHead('POST', '/v1/accounts', ACCOUNT.length, 'Connection: close\r\n') + ACCOUNT);
    expect((await closed).text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });
});

test('a body at the minimum rate succeeds after any time', async () => {
  const { send, closed } = await openConnection();
  await send(formatHead('PUT', UPLOAD, 30 * BYTES_PER_CHECK, 'Connection: close\r\n'));
  for (let count = 0; count < 30; count += 1) {
    checkConnections();
    await send('x'.repeat(BYTES_PER_CHECK));
  }
  expect((await closed).status).toBe(200);
  expect(uploads.at(-1)).toBe(30 * BYTES_PER_CHECK);
});

test('a body that the server is slow to read succeeds', async () => {
  const { send, closed } = await openConnection();
  const { promise, resolve } = Promise.withResolvers<void>();
  uploadReadable = promise;
  await send(`${formatHead('PUT', UPLOAD, 2, 'Connection: close\r\n')}x`);
  runChecks(20);
  resolve();
  await send('x');
  expect((await closed).status).toBe(200);
});

test('a connection stays open while it waits between two requests with bodies', async () => {
  const { send, closed } = await openConnection();
  await send(formatHead('POST', '/v1/accounts', ACCOUNT.length) + ACCOUNT);
  runChecks(20);
  await send(formatHead('POST', '/v1/accounts', ACCOUNT.length, 'Connection: close\r\n') + ACCOUNT);
  expect((await closed).text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
});

test('an unread response ends with a closed connection', async () => {
  const { socket, peer, closed } = await openConnection();
  socket.pause();
  socket.write('GET /v1/downloads/d?expires=1&signature=x HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect
    .poll(() => {
      checkConnections();
      return peer.destroyed;
    })
    .toBe(true);
  socket.resume();
  expect((await closed).text.length).toBeLessThan(LARGE_BYTES);
});

test.each([
  ['a third of the time', 0, 2],
  ['as long as it needs at 96 kB a second', 96_000, 20],
])('V4: while other requests wait for memory, a body has %s', async (_, bytesPerCheck, times) => {
  let runCheck = (): void => {};
  const server = createServer((request) => request.resume());
  closeSlowClients(server, {
    clock: {
      now: () => 0,
      elapsed: () => 0,
      processorTime: () => 0,
      after(_delay, callback) {
        runCheck = callback;
        return () => {};
      },
    },
    limits: LIMITS,
    isMemoryContended: () => true,
    formatRefusal: (message) => message,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const socket = await openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const closed = readResponse(socket);
  const peer = await accepted;
  const start = formatHead('POST', '/', 10_000_000);
  socket.write(start);
  await expect.poll(() => peer.bytesRead).toBe(start.length);
  for (let check = 1; check <= times; check += 1) {
    const before = peer.bytesRead;
    socket.write('x'.repeat(bytesPerCheck));
    await expect.poll(() => peer.bytesRead).toBe(before + bytesPerCheck);
    runCheck();
    expect(peer.writableEnded, `check ${check}`).toBe(bytesPerCheck === 0 && check === times);
  }
  socket.destroy();
  await closed;
  server.close();
});
