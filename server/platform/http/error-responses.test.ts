/** The response and the log line of an internal error or an unavailable dependency. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, type ErrorCode } from '@switchyard/contract/errors.ts';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRequest } from '../../testing/http/request.ts';
import { systemClock } from '../clock.ts';
import { bodyTooLarge } from './errors/framework-errors.ts';
import {
  badRequest,
  ChangedError,
  forbidden,
  NotReadyError,
  noCapacity,
  notFound,
  tooManyRequests,
  unauthorized,
} from './errors/problem.ts';
import { NO_AUDIT_LOG } from './handlers/audited-actions.ts';
import type { Handlers } from './handlers/handler.ts';
import { createMetrics } from './metrics.ts';
import { createHttpServer } from './server.ts';

const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
const logAs = (level: string) => (fields: object, message: string) =>
  lines.push({ level, fields: { ...fields }, message });
let thrown: Error;
let http: FastifyInstance;
let url: string;
beforeAll(async () => {
  let requests = 0;
  http = await createHttpServer({
    handlers: {
      getDownload: async () => {
        throw thrown;
      },
    } as Partial<Handlers> as Handlers,
    servedOperations: ['getDownload'],
    authenticate: async () => null,
    rateLimit: null,
    publicUrl: () => 'http://127.0.0.1:8080',
    idempotency: null,
    auditLog: NO_AUDIT_LOG,
    connectionsMax: 100,
    newRequestId() {
      requests += 1;
      return `request-${requests}`;
    },
    clock: systemClock,
    log: { debug: logAs('debug'), info: logAs('info'), warn: logAs('warn'), error: logAs('error') },
    metrics: createMetrics(),
    errorPages: null,
  });
  url = await http.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => http.close());

test.each([
  [500, 'error', new TypeError('undefined is not a function'), 'Internal server error; see the server log'],
  [503, 'warn', Object.assign(new Error('no space'), { code: 'ENOSPC' }), 'The disk of the server is full'],
])('B18: a %i and its log line name the request', async (status, level, error, message) => {
  thrown = error;
  lines.length = 0;
  const response = await sendRequest(`${url}/v1/downloads/d1?expires=1&signature=confidential`, 'GET', '', {
    token: null,
  });
  const id = response.headers.get('x-request-id');
  expect(id).toMatch(/^request-\d+$/);
  expect(response.status).toBe(status);
  expect((response.body as { error: string }).error).toContain(message);
  expect((response.body as { error: string }).error).toContain(String(id));
  const line = lines.find((line) => line.level === level);
  expect(line?.fields).toMatchObject({
    request: id,
    operation: 'getDownload',
    method: 'GET',
    path: '/v1/downloads/d1',
    error: error.message,
  });
  expect(JSON.stringify(lines)).not.toContain('confidential');
});

const changed = new ChangedError(0, () => 'It has changed.');
test.each<[number, ErrorCode, Error]>([
  [400, 'invalid_request', badRequest('No.')],
  [400, 'too_large', bodyTooLarge(1)],
  [401, 'unauthorized', unauthorized('No.')],
  [403, 'forbidden', forbidden('No.')],
  [404, 'not_found', notFound('No.')],
  [409, 'conflict', changed],
  [429, 'too_many_requests', tooManyRequests('No.')],
  [429, 'no_capacity', noCapacity('No.')],
  [500, 'internal', new TypeError('undefined is not a function')],
  [503, 'unavailable', new NotReadyError('Not yet.', 1)],
])('a %i has the code %s', async (status, code, error) => {
  thrown = error;
  const response = await sendRequest(`${url}/v1/downloads/d1`, 'GET', '', { token: null });
  expect([response.status, response.body]).toEqual([status, expect.objectContaining({ code })]);
});

test('the reference describes each code', () => {
  const page = readFileSync(
    join(import.meta.dirname, '../../../site/content/using-switchyard/reference/rate-limits.md'),
    'utf8',
  );
  const described = [...page.matchAll(/^\| `\d{3}` +\| `(\w+)`/gm)].map(([, code]) => code);
  expect(described).toEqual(Object.keys(ERROR_CODES));
});
