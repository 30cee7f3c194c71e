/** Uploads that a command left unfinished: the rules of their records, and a later command that continues them. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@switchyard/contract/client.ts';
import { UPLOAD_RETENTION_MS } from '@switchyard/contract/limits.ts';
import { readSignedUrl } from '@switchyard/contract/transfer/signed-url.ts';
import { type Balancer, startBalancer } from '@switchyard/server/testing/servers/balancer.ts';
import { locateTestProgram } from '@switchyard/server/testing/servers/test-programs.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';
import { UnfinishedUploads, type UploadPlace } from './unfinished-uploads.ts';
import { uploadContent } from './upload.ts';

const MAIN_FILE = locateTestProgram('cli/main.ts');
const folder = mkdtempSync(join(tmpdir(), 'switchyard-unfinished-'));
const records = join(folder, 'state', 'uploads');
beforeEach(() => rmSync(records, { recursive: true, force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const listRecords = (): string[] => readdirSync(records);

describe('the record of an upload', () => {
  const DAY_MINUTES = UPLOAD_RETENTION_MS / 60_000;
  const MIB = 1024 * 1024;
  const content = (text = 'a', bytes = MIB) => new Blob([text.repeat(bytes)]);
  const target: UploadPlace = { application_id: 'routing', operation: 'createRunUpload' };
  const connection = { url: 'https://one.example', token: 'secret', source: 'default' };
  const upload = { upload_id: 'upl-1', upload_url: 'https://one.example/v1/uploads/upl-1?signature=s' };
  const minutes = (count: number) => Date.now() + count * 60_000;
  interface Opening {
    now?: () => number;
    isRunning?: (process: number) => boolean;
    at?: typeof connection;
    to?: UploadPlace;
    of?: Blob;
  }
  const open = ({
    now = Date.now,
    isRunning = () => false,
    at = connection,
    to = target,
    of = content(),
  }: Opening = {}) => new UnfinishedUploads(at, { folder: records, now, isRunning }).open(to, of);

  test.each<[string, boolean, Opening]>([
    ['is continued after the end of its process', true, {}],
    ['is that of a running process', false, { isRunning: () => true }],
    ['is continued for a day', true, { now: () => minutes(DAY_MINUTES - 1) }],
    ['expires after a day', false, { now: () => minutes(DAY_MINUTES + 1) }],
    ['is of one content', false, { of: content('b') }],
    ['is of one size', false, { of: content('a', MIB + 1) }],
    ['is of one server', false, { at: { ...connection, url: 'https://two.example' } }],
    ['is of one token', false, { at: { ...connection, token: 'other' } }],
    ['is of one token, from any profile', true, { at: { ...connection, source: 'environment' } }],
    ['is of one application', false, { to: { ...target, application_id: 'packing' } }],
    ['is of one kind', false, { to: { ...target, operation: 'getBinaryUpload' } }],
  ])('%s: %j', async (_rule, isContinued, next) => {
    (await open())?.store(upload);
    const record = await open(next);
    expect(record?.resumed).toEqual(isContinued ? upload : undefined);
  });

  test('is readable by its owner alone, without the token', async () => {
    (await open())?.store(upload);
    const path = join(records, listRecords()[0] ?? '');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(records).mode & 0o777).toBe(0o700);
    expect(readFileSync(path, 'utf8')).not.toContain('"secret"');
  });

  test('is continued by one of several commands', async () => {
    (await open())?.store(upload);
    const isRunning = (id: number): boolean => id === process.pid;
    // A killed process has left it; this one is running.
    const [first, second] = [await open(), await open({ isRunning })];
    expect([first?.resumed, second?.resumed]).toEqual([upload, undefined]);
    first?.release();
    expect((await open({ isRunning }))?.resumed).toEqual(upload);
  });

  test('stays valid while bytes are sent', async () => {
    let now = Date.now();
    const record = await open({ now: () => now });
    record?.store(upload);
    now = minutes(DAY_MINUTES - 1);
    record?.touch();
    expect((await open({ now: () => minutes(2 * DAY_MINUTES - 2) }))?.resumed).toEqual(upload);
  });

  test('goes when its upload has ended, and when it is expired or damaged', async () => {
    const record = await open();
    record?.store(upload);
    record?.remove();
    expect(listRecords()).toEqual([]);
    record?.store(upload);
    writeFileSync(join(records, 'upl-2.1.json'), '{"upload_id"');
    writeFileSync(join(records, 'upl-3.1.json.draft'), '{');
    expect((await open({ isRunning: () => true }))?.resumed).toBeUndefined();
    expect(listRecords()).toEqual([`upl-1.${process.pid}.json`, 'upl-3.1.json.draft']);
    await open({ now: () => minutes(2 * DAY_MINUTES) });
    expect(listRecords()).toEqual([]);
  });

  test('is not stored for a small content, for an id that is no name of a file, and in a folder that cannot be made', async () => {
    expect(await open({ of: content('a', MIB - 1) })).toBeUndefined();
    const record = await open();
    record?.store({ ...upload, upload_id: '../upl-1' });
    rmSync(join(folder, 'state'), { recursive: true, force: true });
    writeFileSync(join(folder, 'state'), 'a file');
    record?.store(upload);
    record?.touch();
    record?.release();
    rmSync(join(folder, 'state'));
  });
});

describe('a second command', () => {
  const BYTES = 10_000_000;
  const large = createHash('shake256', { outputLength: BYTES }).digest();
  let server: TestServer;
  let proxy: Balancer;
  beforeAll(async () => {
    server = await startTestServer();
    await server.client.call('createApplication', { body: { id: 'app', name: 'App' } });
    mkdirSync(join(folder, 'app'));
    writeFileSync(join(folder, 'large.bin'), large);
    writeFileSync(join(folder, 'app', 'large'), large);
    writeFileSync(join(folder, 'app', 'main'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(
      join(folder, 'app', 'app.yaml'),
      'type: binary\nruntime: native\nentrypoint: main\nfiles: [main, large]\npre-push: touch large\n',
    );
  });
  afterAll(() => server.close());
  // The first command loses its connections after 6 MB. The second one sends less than that.
  beforeEach(async () => {
    proxy = await startBalancer({ cutAfterBytes: BYTES * 0.6 });
    proxy.use([server.url]);
  });
  afterEach(() => proxy.close());

  const env = (url = proxy.url) => ({
    SWITCHYARD_URL: url,
    SWITCHYARD_TOKEN: server.token,
    SWITCHYARD_APP: 'app',
    SWITCHYARD_CONFIG: join(folder, 'state'),
  });

  /** Waits for the bytes that the proxy has passed on: a busy server reads them after the connection is cut. */
  async function waitUntilStored(): Promise<void> {
    const { upload_url } = JSON.parse(readFileSync(join(records, listRecords()[0] ?? ''), 'utf8'));
    const { id, query } = readSignedUrl(upload_url);
    const readOffset = async () =>
      (await server.client.call('getUpload', { params: { upload_id: id }, query })).body.offset;
    await expect.poll(readOffset).toBeGreaterThan(BYTES * 0.5);
  }

  test('continues what a killed one left, with the same archive after another build', async () => {
    const args = ['push', 'app', 'app'];
    const child = spawn(process.execPath, [MAIN_FILE, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env() },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let notes = '';
    child.stderr.on('data', (chunk) => {
      notes += chunk;
      if (notes.includes('The connection was lost.')) child.kill('SIGKILL');
    });
    expect((await once(child, 'exit'))[1], notes).toBe('SIGKILL');
    expect(listRecords()).toEqual([expect.stringMatching(`^upl-.*\\.${child.pid}\\.json$`)]);
    await waitUntilStored();
    const before = proxy.receivedBytes;
    const second = await runCommand(args, { cwd: folder, env: env() });
    expect(second).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^Resuming at (5|6)\d %: an earlier command sent [56](\.\d+)?\sMB of 10\sMB\.$/m,
      ),
    });
    expect(proxy.receivedBytes - before).toBeLessThan(BYTES * 0.5);
    expect(listRecords()).toEqual([]);
  });

  /** Interrupts the command when its connection is lost, as Ctrl-C does. */
  async function interrupt(args: readonly string[]): Promise<void> {
    const controller = new AbortController();
    const onError = (text: string): void => {
      if (text.includes('The connection was lost.')) controller.abort();
    };
    const { code } = await runCommand(args, { cwd: folder, env: env(), onError, signal: controller.signal });
    expect(code).toBe(130);
    expect(listRecords()).toEqual([expect.stringContaining('.free.json')]);
    await waitUntilStored();
  }

  test.each<[string, string[], RegExp]>([
    ['says so', [], /^Resuming at \d\d %: .*\n$/],
    ['says nothing with --json', ['--json'], /^$/],
    ['says nothing with --quiet', ['--quiet'], /^$/],
  ])('%s when it continues an interrupted one', async (_title, form, note) => {
    const args = ['inputs', 'create', '--file', 'large.bin', '--format', 'text'];
    await interrupt(args);
    const before = proxy.receivedBytes;
    const id = `input${form[0] ?? ''}`;
    const { code, stderr } = await runCommand([...args, id, ...form], { cwd: folder, env: env() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(note) });
    expect(proxy.receivedBytes - before).toBeLessThan(BYTES * 0.5);
    const stored = await runCommand(['inputs', 'download', id, '--output', 'stored.bin'], {
      cwd: folder,
      env: env(server.url),
    });
    expect(stored.code).toBe(0);
    expect(readFileSync(join(folder, 'stored.bin')).equals(large)).toBe(true);
    expect(listRecords()).toEqual([]);
  });

  test('starts again where the server refuses the URL', async () => {
    const args = ['inputs', 'create', 'again', '--file', 'large.bin', '--format', 'text'];
    await interrupt(args);
    const path = join(records, listRecords()[0] ?? '');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/signature=[^"]*/, 'signature=wrong'));
    const { code, stderr } = await runCommand(args, { cwd: folder, env: env() });
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('Resuming');
    expect(listRecords()).toEqual([]);
  });

  test('and a third one at the same time: one of them continues, and both are complete', async () => {
    const create = (id = 'left') => ['inputs', 'create', id, '--file', 'large.bin', '--format', 'text'];
    await interrupt(create());
    const both = await Promise.all(
      [create(), create('right')].map((args) => runCommand(args, { cwd: folder, env: env() })),
    );
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.filter(({ stderr }) => stderr.includes('Resuming at'))).toHaveLength(1);
    expect(listRecords()).toEqual([]);
  });

  test('with the same idempotency key has the same upload, also after its URL has expired', async () => {
    const expired = createClient({
      url: server.url,
      token: server.token,
      fetch: (address, init) => fetch(String(address).replace(/expires=\d+/, 'expires=0'), init),
    });
    const target: UploadPlace = { application_id: 'app', operation: 'createRunUpload' };
    const keyed = { ...target, idempotencyKey: 'monday' };
    const content = new Blob(['content']);
    const first = await uploadContent(server.client, keyed, content);
    expect(await uploadContent(server.client, keyed, content)).toBe(first);
    expect(await uploadContent(expired, keyed, content)).toBe(first);
    await expect(uploadContent(expired, target, content)).rejects.toMatchObject({ status: 403 });
  });
});
