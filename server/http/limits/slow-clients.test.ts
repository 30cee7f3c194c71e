/** Callers who hold a connection and hardly use it are dropped; those on a slow line are not. The server looks when told. */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../log.ts';
import { openSocket, readResponse } from '../../testing/http/raw-sockets.ts';
import { NO_AUDIT_LOG } from '../handlers/audited-actions.ts';
import type { Handlers } from '../handlers/handler.ts';
import { createMetrics } from '../metrics.ts';
import { createHttpServer } from '../server.ts';
import { closeSlowClients } from './slow-clients.ts';

/** A body may stand still for five looks, and has to bring a thousand bytes for each; an answer for three. */
const PATIENCE = { checkIntervalMs: 1000, bodyTimeoutMs: 5000, responseTimeoutMs: 3000 };
const PACE = 1000;
const LARGE = 64 * 1024 * 1024;

let http: FastifyInstance;
let url: string;
let look = (): void => {};
/** What came of uploads: their bytes, or why there are none. */
const uploads: (number | string)[] = [];
/** What the next upload waits for before it is read. */
let ready = Promise.resolve();
beforeAll(async () => {
  const handlers = {
    createAccount: async () => ({ status: 200, raw: '{}', contentType: 'application/json' }),
    async putUpload({ stream }) {
      await ready;
      uploads.push(await buffer(stream).then(({ length }) => length, String));
      return { status: 200 };
    },
    getDownload: async () => ({
      content: {
        id: 'large',
        bytes: LARGE,
        contentType: 'text/plain',
        open: async () => Readable.from(Array.from({ length: 1024 }, () => Buffer.alloc(LARGE / 1024))),
      },
    }),
  } as Partial<Handlers> as Handlers;
  http = await createHttpServer({
    handlers,
    servedOperations: ['createAccount', 'putUpload', 'getDownload'],
    authenticate: async () => null,
    rateLimit: null,
    idempotency: null,
    auditLog: NO_AUDIT_LOG,
    connectionsMax: 100,
    newRequestId: () => 'request-1',
    clock: {
      now: () => 0,
      elapsed: () => 0,
      after(_, callback) {
        look = callback;
        return () => {};
      },
    },
    log: createLog('silent'),
    metrics: createMetrics(),
    slowClientLimits: PATIENCE,
    errorPages: null,
  });
  url = await http.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => http.close());

const UPLOAD = '/v1/uploads/u?expires=1&signature=x';
const ACCOUNT = '{"name":"Any name","email":"a@example.com"}';
const head = (method: string, path: string, length: number, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}Content-Length: ${length}\r\n\r\n`;

/** A connection, and what the server has of it. */
async function connection() {
  const accepted = new Promise<Socket>((resolve) => http.server.once('connection', resolve));
  const socket = await openSocket(url);
  const peer = await accepted;
  let sent = 0;
  return {
    socket,
    peer,
    closed: readResponse(socket),
    /** Returns when the server has read it. */
    async send(text: string): Promise<void> {
      sent += text.length;
      socket.write(text);
      await expect.poll(() => peer.bytesRead).toBe(sent);
    },
  };
}

function looks(times: number): void {
  for (let left = times; left > 0; left -= 1) look();
}

describe('a body that hardly comes is answered with 400 and the end of the connection', () => {
  test.each([
    ['of an operation', head('POST', '/v1/accounts', 5000)],
    ['of an upload', head('PUT', UPLOAD, 5000)],
    [
      'in chunks',
      `${head('POST', '/v1/accounts', 0).replace('Content-Length: 0', 'Transfer-Encoding: chunked')}1388\r\n`,
    ],
  ])('%s', async (_, start) => {
    const { socket, peer, send, closed } = await connection();
    await send(start);
    for (let left = 5; left > 0; left -= 1) {
      await send('x'.repeat(PACE / 10));
      look();
    }
    expect(peer.destroyed).toBe(false);
    await send('x');
    look();
    const answer = await closed;
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('came too slowly');
    socket.destroy();
  });

  test('and so is one that stops in the middle, of which nothing is taken', async () => {
    const { send, closed } = await connection();
    const before = uploads.length;
    await send(`${head('PUT', UPLOAD, 50_000)}${'x'.repeat(40_000)}`);
    looks(7);
    expect((await closed).status).toBe(400);
    await expect.poll(() => uploads.length).toBe(before + 1);
    expect(uploads.at(-1)).toBeTypeOf('string');
  });
});

test('a body that nobody reads, because it was refused, does not hold the connection', async () => {
  const { send, closed } = await connection();
  await send(`${head('POST', '/v1/nothing', 5000)}x`);
  looks(6);
  const { text } = await closed;
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
});

test('a body on a slow line comes in, however long it takes', async () => {
  const { send, closed } = await connection();
  await send(head('PUT', UPLOAD, 30 * PACE, 'Connection: close\r\n'));
  for (let left = 30; left > 0; left -= 1) {
    look();
    await send('x'.repeat(PACE));
  }
  expect((await closed).status).toBe(200);
  expect(uploads.at(-1)).toBe(30 * PACE);
});

test('a body that the server itself is slow to read is waited for', async () => {
  const { send, closed } = await connection();
  const { promise, resolve } = Promise.withResolvers<void>();
  ready = promise;
  await send(`${head('PUT', UPLOAD, 2, 'Connection: close\r\n')}x`);
  looks(20);
  resolve();
  await send('x');
  expect((await closed).status).toBe(200);
});

test('a connection that waits between two requests with bodies is left alone', async () => {
  const { send, closed } = await connection();
  await send(head('POST', '/v1/accounts', ACCOUNT.length) + ACCOUNT);
  looks(20);
  await send(head('POST', '/v1/accounts', ACCOUNT.length, 'Connection: close\r\n') + ACCOUNT);
  expect((await closed).text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
});

test('an answer that nobody takes is given up', async () => {
  const { socket, peer, closed } = await connection();
  socket.pause();
  socket.write('GET /v1/downloads/d?expires=1&signature=x HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect
    .poll(() => {
      look();
      return peer.destroyed;
    })
    .toBe(true);
  socket.resume();
  expect((await closed).text.length).toBeLessThan(LARGE);
});

test.each([
  ['a third of the time', 0, 2],
  ['as long as it needs at 96 kB a second', 96_000, 20],
])('V4: while other requests wait for memory a body has %s', async (_, perLook, times) => {
  let lookNow = (): void => {};
  const server = createServer((request) => request.resume());
  closeSlowClients(server, {
    clock: {
      now: () => 0,
      elapsed: () => 0,
      after(_delay, callback) {
        lookNow = callback;
        return () => {};
      },
    },
    patience: PATIENCE,
    isShort: () => true,
    refusal: (sentence) => sentence,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const socket = await openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const closed = readResponse(socket);
  const peer = await accepted;
  const start = head('POST', '/', 10_000_000);
  socket.write(start);
  await expect.poll(() => peer.bytesRead).toBe(start.length);
  for (let looked = 1; looked <= times; looked += 1) {
    const before = peer.bytesRead;
    socket.write('x'.repeat(perLook));
    await expect.poll(() => peer.bytesRead).toBe(before + perLook);
    lookNow();
    expect(peer.writableEnded, `look ${looked}`).toBe(perLook === 0 && looked === times);
  }
  socket.destroy();
  await closed;
  server.close();
});
