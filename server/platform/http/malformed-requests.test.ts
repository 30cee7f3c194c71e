/** Malformed requests, and valid ones at the limits: each gets a response of the contract, never a 500. */
import { gzipSync } from 'node:zlib';
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createVersion, expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { sendRaw } from '../../testing/http/raw-sockets.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../testing/servers/worker-process.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createVersion(server);
});
afterAll(() => server.close());

const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  server.request('POST', '/v1/applications', { body, headers });
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const get = (path: string) => server.request('GET', path);

describe('W12: an unknown id in a body is a 400 that names the field:', () => {
  test('the applications of a worker token', async () => {
    const body = { name: 'Any name', applications: [application, 'none'] };
    const response = await server.request('POST', '/v1/account/worker-tokens', { body });
    expectError(
      response,
      400,
      'applications.1 is "none"; it must be the id of an application of your account.',
    );
  });

  test('the application of a published app', async () => {
    const account = (await get('/v1/account')).body as { id: string };
    const body = { id: 'any', ref_app_id: 'none', title: 'Any title' };
    const path = `/v1/marketplace/partners/${account.id}/apps`;
    expectError(await server.request('POST', path, { body }), 400, 'ref_app_id is "none"; it must be');
  });
});

describe('a body', () => {
  test.each([
    ['a truncated object', '{"name":', 'not valid JSON'],
    ['single quotes', "{'name':'Any name'}", 'not valid JSON'],
    ['NaN', '{"name":NaN}', 'not valid JSON'],
    ['two values', '{"name":"Any name"}{}', 'not valid JSON'],
    ['a zero byte', '{"name":"Any name"\0}', 'not valid JSON'],
    ['an array', '[]', 'The body is a JSON array of 0; it must be a JSON object'],
    ['a text', '"hello"', 'The body is "hello"; it must be a JSON object'],
    ['null', 'null', 'The body is null; it must be a JSON object'],
    ['nothing', '', 'empty; it must be a JSON object'],
  ])('that is %s is a 400', async (_, body, message) => {
    expectError(await post(body), 400, message);
  });

  test('that is not valid UTF-8 is a 400', async () => {
    const latin = Buffer.from('{"name":"Zürich"}', 'latin1');
    expectError(await post(latin), 400, 'not valid UTF-8');
  });

  const NAMED = '{"name":"Any name"}';
  test.each<[string, Record<string, string>, string | Uint8Array, string]>([
    ['a Content-Encoding', { 'content-encoding': 'gzip' }, gzipSync(NAMED), 'Content-Encoding is "gzip"'],
    ['two encodings', { 'content-encoding': 'identity, br' }, NAMED, 'Content-Encoding is "identity, br"'],
    ['a charset', { 'content-type': 'application/json; charset=utf-16' }, utf16(NAMED), 'is "utf-16"'],
    ['a quoted one', { 'content-type': 'application/json;a=b; Charset="latin1"' }, NAMED, 'is "latin1"'],
    ['gzip without a header', {}, gzipSync(NAMED), 'looks like gzip'],
    ['UTF-16 without a header', {}, utf16(NAMED), 'looks like UTF-16 LE'],
    ['UTF-16 with a mark', {}, utf16(`\ufeff${NAMED}`), 'looks like UTF-16 LE'],
    ['UTF-16 in the other order', {}, utf16(`\ufeff${NAMED}`).swap16(), 'looks like UTF-16 BE'],
    ['that order without a mark', {}, utf16(NAMED).swap16(), 'looks like UTF-16 BE'],
    ['UTF-32', {}, Buffer.from([0, 0, 0, 0x7b]), 'looks like UTF-32 BE'],
  ])('W9: with %s is a 415 that names the encoding', async (_, headers, body, message) => {
    expectError(await post(body, headers), 415, message);
  });

  test('W9: without such an encoding is accepted, and needs to be readable even where it is ignored', async () => {
    expectStatus(await post(NAMED, { 'content-encoding': 'identity' }), 201);
    expectStatus(await post(NAMED, { 'content-type': 'application/json; charset="UTF-8"' }), 201);
    const path = `/v1/applications/${application}/runs/uploadurl`;
    const headers = { 'content-encoding': 'gzip' };
    expectStatus(await server.request('POST', path, { headers }), 200);
    const body = gzipSync(NAMED);
    expectError(await server.request('DELETE', '/v1/applications/none', { body }), 400, 'looks like gzip');
  });

  test('that begins with a byte order mark is accepted', async () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"name":"Any name"}')]);
    expectStatus(await post(body), 201);
  });

  test.each([
    ['text/plain', 400],
    ['application/x-www-form-urlencoded', 400],
    ['multipart/form-data; boundary=x', 400],
    ['application/jsonx', 400],
    ['application/json-seq', 400],
    ['json', 400],
    ['', 400],
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['APPLICATION/JSON', 201],
    ['application/merge-patch+json', 201],
  ])('with the content type %j gets a %i', async (type, status) => {
    const response = await post('{"name":"Any name"}', { 'content-type': type });
    if (status === 400) expectError(response, 400, 'application/json');
    else expectStatus(response, 201);
  });

  test('that is absent is accepted by an operation without a required body, even with a JSON content type', async () => {
    const headers = { 'content-type': 'application/json' };
    const none = { headers };
    expectStatus(await server.request('POST', `/v1/applications/${application}/runs/uploadurl`, none), 200);
    expectStatus(await server.request('GET', '/v1/account', none), 200);
    const instance = uniqueId('i');
    const body = { id: instance, name: 'Any name', version_id: 'v1' };
    expectStatus(await server.request('POST', `/v1/applications/${application}/instances`, { body }), 201);
    const path = `/v1/applications/${application}/instances/${instance}`;
    expectStatus(await server.request('DELETE', path, none), 204);
  });

  test('of null is refused by an operation without a required body', async () => {
    for (const body of ['null', '[]', '7']) {
      const response = await server.request('POST', `/v1/applications/${application}/runs/uploadurl`, {
        body,
      });
      expectError(response, 400, 'must be a JSON object');
    }
  });

  test('larger than the limit of its operation is a 400 that states the limit', async () => {
    const body = `{"name":"${'x'.repeat(6_300_000)}"}`;
    const run = await server.request('POST', `/v1/applications/${application}/runs`, { body });
    expectError(run, 400, '6291456 bytes', 'upload URL');
    expectError(await post(body), 400, '262144 bytes');
  });

  test('with a Content-Length above the limit is refused before it is sent', async () => {
    const head = `POST /v1/applications HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\nConnection: close\r\n\r\n{`;
    expect((await sendRaw(server, head)).status).toBe(400);
  });

  test('with a megabyte in one field is refused with a short message', async () => {
    const responses = [
      await post(JSON.stringify({ name: 'x'.repeat(1_000_000) })),
      await post(JSON.stringify({ name: 'Any name', ['y'.repeat(1_000_000)]: 1 })),
      await post(JSON.stringify({ name: 'Any name', is_pipeline: 'z'.repeat(1_000_000) })),
    ];
    for (const response of responses) {
      expectError(response, 400);
      expect(response.text.length).toBeLessThan(500);
    }
  });

  test('of 10,000 nested levels is validated like any other', async () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    expectError(await post(`{"name":${deep}}`), 400, 'name is a JSON array of 1');
    expectError(await post(`{"name":"Any name","extra":${deep}}`), 400, 'extra is not a field');
    expectStatus(await post(`{"name":"Any name","type":${deep}}`), 201);
    const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    expectError(
      await post(`{"name":"Any name","description":${objects}}`),
      400,
      'description is a JSON object',
    );
    const halves = `{"name":"Any name","type":${'['.repeat(10_000)}"\\ud800"${']'.repeat(10_000)}}`;
    expectStatus(await post(halves), 201);
  });

  test('of 100,000 keys is validated like any other', async () => {
    const keys = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, 1]));
    const many = keys(100_000);
    expectError(await post(JSON.stringify({ name: 'Any name', ...keys(20_000) })), 400, 'is not a field');
    expectStatus(await post(JSON.stringify({ name: 'Any name', type: keys(20_000) })), 201);
    const body = { input: {}, options: many };
    expectError(
      await server.request('POST', `/v1/applications/${application}/runs`, { body }),
      400,
      '100000',
    );
  });

  test('with keys of Object.prototype is validated by its own keys only', async () => {
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expectError(await post(`{"name":"Any name","${key}":{"description":"x"}}`), 400, key);
    }
    expectError(await post('{"__proto__":{"name":"Any name"}}'), 400, '__proto__');
    const put = await server.request('PUT', `/v1/applications/${application}`, {
      body: '{"__proto__":{"name":"x"},"constructor":1}',
    });
    expectStatus(put, 200);
  });

  test('with huge numbers is validated like any other', async () => {
    for (const value of ['1e999', '-1e999', '123456789012345678901234567890', '1e-999', '-0']) {
      const body = `{"name":"Any name","version_id":"v1","configuration":{"queuing":{"priority":${value}}}}`;
      const response = await server.request('POST', `/v1/applications/${application}/instances`, { body });
      expectError(response, 400, 'configuration.queuing.priority');
    }
  });

  test('with a duplicate field uses the last value', async () => {
    const response = await post('{"name":"First name","name":"Second name"}');
    expect(response.body).toMatchObject({ name: 'Second name' });
  });
});

