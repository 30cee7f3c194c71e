/** The server closes streams of HTTP/2 that hardly send or read. The clock of each test runs the checks. */
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readHttp2Response } from '../../../testing/http/tls-clients.ts';
import { createPair } from '../../../testing/servers/certificates.ts';
import { createLog } from '../../log.ts';
import { NO_AUDIT_LOG } from '../handlers/audited-actions.ts';
import type { Handlers } from '../handlers/handler.ts';
import { createMetrics } from '../metrics.ts';
import { createHttpServer } from '../server.ts';

/** A body may stand still for five checks and has to send a thousand bytes for each; a response for three. */
const LIMITS = { checkIntervalMs: 1000, bodyTimeoutMs: 5000, responseTimeoutMs: 3000 };
const CHUNK_BYTES = 64 * 1024;
const LARGE_BYTES = 256 * CHUNK_BYTES;
const UPLOAD = { ':method': 'PUT', ':path': '/v1/uploads/u?expires=1&signature=x' };

let http: FastifyInstance;
let session: ClientHttp2Session;
let checkStreams = (): void => {};
/** Bytes that the handler of uploads has received, and the errors of the bodies. */
let received = 0;
/** The upload handler fails after the first bytes. */
let isDiskFull = false;
const errors: string[] = [];
beforeAll(async () => {
  const pair = createPair();
  const served: Partial<Handlers> = {
    createAccount: async () => ({ status: 200, body: {} }),
    async putUpload({ stream }) {
      if (isDiskFull) {
        await once(stream.pipe(new PassThrough()), 'readable');
        stream.unpipe();
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      }
      stream.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      await buffer(stream).catch((error: Error) => {
        errors.push(error.message);
        throw error;
      });
      return { status: 200 };
    },
    getDownload: async () => ({
      content: {
        id: 'large',
        bytes: LARGE_BYTES,
        contentType: 'text/plain',
        open: async () => Readable.from(Array.from({ length: 256 }, () => Buffer.alloc(CHUNK_BYTES))),
      },
    }),
  };
  const handlers: Handlers = Object.assign(Object.create(null), served);
  http = await createHttpServer({
    ...{ handlers, authenticate: async () => null, rateLimit: null, idempotency: null, errorPages: null },
    ...{ publicUrl: () => 'https://127.0.0.1', auditLog: NO_AUDIT_LOG, newRequestId: () => 'request-1' },
    ...{ log: createLog('silent'), metrics: createMetrics(), slowClientLimits: LIMITS },
    servedOperations: ['createAccount', 'putUpload', 'getDownload'],
    connectionsMax: 400,
    clock: {
      ...{ now: () => 0, elapsed: () => 0, processorTime: () => 0 },
      after(_, callback) {
        checkStreams = callback;
        return () => {};
      },
    },
    tls: { current: pair, onChange() {} },
  });
  const url = await http.listen({ host: '127.0.0.1', port: 0 });
  address = { url: url.replace('http:', 'https:'), ca: pair.authority };
});
let address = { url: '', ca: '' };
beforeEach(() => {
  received = 0;
  errors.length = 0;
  session = connect(address.url, { ca: address.ca });
});
afterEach(() => session.destroy());
afterAll(() => http.close());

const open = (headers: Record<string, string>): ClientHttp2Stream => {
  const stream = session.request(headers, { endStream: false });
  stream.on('error', () => {});
  return stream;
};

/** Sends bytes of an upload; resolves when the handler has them. */
async function send(stream: ClientHttp2Stream, bytes: number): Promise<void> {
  const expected = received + bytes;
  stream.write(Buffer.alloc(bytes));
  await expect.poll(() => received).toBe(expected);
}

describe('a body that hardly comes gets 400', () => {
  test('of an upload', async () => {
    const stream = open(UPLOAD);
    const response = readHttp2Response(stream);
    await send(stream, 10);
    for (let count = 0; count < 6; count += 1) checkStreams();
    expect(await response).toMatchObject({ status: 400, text: expect.stringContaining('came too slowly') });
    expect(errors).toEqual([expect.stringContaining('came too slowly')]);
  });

  test('of an operation', async () => {
    const json = { 'content-type': 'application/json', 'content-length': '5000' };
    const stream = open({ ':method': 'POST', ':path': '/v1/accounts', ...json });
    const response = readHttp2Response(stream);
    stream.write('{"name":');
    const first = await Promise.race([response, checkUntilClosed(stream)]);
    expect(first ?? (await response)).toMatchObject({ status: 400 });
  });

  test('in each of ten bodies that together send as much as one has to', async () => {
    const streams = Array.from({ length: 10 }, () => open(UPLOAD));
    const responses = streams.map(readHttp2Response);
    for (const stream of streams) await send(stream, 10);
    const [sender] = streams;
    for (let count = 0; count < 12 && errors.length < 10; count += 1) {
      const expected = received + LIMITS.checkIntervalMs;
      sender?.write(Buffer.alloc(LIMITS.checkIntervalMs));
      await expect.poll(() => errors.length === 10 || received === expected).toBe(true);
      checkStreams();
    }
    expect(new Set((await Promise.all(responses)).map(({ status }) => status))).toEqual(new Set([400]));
  });
});

/** Runs checks until the stream is closed. */
async function checkUntilClosed(stream: ClientHttp2Stream): Promise<undefined> {
  await expect
    .poll(() => {
      checkStreams();
      return stream.closed;
    })
    .toBe(true);
  return undefined;
}

test('W15: a stream whose refused body does not end closes with its response, and its session stays open', async () => {
  isDiskFull = true;
  const stream = session.request(UPLOAD);
  const closed = once(stream, 'close');
  stream.write('x');
  expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 503 });
  isDiskFull = false;
  stream.resume();
  await once(stream, 'end');
  await closed;
  expect([stream.rstCode, session.closed]).toEqual([constants.NGHTTP2_NO_ERROR, false]);
});

test('a body at the minimum rate succeeds after any time', async () => {
  const stream = open(UPLOAD);
  const response = readHttp2Response(stream);
  for (let count = 0; count < 30; count += 1) {
    await send(stream, LIMITS.checkIntervalMs);
    checkStreams();
  }
  stream.end();
  expect((await response).status).toBe(200);
});

test('an unread response ends with a reset of its stream, and its session stays open', async () => {
  const stream = open({ ':path': '/v1/downloads/d?expires=1&signature=x' });
  stream.end();
  await new Promise((resolve) => stream.once('response', resolve));
  await checkUntilClosed(stream);
  expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
  const other = readHttp2Response(session.request({ ':path': '/v1/nothing' }));
  expect((await other).status).toBe(404);
});

test('a response that is read slowly succeeds', async () => {
  const stream = open({ ':path': '/v1/downloads/d?expires=1&signature=x' });
  stream.end();
  let bytes = 0;
  for await (const chunk of stream) {
    const before = Math.floor(bytes / (16 * CHUNK_BYTES));
    bytes += chunk.length;
    if (Math.floor(bytes / (16 * CHUNK_BYTES)) > before) checkStreams();
  }
  expect(bytes).toBe(LARGE_BYTES);
});
