/** The client against a real server on loopback, which returns scripted responses and records the requests. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import {
  ApiError,
  buildPath,
  type CallRequest,
  type CallResponse,
  createClient,
  type RequestAttempt,
} from './client.ts';
import { type OperationId, type Operations, operations } from './operations.ts';

interface Received {
  line: string;
  headers: IncomingMessage['headers'];
  body: string;
}
interface Scripted {
  status: number;
  type?: string;
  body?: string;
}

let server: Server;
let url: string;
let received: Received[] = [];
let next: Scripted = { status: 204 };

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = await text(request);
    received.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    response.writeHead(next.status, {
      'content-type': next.type ?? 'application/json',
      'x-request-id': 'r1',
    });
    response.end(next.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  received = [];
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const client = () => createClient({ url, token: 'secret' });

describe('requests', () => {
  test('the client sends method, path, query, token and JSON body', async () => {
    next = { status: 202, body: '{"run_id":"run-1"}' };
    const response = await client().call('createRun', {
      params: { application_id: 'routing' },
      query: { instance_id: 'latest' },
      body: { input: { stops: [] }, options: { duration: 2 } },
      headers: { 'idempotency-key': 'k1' },
    });
    expect(received[0]?.line).toBe('POST /v1/applications/routing/runs?instance_id=latest');
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ input: { stops: [] }, options: { duration: 2 } });
    expect(received[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      'idempotency-key': 'k1',
    });
    expect(response.status).toBe(202);
    expect(response.body.run_id).toBe('run-1');
    expect(response.headers.get('x-request-id')).toBe('r1');
  });

  test('the client omits undefined query values', async () => {
    next = { status: 200, body: '{"runs":[]}' };
    await client().call('listRuns', {
      params: { application_id: 'routing' },
      query: { pagereturn: true, limit: 5, start: undefined, end: '2026-11-20T08:00:00+01:00' },
    });
    expect(received[0]?.line).toBe(
      'GET /v1/applications/routing/runs?pagereturn=true&limit=5&end=2026-11-20T08%3A00%3A00%2B01%3A00',
    );
  });

  test('the client percent-encodes parameters, and the server decodes the same values', async () => {
    next = { status: 404, body: '{"status":"Not Found","error":"no"}' };
    const id = 'a/b?c#d e%2F…';
    await expect(client().call('getApplication', { params: { application_id: id } })).rejects.toThrow();
    const sent = received[0]?.line.split('/').at(-1) ?? '';
    expect(sent).not.toContain('?');
    expect(decodeURIComponent(sent)).toBe(id);
  });

  test('the client sends no token to public operations', async () => {
    next = { status: 200, body: '' };
    await client().call('putUpload', {
      params: { upload_id: 'upl-1' },
      query: { signature: 's' },
      body: new Blob(['raw']).stream(),
    });
    expect(received[0]).toMatchObject({ line: 'PUT /v1/uploads/upl-1?signature=s', body: 'raw' });
    expect(received[0]?.headers.authorization).toBeUndefined();
  });

  test('the client keeps the path of the server URL', async () => {
    next = { status: 200, body: '{"status":"ok"}' };
    await createClient({ url: `${url}/behind/` }).call('getHealth');
    expect(received[0]?.line).toBe('GET /behind/healthz');
  });

  test('the client sends no body when it is optional and absent', async () => {
    next = { status: 204 };
    const response = await client().call('cancelRun', {
      params: { application_id: 'routing', run_id: 'run-1' },
    });
    expect(received[0]).toMatchObject({ line: 'PATCH /v1/applications/routing/runs/run-1/cancel', body: '' });
    expect(response).toMatchObject({ status: 204, body: undefined });
  });

  test('an abort signal cancels a call', async () => {
    const signal = AbortSignal.abort();
    await expect(client().call('getHealth', { signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(received).toEqual([]);
  });
});

describe('a client that repeats requests', () => {
  const app = { application_id: 'routing' };
  test.each<[string, OperationId, object, Partial<RequestAttempt>]>([
    ['a read', 'getApplication', { params: app }, { isRepeatable: true, canResend: true }],
    ['a POST, by its key', 'createApplication', { body: { name: 'Routing' } }, { isRepeatable: true }],
    ['a POST without a token', 'createAccount', { body: { name: 'A' } }, { isRepeatable: false }],
    ['a PUT', 'updateApplication', { params: app, body: { name: 'A' } }, { isRepeatable: true }],
    [
      'a PUT on a state',
      'updateApplication',
      { params: app, body: { expected_updated_at: '2026-11-20T08:00:00Z' } },
      { isRepeatable: false, canResend: true },
    ],
    ['a deletion', 'deleteApplication', { params: app }, { isRepeatable: false, canResend: true }],
    [
      'a stream',
      'putUpload',
      { params: { upload_id: 'upl-1' }, body: new Blob(['raw']).stream() },
      { isRepeatable: false, canResend: false },
    ],
  ])('W16: says whether %s has one effect', async (_title, operation, request, expected) => {
    next = { status: 200, body: '{}' };
    let attempt: RequestAttempt | undefined;
    const repeating = createClient({
      ...{ url, token: 'secret' },
      repeat: async (send, about) => {
        attempt = about;
        await send().catch(() => {});
        return send();
      },
    });
    await repeating.callUntyped(operation, request).catch(() => {});
    expect(attempt).toMatchObject(expected);
    const [first, second] = received.map(({ headers }) => headers['idempotency-key']);
    expect(first).toEqual(second);
    expect(first !== undefined).toBe(operation === 'createApplication');
  });
});

describe('responses', () => {
  test('the client returns text as text', async () => {
    next = { status: 200, type: 'text/plain', body: 'up 1\n' };
    expect((await client().call('getMetrics')).body).toBe('up 1\n');
  });

  test('the client returns raw content as a stream, whatever the content type', async () => {
    next = { status: 200, type: 'application/json', body: '{"a":1}' };
    const response = await client().call('getDownload', { params: { download_id: 'd1' } });
    expect(await text(response.body)).toBe('{"a":1}');
  });

  test('the client returns every declared status, including those above 399', async () => {
    next = { status: 503, body: '{"status":"not ready","reason":"starting"}' };
    const response = await client().call('getReadiness');
    expect([response.status, response.body.reason]).toEqual([503, 'starting']);
  });
});

describe('errors', () => {
  const call = () => client().call('getApplication', { params: { application_id: 'routing' } });

  test.each([
    [
      404,
      '{"status":"Not Found","error":"There is no application \\"routing\\"."}',
      'There is no application "routing".',
    ],
    [401, '{"message":"No token."}', 'No token.'],
    [502, '<h1>Bad gateway</h1>', '<h1>Bad gateway</h1>'],
    [500, '', 'no reason was given.'],
  ])('the client throws %i with the message of the body', async (status, body, message) => {
    next = { status, body };
    const error = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      name: 'ApiError',
      operation: 'getApplication',
      status,
      message: `getApplication returned ${status}: ${message}`,
    });
  });

  test('the error contains the body as parsed JSON', async () => {
    next = { status: 403, body: '{"message":"no"}' };
    await expect(call()).rejects.toMatchObject({ body: { message: 'no' } });
  });
});

describe('W16: a response of another server', () => {
  const list = () => client().call('listRuns', { params: { application_id: 'routing' } });

  test.each([
    ['{}', 'listRuns returned a body without the list `runs`.'],
    ['{"runs":{}}', 'listRuns returned a body without the list `runs`.'],
    ['null', 'listRuns returned a body without the list `runs`.'],
    ['<html></html>', 'listRuns returned a body that is not JSON.'],
  ])('%s is named as such', async (body, message) => {
    next = { status: 200, body };
    await expect(list()).rejects.toThrow(`${message} The URL may be that of another server`);
  });
});

describe('paths', () => {
  test('placeholders are replaced by parameters', () => {
    expect(buildPath(operations.getRun, { application_id: 'routing', run_id: 'latest-w2ze' })).toBe(
      '/v1/applications/routing/runs/latest-w2ze',
    );
    expect(buildPath(operations.getHealth)).toBe('/healthz');
  });

  test.each(['', '.', '..', undefined])('the parameter %j is refused', (run_id) => {
    const params: Record<string, string> = { application_id: 'routing' };
    if (run_id !== undefined) params.run_id = run_id;
    expect(() => buildPath(operations.getRun, params)).toThrow(/^run_id is .+ needs an id\.$/);
  });
});

test('types follow from the operation', () => {
  type Create = CallRequest<Operations['createInstance']>;
  expectTypeOf<Create['params']>().toEqualTypeOf<{ application_id: string }>();
  expectTypeOf<Create['body']['version_id']>().toEqualTypeOf<string>();
  expectTypeOf<Create['query']>().toEqualTypeOf<undefined>();
  expectTypeOf<CallRequest<Operations['listRuns']>['query']>().exclude(undefined).toMatchObjectType<{
    limit?: number;
  }>();
  expectTypeOf<CallResponse<Operations['createRun']>['status']>().toEqualTypeOf<202>();
  expectTypeOf<CallResponse<Operations['deleteRun']>['body']>().toEqualTypeOf<undefined>();
  expectTypeOf<CallResponse<Operations['getMetrics']>['body']>().toEqualTypeOf<string>();
  expectTypeOf<CallResponse<Operations['getReadiness']>['status']>().toEqualTypeOf<200 | 503>();
});