describe('a text', () => {
  test('with a NUL character is a 400 where it would be stored', async () => {
    expectError(await post('{"name":"Any\\u0000name"}'), 400, 'NUL');
    expectError(await post('{"name":"Any name","description":"a\\u0000"}'), 400, 'NUL');
    const body = { name: 'Any name', role: 'viewer', user_email: 'a\0@example.com' };
    expectError(await server.request('POST', '/v1/account/keys', { body }), 400, 'NUL');
    const run = { input: {}, name: 'a\0b' };
    expectError(
      await server.request('POST', `/v1/applications/${application}/runs`, { body: run }),
      400,
      'NUL',
    );
  });

  test('with an unpaired surrogate is returned as it is stored', async () => {
    const id = uniqueId('halves');
    const response = await post(`{"id":"${id}","name":"\\ud83dtruck\\udE9A","description":"\\uD83D\\uDE9A"}`);
    expectStatus(response, 201);
    expect(response.body).toMatchObject({ name: '\uFFFDtruck\uFFFD', description: '🚚' });
    expect((await get(`/v1/applications/${id}`)).body).toEqual(response.body);
  });

  test.each<[string, string, object]>([
    ['client_name', '/v1/account/device-authorizations', { client_name: 'build\n7' }],
    ['name', '/v1/account/keys', { name: 'night\u202ely', role: 'viewer' }],
    ['user_email', '/v1/account/keys', { name: 'nightly', role: 'viewer', user_email: 'ada\u001b[2J' }],
    ['email', '/v1/account/members', { email: '<ada@example.com', role: 'viewer' }],
    ['name', '/v1/account/members', { email: 'ada@example.com', role: 'viewer', name: 'Ada\u2066' }],
    ['name', '/v1/account/worker-tokens', { name: 'Solver\u0085nodes' }],
  ])('A14: 400 for a %s at %s that hides or reorders text', async (field, path, body) => {
    const response = await server.request('POST', path, { body });
    expectError(response, 400, `${field} is`);
  });

  test('of any visible characters is stored unchanged', async () => {
    const name = '\uffff "\\\' 🚚 e\u0301 👩\u200d👦 \u0645\u06cc\u200c\u062e \u05d0';
    const response = await post(JSON.stringify({ name }));
    expectStatus(response, 201);
    const { id } = response.body as { id: string };
    expect((await get(`/v1/applications/${id}`)).body).toMatchObject({ name });
  });
});

