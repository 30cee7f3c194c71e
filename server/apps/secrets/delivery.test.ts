/** Delivery of secrets to an app: the collection of a run, and the variables and files in which the app finds secrets. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const APP = nodeApp(`async (input) => {
  const { readFileSync, statSync } = await import('node:fs');
  console.error('started');
  if (input.ms) await new Promise((resolve) => setTimeout(resolve, input.ms));
  const read = (path) => { try { return readFileSync(path, 'utf8'); } catch { return null; } };
  return {
    env: Object.fromEntries((input.env ?? []).map((name) => [name, process.env[name] ?? null])),
    files: Object.fromEntries((input.files ?? []).map((path) => [path, read(path)])),
    modes: (input.files ?? []).map((path) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777),
    names: Object.keys(process.env),
  };
}`);
const useCollection = (secrets_collection_id: string | null) => ({
  configuration: { secrets_collection_id },
});

let server: TestServer;
let application: string;
let base: string;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  application = await createApplication(server);
  base = `/v1/applications/${application}`;
  await pushApp(server, application, { ...APP, 'data/one.txt': 'one' });
  await server.client.call('createVersion', {
    params: { application_id: application },
    body: { id: 'v1', name: 'Version one' },
  });
});
afterAll(() => server.close());

async function createCollection(secrets: unknown[]): Promise<string> {
  const id = uniqueId('s');
  expectStatus(await server.request('POST', `${base}/secrets`, { body: { id, secrets } }), 201);
  return id;
}
async function createInstance(secrets: string): Promise<string> {
  const id = uniqueId('i');
  const body = { id, version_id: 'v1', ...useCollection(secrets) };
  expectStatus(await server.request('POST', `${base}/instances`, { body }), 201);
  return id;
}
const key = (value: string) => [{ type: 'env', location: 'KEY', value }];
const runAndGetKey = async (request: {
  instance?: string;
  body?: Record<string, unknown>;
}): Promise<unknown> => {
  const run = await createRunAndWait(server, application, { ...request, input: { env: ['KEY'] } });
  expect(run.error).toBe('');
  return (run.output as { env: { KEY: unknown } }).env.KEY;
};

describe('an app finds', () => {
  test('variables with any value, beside the variables of the platform', async () => {
    const values = {
      MAPS_KEY: 'treasure',
      spaces: '  a  b\t',
      LINES: 'one\ntwo\r\n',
      QUOTES: `'"\`$HOME $(id) \\ ; | > !`,
      UNICODE: 'ä € 🚚',
      EMPTY: '',
      LARGE: 'x'.repeat(1024),
    };
    const secrets = Object.entries(values).map(([location, value]) => ({ type: 'env', location, value }));
    const env = [...Object.keys(values), 'NEXTMV_APP_ID', 'NEXTMV_RUN_ID'];
    const run = await createRunAndWait(server, application, {
      input: { env },
      body: useCollection(await createCollection(secrets)),
    });
    expect(run.output).toMatchObject({
      env: { ...values, NEXTMV_APP_ID: application, NEXTMV_RUN_ID: run.id },
    });
  });

  test('files with their values below its working directory, readable by the app alone', async () => {
    const values = { key: 'treasure\n', 'keys/deep/ü.txt': 'ä 🚚', './.hidden': '', 'data/two.txt': 'a\0b' };
    const secrets = Object.entries(values).map(([location, value]) => ({ type: 'file', location, value }));
    const run = await createRunAndWait(server, application, {
      input: { files: [...Object.keys(values), 'data/one.txt'], env: ['key'] },
      body: useCollection(await createCollection(secrets)),
    });
    const output = run.output as { files: object; modes: number[] };
    expect(output.files).toEqual({ ...values, 'data/one.txt': 'one' });
    expect(output.modes.slice(0, 4)).toEqual([0o600, 0o600, 0o600, 0o600]);
    expect(output).toMatchObject({ env: { key: null } });
  });

  test('files at absolute paths in a sandbox; without a sandbox the run fails with a message', async () => {
    const files = { '/app/keys/a': 'of the app', '/tmp/b': 'of its temp folder' };
    const secrets = Object.entries(files).map(([location, value]) => ({ type: 'file', location, value }));
    const run = await createRunAndWait(server, application, {
      input: { files: Object.keys(files) },
      body: useCollection(await createCollection(secrets)),
    });
    if (run.metadata.containment === 'sandbox') expect(run.output).toMatchObject({ files });
    else expect(run.error).toContain('"/app/keys/a" is absolute');
  });

  test.each(['data', 'data/one.txt/key'])(
    'not a file at %s, which its executable has; the run says so',
    async (location) => {
      const secrets = await createCollection([{ type: 'file', location, value: 'treasure' }]);
      const run = await createRunAndWait(server, application, { input: {}, body: useCollection(secrets) });
      expect(run).toMatchObject({ status_v2: 'failed', metadata: { attempt: 1 } });
      expect(run.error).toContain(`The secret file location "${location}" cannot be written`);
    },
  );

  test('no secret of another collection', async () => {
    await createCollection([{ type: 'env', location: 'FOREIGN', value: 'treasure' }]);
    const run = await createRunAndWait(server, application, {
      input: {},
      body: useCollection(await createCollection(key('own'))),
    });
    expect((run.output as { names: string[] }).names).not.toContain('FOREIGN');
  });
});

describe('a run gets', () => {
  test('the collection of its instance, or its own instead, and reports its id', async () => {
    const ofInstance = await createCollection(key('of the instance'));
    const ofRun = await createCollection(key('of the run'));
    const instance = await createInstance(ofInstance);
    expect(await runAndGetKey({})).toBe(null);
    expect(await runAndGetKey({ instance })).toBe('of the instance');
    expect(await runAndGetKey({ instance, body: useCollection(ofRun) })).toBe('of the run');
    expect(await runAndGetKey({ body: useCollection(ofRun) })).toBe('of the run');
    for (const nothing of [null, ''])
      expect(await runAndGetKey({ instance, body: useCollection(nothing) })).toBe('of the instance');
    const run = await createRunAndWait(server, application, {
      instance,
      input: {},
      body: useCollection(ofRun),
    });
    expect(run.secrets_collection_id).toBe(ofRun);
    expect(run.metadata.secrets_collection_id).toBe(ofRun);
    const bare = await createRunAndWait(server, application, { input: {} });
    expect(bare.secrets_collection_id).toBe('');
    expect(bare.metadata).not.toHaveProperty('secrets_collection_id');
  });

  test('all secrets of its own collection and none of the collection of its instance', async () => {
    const instance = await createInstance(
      await createCollection([{ type: 'env', location: 'OTHER', value: 'x' }]),
    );
    const run = await createRunAndWait(server, application, {
      instance,
      input: { env: ['KEY', 'OTHER'] },
      body: useCollection(await createCollection(key('own'))),
    });
    expect(run.output).toMatchObject({ env: { KEY: 'own', OTHER: null } });
  });

  test('the secrets that the collection contains when the app starts', async () => {
    const secrets = await createCollection(key('old'));
    const blocker = await createRun(server, application, { input: { ms: 500 } });
    await waitForLogLine(server, application, blocker, 'started');
    const run = await createRun(server, application, {
      input: { env: ['KEY'] },
      body: useCollection(secrets),
    });
    const body = { secrets: key('new') };
    expectStatus(await server.request('PUT', `${base}/secrets/${secrets}`, { body }), 200);
    expect((await waitForRunEnd(server, application, run)).output).toMatchObject({ env: { KEY: 'new' } });
  });
});

describe('a missing collection', () => {
  test('returns 400 when the run names it, also for one of another application', async () => {
    const other = await createApplication(server);
    const foreign = uniqueId('s');
    const created = await server.request('POST', `/v1/applications/${other}/secrets`, {
      body: { id: foreign, secrets: [] },
    });
    expectStatus(created, 201);
    const before = ((await server.request('GET', `${base}/runs`)).body as { runs: unknown[] }).runs.length;
    for (const id of ['missing', foreign]) {
      const response = await server.request('POST', `${base}/runs`, {
        body: { input: {}, ...useCollection(id) },
      });
      expectError(response, 400, `configuration.secrets_collection_id is "${id}"`);
    }
    expectError(await server.request('POST', `${base}/runs`, { body: useCollection('a\0') }), 400, 'NUL');
    const after = ((await server.request('GET', `${base}/runs`)).body as { runs: unknown[] }).runs.length;
    expect(after).toBe(before);
  });

  test('returns 400 with the id of the instance that names it', async () => {
    const secrets = await createCollection([]);
    const instance = await createInstance(secrets);
    await server.runningServer.database.transact((tx) =>
      sql`delete from secrets_collections where id = ${secrets}`.execute(tx),
    );
    const response = await server.request('POST', `${base}/runs?instance_id=${instance}`, {
      body: { input: {} },
    });
    expectError(response, 400, `"${secrets}" of the instance "${instance}"`);
  });

  test('fails the run with a message when it is deleted before the start', async () => {
    const secrets = await createCollection(key('treasure'));
    const blocker = await createRun(server, application, { input: { ms: 500 } });
    await waitForLogLine(server, application, blocker, 'started');
    const run = await createRun(server, application, { input: {}, body: useCollection(secrets) });
    expectStatus(await server.request('DELETE', `${base}/secrets/${secrets}`), 204);
    const found = await waitForRunEnd(server, application, run);
    expect(found).toMatchObject({
      status_v2: 'failed',
      error: `The secrets collection "${secrets}" of the run was deleted before the app was started.`,
      secrets_collection_id: secrets,
      metadata: { attempt: 1 },
    });
  });

  test('fails the run with a message when it cannot be decrypted', async () => {
    const secrets = await createCollection(key('treasure'));
    await server.runningServer.database.transact((tx) =>
      sql`update secrets_collections set secrets = ${Buffer.alloc(40)} where id = ${secrets}`.execute(tx),
    );
    const run = await createRunAndWait(server, application, { input: {}, body: useCollection(secrets) });
    expect(run).toMatchObject({ status_v2: 'failed', metadata: { attempt: 1 } });
    expect(run.error).toContain(`"${secrets}" of the run cannot be decrypted`);
  });
});

test('without a sandbox, an app gets variables and relative files, but no absolute paths', async () => {
  await using bare = await startTestServer({ env: { SWITCHYARD_CONTAINMENT: 'limits' } });
  await pushApp(bare, 'app', APP);
  const create = (id: string, ...secrets: unknown[]) =>
    bare.request('POST', '/v1/applications/app/secrets', { body: { id, secrets } });
  const file = { type: 'file', location: 'keys/a', value: 'treasure' };
  expectStatus(await create('relative', file, ...key('of the run')), 201);
  expectStatus(await create('absolute', { ...file, location: '/app/keys/a' }), 201);
  const input = { env: ['KEY'], files: ['keys/a'] };
  const found = await createRunAndWait(bare, 'app', { input, body: useCollection('relative') });
  expect(found.output).toMatchObject({
    env: { KEY: 'of the run' },
    files: { 'keys/a': 'treasure' },
    modes: [0o600],
  });
  const refused = await createRunAndWait(bare, 'app', { input, body: useCollection('absolute') });
  expect(refused).toMatchObject({ status_v2: 'failed', metadata: { attempt: 1, containment: 'limits' } });
  expect(refused.error).toContain('"/app/keys/a" is absolute');
});
