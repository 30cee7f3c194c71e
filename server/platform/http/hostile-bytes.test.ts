/** Requests that attack by an ambiguous length, by cost, or by reflected text. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApplication, expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { type RawResponse, sendRaw } from '../../testing/http/raw-sockets.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
let head: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createApplication(server);
  head = `Host: x\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n`;
});
afterAll(() => server.close());

const NAMED = '{"name":"Any name"}';
const CHUNKS = '13\r\n{"name":"Any name"}\r\n0\r\n\r\n';
const get = (headers: string, path = '/v1/account'): Promise<RawResponse> =>
  sendRaw(server, `GET ${path} HTTP/1.1\r\n${head}${headers}\r\n`);
const post = (headers: string, body: string): Promise<RawResponse> =>
  sendRaw(
    server,
    `POST /v1/applications HTTP/1.1\r\n${head}Content-Type: application/json\r\n${headers}\r\n${body}`,
  );
const applications = async () => (await server.request('GET', '/v1/applications')).body;
const statuses = ({ text }: RawResponse) => text.match(/HTTP\/1\.1 \d+/g);

describe('400 for a body of ambiguous length:', () => {
  test.each([
    ['an unknown encoding', 'Transfer-Encoding: xchunked\r\n', CHUNKS],
    ['chunks inside another encoding', 'Transfer-Encoding: gzip, chunked\r\n', CHUNKS],
    ['chunks that are not the last encoding', 'Transfer-Encoding: chunked, identity\r\n', CHUNKS],
    ['chunks twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', CHUNKS],
    ['chunks with a parameter', 'Transfer-Encoding: chunked;q=1\r\n', CHUNKS],
    ['a tab before the encoding', 'Transfer-Encoding:\x0bchunked\r\n', CHUNKS],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\n', CHUNKS],
    ['a length beside chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', CHUNKS],
    ['a length with a sign', 'Content-Length: +19\r\n', NAMED],
    ['a length in hexadecimal', 'Content-Length: 0x13\r\n', NAMED],
    ['a list of lengths', 'Content-Length: 19, 19\r\n', NAMED],
    ['a length beyond all numbers', `Content-Length: ${'9'.repeat(30)}\r\n`, NAMED],
    ['a chunk beyond all numbers', 'Transfer-Encoding: chunked\r\n', `${'f'.repeat(18)}\r\n{}`],
    ['chunks that end in a line feed', 'Transfer-Encoding: chunked\r\n', CHUNKS.replaceAll('\r\n', '\n')],
    ['a chunk with an extension of 20 kB', 'Transfer-Encoding: chunked\r\n', `13;${'x'.repeat(20_000)}\r\n`],
    [
      'trailers without end',
      'Transfer-Encoding: chunked\r\n',
      `${CHUNKS.slice(0, -2)}${'A: b\r\n'.repeat(20_000)}`,
    ],
  ])('%s', async (_, headers, body) => {
    const before = await applications();
    expect((await post(headers, body)).status).toBe(400);
    expect(await applications()).toEqual(before);
  });

  test('a request hidden in the body of another has no effect', async () => {
    const hidden = `DELETE /v1/applications/${application} HTTP/1.1\r\n${head}\r\n`;
    const length = `Content-Length: ${hidden.length}\r\n\r\n${hidden}`;
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) {
      const response = await sendRaw(server, `${method} /v1/nothing HTTP/1.1\r\n${head}${length}`);
      expect(statuses(response)).toHaveLength(1);
    }
    expectStatus(await server.request('GET', `/v1/applications/${application}`), 200);
  });
});

describe('headers: 400 for', () => {
  test.each([
    ['a second host', 'Host: y\r\n'],
    ['a second token', 'Authorization: Bearer x\r\n'],
    ['a second Idempotency-Key', 'Idempotency-Key: a\r\nIdempotency-Key: b\r\n'],
    ['64 kB in one', `X: ${'y'.repeat(65_536)}\r\n`],
    ['3,000 of them', 'A: b\r\n'.repeat(3000) + 'A: b\r\n'.repeat(3000)],
    ['a folded header', 'X: a\r\n b\r\n'],
    ['a carriage return without a line feed', 'X: a\rAuthorization: b\r\n'],
    ['a name with a space', 'X Y: a\r\n'],
  ])('%s', async (_, headers) => {
    expect((await get(headers)).status).toBe(400);
  });

  test('400 for lines that end in a line feed alone', async () => {
    const bytes = `GET /v1/account HTTP/1.1\n${head.replaceAll('\r', '')}\n`;
    expect((await sendRaw(server, bytes)).status).toBe(400);
  });

  test.each([
    ['Expect: everything\r\n'],
    ['X-HTTP-Method-Override: DELETE\r\nX-Method-Override: DELETE\r\n'],
    ['Upgrade: h2c\r\nHTTP2-Settings: AA\r\n'],
    ['X-Forwarded-Host: evil.example\r\nX-Original-URL: /v1/nothing\r\nX-Rewrite-URL: /v1/nothing\r\n'],
    ['Content-Encoding: gzip\r\nTE: trailers, deflate\r\n'],
    [`Range: bytes=${'0-1,'.repeat(5000)}0-1\r\n`],
    [`Accept: ${'text/markdown;q=0.5,'.repeat(1200)}\r\n`],
  ])('%j changes nothing', async (headers) => {
    const response = await get(headers);
    expect(response.status).toBe(200);
    expect(response.text).toContain('"id":"account-');
  });

  test('a tunnel is not opened', async () => {
    const response = await sendRaw(server, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    expect(response.text).toBe('');
  });

  test('400 for HTTP/2 and HTTP/3 without negotiation', async () => {
    expect((await sendRaw(server, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).status).toBe(400);
    expect((await sendRaw(server, `GET /v1/account HTTP/3.7\r\n${head}\r\n`)).status).toBe(400);
  });
});

describe('time', () => {
  test('entity tags with 30 kB of space between them are parsed in linear time', async () => {
    const startedAt = performance.now();
    const response = await get(`If-None-Match: x${' '.repeat(30_000)}x\r\n`, '/openapi/cloud.json');
    expect(response.status).toBe(200);
    // A quadratic parser took 4 s and blocked all other requests.
    expect(performance.now() - startedAt).toBeLessThan(1500);
  });

  test('10,000 parameters and 32 pipelined requests get responses', async () => {
    expect((await get('', `/v1/applications?${'a&'.repeat(10_000)}`)).status).toBe(400);
    const many = Array.from({ length: 4000 }, (_, index) => `a${index}`).join('&');
    expect((await get('', `/v1/applications?${many}`)).status).toBe(400);
    const one = `GET /v1/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
    const response = await sendRaw(server, `${one.repeat(31)}GET /v1/account HTTP/1.1\r\n${head}\r\n`);
    expect(statuses(response)).toHaveLength(32);
  });
});

describe('a response reflects no harmful part of the request', () => {
  test('a line break in a path becomes no header', async () => {
    const path = '/v1/applications/a%0d%0aX-Evil:%201%0d%0a%0d%0a<script>';
    const response = await server.request('GET', path);
    expectError(response, 404);
    expect(response.headers.get('x-evil')).toBeNull();
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('links contain the URL of the server, whatever the Host header says', async () => {
    const path = `/v1/applications/${application}/runs/uploadurl`;
    for (const line of [`POST ${path}`, `POST http://evil.example${path}`]) {
      const evil = head.replace('Host: x', 'Host: evil.example\r\nX-Forwarded-Host: evil.example');
      const response = await sendRaw(server, `${line} HTTP/1.1\r\n${evil}Content-Length: 0\r\n\r\n`);
      expect(response.status).toBe(200);
      expect(response.text).toContain(`"upload_url":"${server.url}/`);
      expect(response.text).not.toContain('evil');
    }
  });

  test.each([
    '//evil.example/',
    '//evil.example/docs/',
    '/\\evil.example/',
    '/%5cevil.example/',
    '/docs/..//evil.example/',
  ])('%s does not redirect', async (path) => {
    const response = await get('', path);
    expect([400, 404]).toContain(response.status);
    expect(response.text.toLowerCase()).not.toContain('\r\nlocation:');
  });

  test('no other origin may read a response or send a request that needs a preflight', async () => {
    for (const origin of ['https://evil.example', 'null', server.url]) {
      const preflight = { origin, 'access-control-request-method': 'POST' };
      for (const path of ['/v1/account', '/v1/accounts', '/metrics']) {
        const responses = [
          await server.request('OPTIONS', path, { token: null, headers: preflight }),
          await server.request('GET', path, { headers: { origin } }),
        ];
        for (const { headers } of responses)
          expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
    }
  });
});

test('a request without a token may have a body of at most 64 KiB', async () => {
  const body = { name: 'x'.repeat(70_000), email: 'a@example.com' };
  expectError(await server.request('POST', '/v1/accounts', { token: null, body }), 400, '65536 bytes');
  const invite = { invite: 'x'.repeat(70_000) };
  const response = await server.request('POST', '/v1/account/invites/accept', { token: null, body: invite });
  expectError(response, 400, '65536 bytes');
});