describe('an address', () => {
  test.each([
    '/',
    '/v1',
    '/v2/applications',
    '/v1/applications/',
    '/v1//applications',
    '/V1/applications',
    '/v1/applications/x/y/z',
    '/v1/applications/x%2fversions',
    '/v1/../v1/nothing',
    '/v1/integrations',
  ])('%s is a 404', async (path) => {
    expectError(await get(path), 404);
  });

  test.each([
    ['513 characters', 'x'.repeat(513)],
    ['8,000 characters', 'x'.repeat(8000)],
    ['a zero byte', '%00'],
    ['zero bytes in two ids', 'a%00b/versions/%00'],
    ['a character outside the basic plane', '%F0%9F%9A%9A'],
    ['a traversal', '..%2f..%2fetc%2fpasswd'],
    ['a traversal, encoded twice', '%252e%252e%252fetc'],
    ['a traversal by backslashes', '..%5c..%5cetc'],
    ['a piece of SQL', "'%20or%201=1--"],
    ['the property __proto__', '__proto__'],
  ])('whose id is %s is a 404', async (_, id) => {
    expectError(await get(`/v1/applications/${id}`), 404);
    expectError(await server.request('DELETE', `/v1/applications/${id}`), 404);
  });

  test.each([
    '/v1/applications/%',
    '/v1/applications/%zz',
    '/v1/applications/%ff',
    '/v1/applications/%ed%a0%80',
  ])('%s cannot be decoded: 400', async (path) => {
    expectError(await get(path), 400, 'percent-encode');
  });

  test.each(['PATCH', 'POST', 'OPTIONS', 'PROPFIND', 'LOCK', 'QUERY'])(
    '404 for the unsupported method %s',
    async (method) => {
      expectError(await server.request(method, '/v1/account'), 404);
    },
  );

  test('HEAD responds like GET, without the body', async () => {
    const head = await server.request('HEAD', '/v1/account');
    expectStatus(head, 200);
    expect(head.text).toBe('');
    expectStatus(await server.request('HEAD', '/v1/account', { token: null }), 401);
    expectStatus(await server.request('HEAD', '/v1/nothing'), 404);
  });

  test('TRACE echoes nothing', async () => {
    const response = await sendRaw(
      server,
      'TRACE /v1/account HTTP/1.1\r\nHost: x\r\nSecret: s3\r\nConnection: close\r\n\r\n',
    );
    expect([400, 404]).toContain(response.status);
    expect(response.text).not.toContain('s3');
  });
});

