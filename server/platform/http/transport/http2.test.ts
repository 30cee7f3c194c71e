/** HTTP/2 through the front door: the same results, limits and refusals as over HTTP/1.1. */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { type ClientHttp2Session, constants, type OutgoingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { REQUEST_BODY_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait } from '../../../testing/fixtures/apps.ts';
import { createVersion, expectStatus } from '../../../testing/fixtures/resources.ts';
import { openStream } from '../../../testing/http/event-streams.ts';
import {
  type Http2Response,
  openHttp2Session,
  openHttp2Stream,
  readHttp2Response,
  requestHttp2,
} from '../../../testing/http/tls-clients.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';
import { allotStreams } from './http2-server.ts';

let server: TestServer;
let session: ClientHttp2Session;
let application: string;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_TLS: 'self-signed' } });
  session = await openHttp2Session(server.url);
  application = await createVersion(server);
});
afterAll(async () => {
  session.destroy();
  await server.close();
});

const request = (headers: OutgoingHttpHeaders, body?: string | Buffer): Promise<Http2Response> =>
  requestHttp2(session, server, headers, body);
async function requestUpload(): Promise<Upload> {
  return JSON.parse((await server.request('POST', `/v1/applications/${application}/runs/uploadurl`)).text);
}
const JSON_TYPE = { 'content-type': 'application/json' };
const parsePath = (url: string): string => url.slice(server.url.length);

test('an operation has the same response over HTTP/1.1 and HTTP/2', async () => {
  expect(server.url).toMatch(/^https:/);
  const first = await server.request('GET', '/v1/applications');
  const second = await request({ ':path': '/v1/applications' });
  expect([second.status, second.text]).toEqual([200, first.text]);
  expect(second.headers['x-content-type-options']).toBe('nosniff');
});

test('a body without a stated length creates a resource', async () => {
  const head = { ':method': 'POST', ':path': '/v1/applications', ...JSON_TYPE };
  const created = await request(head, '{"id": "over-http2", "name": "Over HTTP/2"}');
  expect(created.status, created.text).toBe(201);
  expectStatus(await server.request('GET', '/v1/applications/over-http2'), 200);
});

test('an upload of several megabytes becomes a run, and a range of its output is downloaded', async () => {
  const upload = await requestUpload();
  const input = JSON.stringify({ text: randomBytes(2_000_000).toString('hex') });
  const put = await request({ ':method': 'PUT', ':path': parsePath(upload.upload_url) }, input);
  expect(put.status, put.text).toBe(200);
  const run = await createRunAndWait(server, application, { body: { upload_id: upload.upload_id } });
  const path = `/v1/applications/${application}/runs/${run.id}/input?format=url`;
  const { url }: { url: string } = JSON.parse((await server.request('GET', path)).text);
  expect(url).toMatch(/^https:/);
  const range = await request({ ':path': parsePath(url), range: 'bytes=1000-2999' });
  expect([range.status, range.text]).toEqual([206, input.slice(1000, 3000)]);
  const head = await request({ ':method': 'HEAD', ':path': parsePath(url) });
  expect([head.status, head.headers['content-length'], head.text]).toEqual([200, `${input.length}`, '']);
});

