/** B20: several servers and workers share a folder for blobs, for example on NFS, instead of a bucket. */
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startServerCluster } from '../../testing/servers/server-cluster.ts';
import { startTestServer } from '../../testing/servers/test-server.ts';
import { systemClock } from '../clock.ts';
import { ConfigError, readConfig } from '../config.ts';
import { StoreUnavailableError } from './blob-store.ts';
import { openDiskBlobs } from './disk.ts';
import { checkSharedFolder, type SharedFiles } from './shared-folder.ts';

const postgres = inject('postgres');
const MINUTE_MS = 60_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-shared-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('B20: several processes may have the setting', () => {
  const env = {
    SWITCHYARD_ROLE: 'worker',
    SWITCHYARD_DATABASE: 'postgres://db.example/switchyard',
    SWITCHYARD_KEY: Buffer.alloc(32).toString('base64'),
    SWITCHYARD_BLOBS: 'file:///mnt/yard%20one/',
  };
  expect(readConfig(env)).toMatchObject({ sharedBlobs: '/mnt/yard one', s3: null });
});

test('B20: one server stores its blobs there and none in its data folder', async () => {
  await using server = await startTestServer({ env: { SWITCHYARD_BLOBS: `file://${folder}` } });
  expect(readdirSync(folder).sort()).toEqual(['incoming', 'installation.json']);
  expect(readdirSync(server.dataFolder)).not.toContain('blobs');
});

describe('B20: a start is refused', () => {
  test.each<[string, () => string, number, RegExp]>([
    ['where the share is not mounted', () => join(folder, 'none'), 0, /is not a folder: mount the share/],
    [
      'where files cannot be written',
      () => {
        writeFileSync(join(folder, 'incoming'), '');
        return folder;
      },
      0,
      /cannot create the folder incoming \(EEXIST.*check the rights/,
    ],
    ['where clocks differ', () => folder, 6 * MINUTE_MS, /clock is 6\u00a0min apart .* NTP/],
    ['where clocks differ in the other direction', () => folder, -6 * MINUTE_MS, /clock is 6\u00a0min apart/],
  ])('%s', async (_, path, ahead, message) => {
    const check = checkSharedFolder(path(), 'one', createManualClock(Date.now() + ahead));
    await expect(check).rejects.toThrow(message);
    await expect(check).rejects.toBeInstanceOf(ConfigError);
  });

  const ordinary = (): SharedFiles => ({
    writeSynced: async (path, text) => writeFileSync(path, text),
    createExclusively: async (path) => writeFileSync(path, '', { flag: 'wx' }),
    rename: async (from, to) => renameSync(from, to),
    link: async (from, to) => linkSync(from, to),
    syncFolder: async () => {},
  });
  const fail = (code: string) => async () => {
    throw Object.assign(new Error(`${code}: the mount refuses it`), { code });
  };

  test.each<[string, Partial<SharedFiles>, RegExp]>([
    ['files cannot be synced', { writeSynced: fail('EINVAL') }, /cannot write and sync a file \(EINVAL/],
    ['folders cannot be synced', { syncFolder: fail('EINVAL') }, /cannot sync a folder \(EINVAL/],
    ['files cannot be renamed', { rename: fail('EXDEV') }, /cannot rename a file \(EXDEV/],
    [
      'a rename copies',
      { rename: async (from, to) => copyFileSync(from, to) },
      /a rename does not replace a file in one step: use NFS/,
    ],
    [
      'a rename leaves a gap',
      {
        async rename(from, to) {
          rmSync(to);
          await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
          await readFile(from);
          renameSync(from, to);
        },
      },
      /a rename does not replace a file in one step/,
    ],
    [
      'an exclusive open replaces',
      { createExclusively: async (path) => writeFileSync(path, '') },
      /two processes can create the same file/,
    ],
    [
      'a link replaces',
      { link: async (from, to) => copyFileSync(from, to) },
      /two processes can create the same file/,
    ],
  ])('where %s', async (_, files, message) => {
    const check = checkSharedFolder(folder, 'one', systemClock, { ...ordinary(), ...files });
    await expect(check).rejects.toThrow(message);
    await expect(check).rejects.toThrow(`SWITCHYARD_BLOBS is "file://${folder}"`);
    expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
  });

  test('but not where links are missing', () =>
    checkSharedFolder(folder, 'one', systemClock, { ...ordinary(), link: fail('EPERM') }));

  test('but not where clocks differ by four minutes', async () => {
    await checkSharedFolder(folder, 'one', createManualClock(Date.now() + 4 * MINUTE_MS));
    await checkSharedFolder(folder, 'one', systemClock);
    expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
  });
});

test('B20: a starting process removes no file that another one is writing', async () => {
  const first = await openDiskBlobs(folder, 'one');
  const source = new PassThrough();
  const put = first.put('b-slow', source, 1000);
  source.write('half ');
  await expect.poll(() => readdirSync(join(folder, 'incoming', 'one'))).toEqual(['b-slow']);
  const second = await openDiskBlobs(folder, 'two');
  source.end('done');
  await put;
  expect((await buffer(await second.open('b-slow'))).toString()).toBe('half done');
});

test('B20: a put writes nothing into the mount point of an unmounted share', async () => {
  const blobs = await openDiskBlobs(folder, 'one');
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  await expect(blobs.put('b-lost', Readable.from([Buffer.from('lost')]), 10)).rejects.toThrow(
    StoreUnavailableError,
  );
  expect(readdirSync(folder)).toEqual([]);
});

test.runIf(postgres)('B20: a worker runs what a server stored in the shared folder', async () => {
  const cluster = await startServerCluster(postgres, `shared_folder_${process.pid}`, { sharedBlobs: folder });
  try {
    const server = await cluster.start('server');
    await cluster.start('worker');
    await pushApp(server, 'shared', nodeApp('(input) => ({ length: input.text.length })'));
    const response = await server.request('POST', '/v1/applications/shared/runs/uploadurl');
    const { upload_id, upload_url } = response.body as Upload;
    const body = JSON.stringify({ text: 'x'.repeat(300_000) });
    await fetch(upload_url, { method: 'PUT', body });
    const created = await server.request('POST', '/v1/applications/shared/runs', { body: { upload_id } });
    const { run_id } = created.body as { run_id: string };
    await expect
      .poll(async () => (await server.request('GET', `/v1/applications/shared/runs/${run_id}`)).body)
      .toMatchObject({ status_v2: 'succeeded', output: { length: 300_000 } });
  } finally {
    await cluster.close();
  }
});