describe('a query', () => {
  test('with a duplicate key is a 400', async () => {
    expectError(await get('/v1/applications?pagereturn=true&pagereturn=false'), 400, 'pagereturn', '2 times');
  });

  test('with empty parameters is accepted', async () => {
    expectStatus(await get('/v1/applications?&limit=5&&'), 200);
    expectStatus(await get('/v1/applications?'), 200);
  });

  test('that cannot be decoded is used as it is', async () => {
    expectError(await get('/v1/applications?limit=%zz'), 400, 'limit is ');
    expectError(await get('/v1/applications?pagetoken=%ff%00'), 400, 'pagetoken is ');
  });

  test('of 16,000 characters gets a response', async () => {
    expectError(await get(`/v1/applications?pagetoken=${'a'.repeat(16_000)}`), 400, 'pagetoken is ');
  });

  test('with a zero byte in an instance is a 400', async () => {
    const path = `/v1/applications/${application}/runs?instance_id=a%00`;
    expectError(await server.request('POST', path, { body: {} }), 400, 'NUL');
  });

  test.each([
    '2026-02-30T00:00:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01',
    '1767225600',
    'yesterday',
    '',
    '+012026-01-01T00:00:00Z',
  ])('with the malformed time %j is a 400', async (time) => {
    const path = `/v1/applications/${application}/runs?start=${encodeURIComponent(time)}`;
    expectError(await get(path), 400, 'start is ');
  });

  test.each([
    '2026-01-01T00:00:00Z',
    '2026-01-01t00:00:00.123456789z',
    '2024-02-29T23:59:59+05:30',
    '9999-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
  ])('with the time %s is accepted', async (time) => {
    const path = `/v1/applications/${application}/runs?end=${encodeURIComponent(time)}`;
    expectStatus(await get(path), 200);
  });
});

describe('B6: a query parameter that the operation does not have is refused', () => {
  test.each(Object.values(operations) as Operation[])('by $id', async ({ method, path, body, right }) => {
    const token = right === 'work' ? (await createWorkerToken(server)).token : server.token;
    const response = await server.request(method, `${path.replaceAll(/\{\w+\}/g, 'any')}?colour=blue`, {
      body: body?.stream ? 'x' : undefined,
      token,
    });
    expectError(response, 400, 'colour is not a query parameter of this operation');
  });

  test.each([
    ['?limt=5', 'limt is not a query parameter of this operation; did you mean "limit"?'],
    ['?limit=5&page_token=x', 'did you mean "pagetoken"?'],
    ['?pagereturn=true&limit=2&limit=3', 'limit is given 2 times in the query; give it once.'],
    ['?__proto__=2', '__proto__ is not a query parameter'],
    ['?constructor=3', 'constructor is not a query parameter'],
    ['?limit[a]=4', 'limit[a] is not a query parameter'],
    ['?%00=%00', ' is not a query parameter'],
    [`?${'x'.repeat(2000)}=1`, `${'x'.repeat(80)}… is not a query parameter`],
  ])('of a list with %s', async (query, message) => {
    expectError(await get(`/v1/applications${query}`), 400, message);
  });

  test('but pages of the site ignore query parameters', async () => {
    expect((await get('/openapi/cloud.json?utm_source=mail')).status).toBe(200);
  });
});