test('a stream of events shares its session with other requests, and ends when the client cancels it', async () => {
  const stream = openHttp2Stream(session, server, { ':path': '/v1/account/events' });
  const chunks: string[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  await expect.poll(() => chunks.join('')).toContain('event: ');
  expect((await request({ ':path': '/v1/account' })).status).toBe(200);
  expect(chunks[0]).toContain('retry: 1000');
  stream.close();
  await new Promise<void>((resolve) => stream.once('close', () => resolve()));
  const http1 = await openStream(server, '/v1/account/events');
  expect((await http1.next())?.event).toBe('runs');
  await http1.close();
});

test('a session of the console has a cookie that browsers send over TLS alone', async () => {
  const ticket = await server.request('POST', '/v1/account/sign-in-links');
  const { url }: { url: string } = JSON.parse(ticket.text);
  const secret = new URL(url).searchParams.get('ticket');
  const headers = { 'x-switchyard-console': '1', origin: server.url };
  const response = await request(
    { ':method': 'POST', ':path': '/v1/account/sessions', authorization: '', ...JSON_TYPE, ...headers },
    JSON.stringify({ ticket: secret }),
  );
  expect(response.status, response.text).toBe(201);
  const cookie = String(response.headers['set-cookie']);
  expect(cookie).toMatch(/^__Host-switchyard_session_\d+=.*; Path=\/; .*; Secure$/);
  expect(cookie).not.toContain('Domain');
  const account = await request({
    ':path': '/v1/account',
    authorization: undefined,
    cookie: cookie.split(';')[0] ?? '',
    ...headers,
  });
  expect(account.status, account.text).toBe(200);
});

describe('a refusal', () => {
  const post = { ':method': 'POST', ':path': '/v1/applications', ...JSON_TYPE };
  test.each<[string, Record<string, string>, string | Buffer | undefined, RegExp]>([
    ['an unknown path', { ':path': '/v1/nothing' }, undefined, /^404 .*There is nothing/],
    [
      'a Host header that differs',
      { ':path': '/v1/account', ':authority': 'one', host: 'other' },
      undefined,
      /^400 .*one host/,
    ],
    ['invalid JSON', post, '{', /^400 .*JSON/],
    [
      'a body above the limit',
      { ...post, ':path': '/v1/applications/a/runs' },
      Buffer.alloc(REQUEST_BODY_BYTES_MAX + 1, ' '),
      /^400 .*too large/,
    ],
    ['a missing token', { ':path': '/v1/account', authorization: '' }, undefined, /^401 .*Authorization/],
  ])('of %s has its sentence', async (_, headers, body, expected) => {
    const response = await request(headers, body);
    expect(`${response.status} ${response.text}`).toMatch(expected);
    expect((await request({ ':path': '/v1/account' })).status).toBe(200);
  });

  test('of headers above the limit closes the stream alone', async () => {
    const { status, resetCode } = await request({ ':path': '/v1/account', 'x-long': 'x'.repeat(40_000) });
    expect([status, resetCode]).not.toContain(200);
    const other = await openHttp2Session(server.url);
    expect((await requestHttp2(other, server, { ':path': '/v1/account' })).status).toBe(200);
    other.destroy();
  });
});

test('an upload that its caller cancels is not stored', async () => {
  const upload = await requestUpload();
  const stream = openHttp2Stream(session, server, {
    ':method': 'PUT',
    ':path': parsePath(upload.upload_url),
    'content-length': '5000',
  });
  stream.write('x'.repeat(1000));
  stream.close(constants.NGHTTP2_CANCEL);
  await readHttp2Response(stream);
  const run = await server.request('POST', `/v1/applications/${application}/runs`, {
    body: { upload_id: upload.upload_id },
  });
  expect(run.status, run.text).toBe(400);
});

test.each<[string, 'reset' | 'cut off']>([
  ['PUT', 'reset'],
  ['PUT', 'cut off'],
  ['PATCH', 'reset'],
  ['PATCH', 'cut off'],
])('a %s of unknown length that is %s in its body is not complete', async (method, end) => {
  const path = parsePath((await requestUpload()).upload_url);
  const client = openRawSession();
  const headers = { ':method': method, ':scheme': 'https', ':path': path, ':authority': 'x' };
  const fields = { ...headers, 'upload-offset': '0', 'upload-complete': '?1' };
  client.write(formatFrame(FRAME_HEADERS, END_HEADERS, 1, encodeHeaders(fields)));
  client.write(formatFrame(FRAME_DATA, 0, 1, Buffer.alloc(1000, 'x')));
  const listIncoming = () => readdirSync(join(server.dataFolder, 'blobs', 'incoming'));
  await expect.poll(() => listIncoming().length).toBe(1);
  // The client of the platform ends the body before it resets the stream.
  if (end === 'reset') client.write(formatFrame(FRAME_RST_STREAM, 0, 1, CANCEL));
  else client.destroy();
  await expect.poll(() => listIncoming().length).toBe(0);
  client.destroy();
  const state = await request({ ':path': path });
  // The server keeps the bytes of a part, and none of a PUT.
  expect(JSON.parse(state.text)).toEqual({ offset: method === 'PUT' ? 0 : 1000, complete: false });
});

test('400 requests of one session at once all get their response', async () => {
  const responses = await Promise.all(Array.from({ length: 400 }, () => request({ ':path': '/v1/account' })));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
});

test('a rapid reset costs the caller its session and nobody else', async () => {
  const attacker = openRawSession();
  const received: Buffer[] = [];
  attacker.on('data', (chunk: Buffer) => received.push(chunk));
  const closed = new Promise<void>((resolve) => attacker.once('close', () => resolve()));
  // GET https://x/ in HPACK: three entries of the static table, and a literal :authority.
  const headers = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x78]);
  for (let stream = 1; stream < 6_000; stream += 2) {
    attacker.write(formatFrame(FRAME_HEADERS, END_STREAM_AND_HEADERS, stream, headers));
    attacker.write(formatFrame(FRAME_RST_STREAM, 0, stream, CANCEL));
  }
  await closed;
  expect(
    Buffer.concat(received).includes(formatFrame(FRAME_GOAWAY, 0, 0, Buffer.alloc(0)).subarray(3, 9)),
  ).toBe(true);
  expect((await request({ ':path': '/v1/account' })).status).toBe(200);
});

