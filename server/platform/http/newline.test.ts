/** JSON of the server ends with a newline, in large responses too; content of callers is returned byte for byte. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let run: string;
beforeAll(async () => {
  server = await startTestServer();
  const log = 'x'.repeat(99);
  await pushApp(
    server,
    'app',
    nodeApp(`({ lines }) => {
      for (let n = 0; n < lines; n += 1) console.error('${log}');
      return { solution: '${'y'.repeat(300_000)}' };
    }`),
  );
  run = (await createRunAndWait(server, 'app', { input: { lines: 20_000 } })).id;
});
afterAll(() => server.close());

test.each([
  ['an object', () => '/v1/applications/app', 200],
  ['a list', () => '/v1/applications', 200],
  ['a large output', () => `/v1/applications/app/runs/${run}`, 200],
  ['a log of megabytes', () => `/v1/applications/app/runs/${run}/logs`, 200],
  ['an error', () => '/v1/applications/none', 404],
  ['an unknown path', () => '/v1/none', 404],
])('B15: %s ends with one newline', async (_, path, status) => {
  const { text, headers, ...response } = await server.request('GET', path());
  expect(response.status).toBe(status);
  expect(text).toMatch(/[^\n]\n$/);
  const length = headers.get('content-length');
  if (length !== null) expect(Buffer.byteLength(text)).toBe(Number(length));
});

test('B15: an error without a token ends with a newline too', async () => {
  const response = await server.request('GET', '/v1/applications', { token: null });
  expect(response.status).toBe(401);
  expect(response.text).toMatch(/\}\n$/);
});

test('B15: an input is returned byte for byte', async () => {
  const { text } = await server.request('GET', `/v1/applications/app/runs/${run}/input`);
  expect(text).toBe('{"lines":20000}');
});
