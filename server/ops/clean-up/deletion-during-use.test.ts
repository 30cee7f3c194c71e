/** Deletion of resources that runs use. */
import { afterEach, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { countRowsByTable } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const LARGE_TEXT = 'x'.repeat(100_000);
const APP = nodeApp(`(input) => {
  console.error('started');
  if (input?.waits) {
    setInterval(() => {}, 1000);
    return new Promise(() => process.on('SIGTERM', () => process.exit(0)));
  }
  return { input, assets: [{ name: 'Map', content: { text: 'x'.repeat(100000) } }] };
}`);

let server: TestServer;
afterEach(() => server.close());
async function start(): Promise<void> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  await pushApp(server, 'app', { ...APP, 'data.txt': LARGE_TEXT });
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'One' },
  });
  await server.client.call('createInstance', {
    params: { application_id: 'app' },
    body: { id: 'i1', name: 'Instance one', version_id: 'v1' },
  });
}
async function remove(path: string): Promise<void> {
  expectStatus(await server.request('DELETE', `/v1/applications/${path}`), 204);
}
const read = (run: string, rest = '') => server.request('GET', `/v1/applications/app/runs/${run}${rest}`);
async function startRunning(application = 'app', instance = 'latest'): Promise<string> {
  const run = await createRun(server, application, { instance, input: { waits: true } });
  await waitForLogLine(server, application, run, 'started');
  return run;
}
const app = { params: { application_id: 'app' } };
async function createSecrets(): Promise<void> {
  await server.client.call('createSecretsCollection', {
    ...app,
    body: { id: 'keys', name: 'Any name', secrets: [{ type: 'env', location: 'KEY', value: 'treasure' }] },
  });
}

describe('deletion during use', () => {
  test('of an instance and its version does not affect their runs', async () => {
    await start();
    const first = await startRunning('app', 'i1');
    const waiting = await createRun(server, 'app', { instance: 'i1', input: { n: 1 } });
    expectError(await server.request('DELETE', '/v1/applications/app/versions/v1'), 400, 'i1');
    await remove('app/instances/i1');
    await remove('app/versions/v1');
    await pushApp(server, 'app', { ...nodeApp('() => ({ other: true })') });
    expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${first}/cancel`), 204);
    const ran = await waitForRunEnd(server, 'app', waiting);
    expect(ran).toMatchObject({
      status_v2: 'succeeded',
      output: { input: { n: 1 } },
      application_instance_id: 'i1',
      application_version_id: 'v1',
    });
    expectError(
      await server.request('POST', '/v1/applications/app/runs?instance_id=i1', { body: {} }),
      404,
      'i1',
    );
  });

  test('of a secrets collection does not affect running apps, and queued runs fail with the reason', async () => {
    await start();
    await createSecrets();
    const options = { body: { configuration: { secrets_collection_id: 'keys' } } };
    const first = await createRun(server, 'app', { input: { waits: true }, ...options });
    await waitForLogLine(server, 'app', first, 'started');
    const waiting = await createRun(server, 'app', { input: {}, ...options });
    await remove('app/secrets/keys');
    expect((await read(first, '/metadata')).body).toMatchObject({ status_v2: 'running' });
    expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${first}/cancel`), 204);
    expect(await waitForRunEnd(server, 'app', waiting)).toMatchObject({
      status_v2: 'failed',
      error: expect.stringContaining('"keys"'),
      secrets_collection_id: 'keys',
    });
  });

  test('of an application removes running and queued runs and frees their slots', async () => {
    await start();
    await startRunning();
    for (let count = 0; count < 3; count += 1) await createRun(server, 'app', { input: { waits: true } });
    await pushApp(server, 'other', APP);
    const other = await createRun(server, 'other', { input: {} });
    await remove('app');
    expect((await waitForRunEnd(server, 'other', other)).status_v2).toBe('succeeded');
    // A new application may use the id and sees nothing of the old one.
    await pushApp(server, 'app', APP);
    expect((await server.request('GET', '/v1/applications/app/runs')).body).toEqual({ runs: [] });
    expect((await server.request('GET', '/v1/account/queue')).body).toEqual({ runs: [] });
    const run = await createRunAndWait(server, 'app', { input: {} });
    expect(run.status_v2).toBe('succeeded');
  });

  test('of a queued or running run frees its slot for the next', async () => {
    await start();
    const first = await startRunning();
    const [queued, next] = [
      await createRun(server, 'app', { input: { waits: true } }),
      await createRun(server, 'app', { input: {} }),
    ];
    await remove(`app/runs/${queued}`);
    await remove(`app/runs/${first}`);
    expect((await waitForRunEnd(server, 'app', next)).status_v2).toBe('succeeded');
    expect((await countRowsByTable(server)).runs).toBe(1);
  });
});