const FRAME_DATA = 0;
const FRAME_HEADERS = 1;
const FRAME_RST_STREAM = 3;
const FRAME_SETTINGS = 4;
const FRAME_GOAWAY = 7;
const END_HEADERS = 4;
const END_STREAM_AND_HEADERS = 5;
const CANCEL = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);

/** Opens a connection on which a test writes frames. */
function openRawSession(): TLSSocket {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(formatFrame(FRAME_SETTINGS, 0, 0, Buffer.alloc(0)));
  return socket;
}

/** Encodes fields in HPACK as literals without an index (RFC 7541, section 6.2.2). */
function encodeHeaders(fields: Record<string, string>): Buffer {
  const encodeText = (text: string): Buffer[] => {
    // The prefix of an integer has 7 bits; the tests have no longer text than two bytes can say.
    const length = text.length < 127 ? [text.length] : [127, ...encodeRest(text.length - 127)];
    return [Buffer.from(length), Buffer.from(text)];
  };
  const encodeRest = (rest: number): number[] => (rest < 128 ? [rest] : [(rest & 127) | 128, rest >> 7]);
  return Buffer.concat(
    Object.entries(fields).flatMap((field) => [Buffer.from([0]), ...field.flatMap(encodeText)]),
  );
}

/** Formats a frame of HTTP/2 (RFC 9113, section 4.1). */
function formatFrame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

test.each([
  [0, 1, 4096, false, 100],
  [56, 5, 4096, false, 80],
  [156, 5, 4096, false, 40],
  [600, 20, 4096, false, 8],
  [600, 100, 4096, false, 2],
  [600, 400, 4096, false, 1],
  [600, 20, 4096, true, 32],
  [600, 200, 4096, true, 10],
  [600, 1000, 4096, true, 8],
  [0, 1, 16, false, 1],
])(
  'A10: with %i streams allotted to %i sessions and %i connections, a session (trusted: %s) gets %i',
  (...row) => {
    const [allotted, sessions, connectionsMax, isTrusted, streams] = row;
    expect(allotStreams({ allotted, sessions, connectionsMax }, isTrusted)).toBe(streams);
  },
);
