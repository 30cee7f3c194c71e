/** Secrets on their way to an app: which collection a run gets, and how the app finds what is in it. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../testing/fixtures/apps.ts';
import { createApplication, expectError, expectStatus, uniqueId } from '../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';

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
const named = (secrets_collection_id: string | null) => ({ configuration: { secrets_collection_id } });

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

async function collection(secrets: unknown[]): Promise<string> {
  const id = uniqueId('s');
  expectStatus(await server.request('POST', `${base}/secrets`, { body: { id, secrets } }), 201);
  return id;
}
async function instanceWith(secrets: string): Promise<string> {
  const id = uniqueId('i');
  const body = { id, version_id: 'v1', ...named(secrets) };
  expectStatus(await server.request('POST', `${base}/instances`, { body }), 201);
  return id;
}
const key = (value: string) => [{ type: 'env', location: 'KEY', value }];
const keyOf = async (asked: { instance?: string; body?: Record<string, unknown> }): Promise<unknown> => {
  const run = await createRunAndWait(server, application, { ...asked, input: { env: ['KEY'] } });
  expect(run.error).toBe('');
  return (run.output as { env: { KEY: unknown } }).env.KEY;
};

describe('an app finds', () => {
  test('variables with their values, whatever is in them, and its own as ever', async () => {
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
      body: named(await collection(secrets)),
    });
    expect(run.output).toMatchObject({
      env: { ...values, NEXTMV_APP_ID: application, NEXTMV_RUN_ID: run.id },
    });
  });

  test('files with their values, for it alone, below its working directory', async () => {
    const values = { key: 'treasure\n', 'keys/deep/ü.txt': 'ä 🚚', './.hidden': '', 'data/two.txt': 'a\0b' };
    const secrets = Object.entries(values).map(([location, value]) => ({ type: 'file', location, value }));
    const run = await createRunAndWait(server, application, {
      input: { files: [...Object.keys(values), 'data/one.txt'], env: ['key'] },
      body: named(await collection(secrets)),
    });
    const { output } = run as unknown as { output: { files: object; modes: number[] } };
    expect(output.files).toEqual({ ...values, 'data/one.txt': 'one' });
    expect(output.modes.slice(0, 4)).toEqual([0o600, 0o600, 0o600, 0o600]);
    expect(run.output).toMatchObject({ env: { key: null } });
  });

  test('files at absolute places, where it has a sandbox; elsewhere the run says why not', async () => {
    const files = { '/app/keys/a': 'of the app', '/tmp/b': 'of its temp folder' };
    const secrets = Object.entries(files).map(([location, value]) => ({ type: 'file', location, value }));
    const run = await createRunAndWait(server, application, {
      input: { files: Object.keys(files) },
      body: named(await collection(secrets)),
    });
    if (run.metadata.containment === 'sandbox') expect(run.output).toMatchObject({ files });
    else expect(run.error).toContain('"/app/keys/a" is absolute');
  });

  test.each(['data', 'data/one.txt/key'])(
    'not a file at %s, which its executable has; the run says so',
    async (location) => {
      const secrets = await collection([{ type: 'file', location, value: 'treasure' }]);
      const run = await createRunAndWait(server, application, { input: {}, body: named(secrets) });
      expect(run).toMatchObject({ status_v2: 'failed', metadata: { attempt: 1 } });
      expect(run.error).toContain(`The secret file location "${location}" cannot be written`);
    },
  );

  test('nothing of other collections', async () => {
    await collection([{ type: 'env', location: 'FOREIGN', value: 'treasure' }]);
    const run = await createRunAndWait(server, application, {
      input: {},
      body: named(await collection(key('own'))),
    });
    expect((run.output as { names: string[] }).names).not.toContain('FOREIGN');
  });
});

describe('a run gets', () => {
  test('the collection of its instance, or its own in place of it, and shows which', async () => {
    const ofInstance = await collection(key('of the instance'));
    const ofRun = await collection(key('of the run'));
    const instance = await instanceWith(ofInstance);
    expect(await keyOf({})).toBe(null);
    expect(await keyOf({ instance })).toBe('of the instance');
    expect(await keyOf({ instance, body: named(ofRun) })).toBe('of the run');
    expect(await keyOf({ body: named(ofRun) })).toBe('of the run');
    for (const nothing of [null, ''])
      expect(await keyOf({ instance, body: named(nothing) })).toBe('of the instance');
    const run = await createRunAndWait(server, application, { instance, input: {}, body: named(ofRun) });
    expect(run.secrets_collection_id).toBe(ofRun);
    expect(run.metadata.secrets_collection_id).toBe(ofRun);
    const bare = await createRunAndWait(server, application, { input: {} });
    expect(bare.secrets_collection_id).toBe('');
    expect(bare.metadata).not.toHaveProperty('secrets_collection_id');
  });

  test('all of its own collection and nothing of the one of its instance', async () => {
    const instance = await instanceWith(await collection([{ type: 'env', location: 'OTHER', value: 'x' }]));
    const run = await createRunAndWait(server, application, {
      instance,
      input: { env: ['KEY', 'OTHER'] },
      body: named(await collection(key('own'))),
    });
    expect(run.output).toMatchObject({ env: { KEY: 'own', OTHER: null } });
  });

  test('what the collection holds when the app is started', async () => {
    const secrets = await collection(key('old'));
    const blocker = await createRun(server, application, { input: { ms: 500 } });
    await waitForLogLine(server, application, blocker, 'started');
    const run = await createRun(server, application, { input: { env: ['KEY'] }, body: named(secrets) });
    const body = { secrets: key('new') };
    expectStatus(await server.request('PUT', `${base}/secrets/${secrets}`, { body }), 200);
    expect((await waitForRunEnd(server, application, run)).output).toMatchObject({ env: { KEY: 'new' } });
  });
});

describe('a collection that is not there', () => {
  test('is a 400 when the run names it, also one of another application, and nothing is run', async () => {
    const other = await createApplication(server);
    const foreign = uniqueId('s');
    const made = await server.request('POST', `/v1/applications/${other}/secrets`, {
      body: { id: foreign, secrets: [] },
    });
    expectStatus(made, 201);
    const before = ((await server.request('GET', `${base}/runs`)).body as { runs: unknown[] }).runs.length;
    for (const id of ['missing', foreign]) {
      const response = await server.request('POST', `${base}/runs`, { body: { input: {}, ...named(id) } });
      expectError(response, 400, `configuration.secrets_collection_id is "${id}"`);
    }
    expectError(await server.request('POST', `${base}/runs`, { body: named('a\0') }), 400, 'NUL');
    const after = ((await server.request('GET', `${base}/runs`)).body as { runs: unknown[] }).runs.length;
    expect(after).toBe(before);
  });

  test('is a 400 that names the instance when that is who names it', async () => {
    const secrets = await collection([]);
    const instance = await instanceWith(secrets);
    await server.runningServer.database.transact((tx) =>
      sql`delete from secrets_collections where id = ${secrets}`.execute(tx),
    );
    const response = await server.request('POST', `${base}/runs?instance_id=${instance}`, {
      body: { input: {} },
    });
    expectError(response, 400, `"${secrets}" of the instance "${instance}"`);
  });

  test('any more when the app is to start fails the run, which says so', async () => {
    const secrets = await collection(key('treasure'));
    const blocker = await createRun(server, application, { input: { ms: 500 } });
    await waitForLogLine(server, application, blocker, 'started');
    const run = await createRun(server, application, { input: {}, body: named(secrets) });
    expectStatus(await server.request('DELETE', `${base}/secrets/${secrets}`), 204);
    const found = await waitForRunEnd(server, application, run);
    expect(found).toMatchObject({
      status_v2: 'failed',
      error: `The secrets collection "${secrets}" of the run was deleted before the app was started.`,
      secrets_collection_id: secrets,
      metadata: { attempt: 1 },
    });
  });

  test('readable fails the run, which says so', async () => {
    const secrets = await collection(key('treasure'));
    await server.runningServer.database.transact((tx) =>
      sql`update secrets_collections set secrets = ${Buffer.alloc(40)} where id = ${secrets}`.execute(tx),
    );
    const run = await createRunAndWait(server, application, { input: {}, body: named(secrets) });
    expect(run).toMatchObject({ status_v2: 'failed', metadata: { attempt: 1 } });
    expect(run.error).toContain(`"${secrets}" of the run cannot be decrypted`);
  });
});

test('without a sandbox an app has its variables and relative files, and no absolute ones', async () => {
  await using bare = await startTestServer({ env: { SWITCHYARD_CONTAINMENT: 'limits' } });
  await pushApp(bare, 'app', APP);
  const create = (id: string, ...secrets: unknown[]) =>
    bare.request('POST', '/v1/applications/app/secrets', { body: { id, secrets } });
  const file = { type: 'file', location: 'keys/a', value: 'treasure' };
  expectStatus(await create('relative', file, ...key('of the run')), 201);
  expectStatus(await create('absolute', { ...file, location: '/app/keys/a' }), 201);
  const input = { env: ['KEY'], files: ['keys/a'] };
  const found = await createRunAndWait(bare, 'app', { input, body: named('relative') });
  expect(found.output).toMatchObject({
    env: { KEY: 'of the run' },
    files: { 'keys/a': 'treasure' },
    modes: [0o600],
  });
  const refused = await createRunAndWait(bare, 'app', { input, body: named('absolute') });
  expect(refused).toMatchObject({ status_v2: 'failed', metadata: { attempt: 1, containment: 'limits' } });
  expect(refused.error).toContain('"/app/keys/a" is absolute');
});
