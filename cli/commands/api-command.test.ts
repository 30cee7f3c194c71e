/** `switchyard api` sends any request of the API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-api-'));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const api = (args: string[], input = '') =>
  runCommand(['api', ...args], {
    cwd: folder,
    input,
    env: { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token },
  });

test('an operation has its body from the argument, a file or standard input, and the application from --app', async () => {
  const created = await api(['createApplication', '--data', '{"id": "routing", "name": "Routing"}']);
  expect(created.code).toBe(0);
  expect(JSON.parse(created.stdout)).toMatchObject({ id: 'routing' });
  writeFileSync(join(folder, 'app.json'), '{"name": "From a file"}');
  await api(['updateApplication', '--app', 'routing', '--data', '@app.json']);
  expect(JSON.parse((await api(['getApplication', '--app', 'routing'])).stdout).name).toBe('From a file');
  const piped = ['PUT', '/v1/applications/routing', '--data', '-'];
  expect((await api(piped, '{"name": "From a pipe"}')).stdout).toContain('From a pipe');
  expect((await api(['listApplications', '--select', '[].id'])).stdout).toBe('routing\n');
  const listed = await api(['GET', '/v1/applications', '--query', 'limit=1', '--query', 'pagereturn=true']);
  expect(JSON.parse(listed.stdout).items).toHaveLength(1);
  expect(await api(['DELETE', '/v1/applications/routing'])).toMatchObject({ code: 0, stdout: '' });
});

test.each([
  [['getNothing'], 2, 'getNothing'],
  [['GET', 'v1'], 2, 'must begin with "/"'],
  [['getQueue', '/v1'], 2, 'remove "/v1"'],
  [['getWebhook'], 2, '--param'],
  [['getQueue', '--param', 'x'], 2, 'name=value'],
  [['createApplication', '--data', '@missing.json'], 2, 'does not exist'],
  [['createApplication', '--data', '{'], 5, 'JSON'],
  [['GET', '/v1/nothing'], 4, '/v1/nothing'],
  [['getMetrics', '--select', 'x'], 2, 'The response is text/plain'],
])('%s ends with %i', async (args, code, words) => {
  expect(await api(args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) });
});
