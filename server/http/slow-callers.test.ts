/** Callers who hold a connection and hardly use it are dropped; those on a slow line are not. */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { openSocket, readAll } from '../testing/sockets.ts';
import type { Handlers } from './handler.ts';
import { createMetrics } from './metrics.ts';
import { createHttp } from './server.ts';

const BODY_MS = 200;
const LARGE = 64 * 1024 * 1024;
let http: FastifyInstance;
let url: string;
const taken: number[] = [];
/** What came of uploads: their bytes, or why there are none. */
const uploads: (number | string)[] = [];
beforeAll(async () => {
  const handlers = {
    async createAccount({ body }) {
      taken.push(JSON.stringify(body).length);
      return { status: 201, raw: '{}', contentType: 'application/json' } as never;
    },
    async putUpload({ stream }) {
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
  http = await createHttp({
    handlers,
    only: ['createAccount', 'putUpload', 'getDownload'],
    authenticate: async () => null,
    rateLimit: null,
    idempotency: null,
    clock: systemClock,
    log: createLog('silent'),
    metrics: createMetrics(),
    patience: { everyMs: 20, bodyMs: BODY_MS, answerMs: 400 },
    notFoundPage: null,
  });
  url = await http.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => http.close());

const head = (method: string, path: string, length: number): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
const ACCOUNT = '{"name":"Any name","email":"a@example.com"}';

/** Writes so many bytes again and again, a byte every `ms` at the average, while the connection is open. */
async function trickle(socket: Socket, text: string, bytes: number, ms: number): Promise<void> {
  for (let at = 0; at < text.length && !socket.destroyed; at += bytes) {
    socket.write(text.slice(at, at + bytes));
    await setTimeout(bytes * ms);
  }
}

describe('a body that hardly comes is answered with 400 and the end of the connection', () => {
  test.each([
    ['of an operation', head('POST', '/v1/accounts', 5000)],
    ['of an upload', head('PUT', '/v1/uploads/u?expires=1&signature=x', 5000)],
    ['in chunks', head('POST', '/v1/accounts', 0).replace('Content-Length: 0', 'Transfer-Encoding: chunked')],
  ])('%s', async (_, start) => {
    const socket = await openSocket(url);
    const closed = readAll(socket);
    socket.write(start);
    if (start.includes('chunked')) socket.write('1388\r\n');
    await Promise.all([trickle(socket, 'x'.repeat(400), 1, 20), closed]);
    const answer = await closed;
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('came too slowly');
  });

  test('and so is one that stops in the middle, of which nothing is taken', async () => {
    const socket = await openSocket(url);
    const closed = readAll(socket);
    const before = uploads.length;
    socket.write(`${head('PUT', '/v1/uploads/u?expires=1&signature=x', 5000)}${'x'.repeat(4000)}`);
    expect((await closed).status).toBe(400);
    await expect.poll(() => uploads.length).toBe(before + 1);
    expect(uploads.at(-1)).toBeTypeOf('string');
  });
});

test('a body that nobody reads, because it was refused, does not hold the connection', async () => {
  const socket = await openSocket(url);
  const closed = readAll(socket);
  socket.write(`${head('POST', '/v1/nothing', 5000)}x`);
  const answer = await closed;
  expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
});

test('a body on a slow line comes in, however long it takes', async () => {
  const socket = await openSocket(url);
  const closed = readAll(socket);
  // Twice the pace, for five times as long as a body may stand still.
  const bytes = 10 * BODY_MS;
  socket.write(
    head('PUT', '/v1/uploads/u?expires=1&signature=x', bytes).replace(
      '\r\n\r\n',
      '\r\nConnection: close\r\n\r\n',
    ),
  );
  await trickle(socket, 'x'.repeat(bytes), 20, 0.5);
  expect((await closed).status).toBe(200);
  expect(uploads.at(-1)).toBe(bytes);
});

test('a connection that waits between two requests with bodies is left alone', async () => {
  const socket = await openSocket(url);
  const closed = readAll(socket);
  socket.write(head('POST', '/v1/accounts', ACCOUNT.length) + ACCOUNT);
  await expect.poll(() => taken.length).toBe(1);
  await setTimeout(2 * BODY_MS);
  socket.write(
    head('POST', '/v1/accounts', ACCOUNT.length).replace('Host', 'Connection: close\r\nHost') + ACCOUNT,
  );
  expect((await closed).text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 201']);
});

test('an answer that nobody takes is given up', async () => {
  const socket = await openSocket(url);
  socket.pause();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  socket.write('GET /v1/downloads/d?expires=1&signature=x HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => connections()).toBe(1);
  await expect.poll(() => connections()).toBe(0);
  socket.resume();
  await closed;
});

function connections(): Promise<number> {
  return new Promise((resolve) => {
    http.server.getConnections((_, count) => resolve(count));
  });
}
