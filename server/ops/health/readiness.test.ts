/** R4, R5: `/readyz` and uploads on a disk that is full or read-only, and with a damaged database. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

const isRoot = process.getuid?.() === 0;
const FLAGS = isRoot ? ['--mount'] : ['--user', '--map-current-user', '--keep-caps', '--mount'];
const MOUNT = 'mount -t tmpfs -o size=32m,mode=700 none "$0"';
/** Reads modes from a named pipe, because only a process of the mount namespace may remount the file system. */
const REMOUNT = '{ while read -r mode; do mount -o "remount,$mode" "$0"; done < "$0.modes" & }';
const canMount =
  spawnSync('unshare', [...FLAGS, 'sh', '-c', `${MOUNT} && umount "$0"`, tmpdir()]).status === 0;

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'switchyard-ready-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const readiness = async (server: ServerProcess): Promise<[number, string]> => {
  const { status, body } = await server.request('GET', '/readyz');
  return [status, (body as { reason: string }).reason];
};

async function uploadUrl(server: ServerProcess): Promise<string> {
  const response = await server.request('POST', '/v1/applications/full/runs/uploadurl');
  return new URL((response.body as Upload).upload_url, server.url).href;
}

const put = async (url: string): Promise<[number, string]> => {
  const response = await fetch(url, { method: 'PUT', body: 'x'.repeat(100_000) });
  return [response.status, await response.text()];
};

// The test mounts its own file system in a mount namespace, which some hosts forbid.
test.runIf(canMount)(
  'R4, R5, W17: a full or read-only disk makes readiness and uploads return 503 until it is writable again',
  async () => {
    const blobs = join(data, 'blobs');
    mkdirSync(blobs);
    const wrapper = {
      program: 'unshare',
      args: [...FLAGS, 'sh', '-c', `${MOUNT} && ${REMOUNT}; exec "$@"`, blobs],
    };
    execFileSync('mkfifo', [`${blobs}.modes`]);
    const server = await startServerProcess({ dataFolder: data, wrapper });
    const modes = openSync(`${blobs}.modes`, 'w');
    const remount = (mode: string) => writeSync(modes, `${mode}\n`);
    try {
      await server.request('POST', '/v1/applications', { body: { id: 'full', name: 'Full disk' } });
      expect(await readiness(server)).toEqual([200, '']);
      const inside = join('/proc', String(server.pid), 'root', blobs);
      const filler = openSync(join(inside, 'filler'), 'w');
      const zeros = Buffer.alloc(1024 * 1024);
      expect(() => {
        for (;;) writeSync(filler, zeros);
      }).toThrow('ENOSPC');
      closeSync(filler);
      await expect
        .poll(() => readiness(server))
        .toEqual([503, `The disk of ${blobs} is full; free disk space.`]);
      const url = await uploadUrl(server);
      expect(await put(url)).toEqual([503, expect.stringContaining('The disk of the server is full')]);
      rmSync(join(inside, 'filler'));
      await expect.poll(() => readiness(server)).toEqual([200, '']);

      remount('ro');
      await expect.poll(() => readiness(server)).toEqual([503, expect.stringContaining('is read-only')]);
      expect(await put(url)).toEqual([503, expect.stringContaining('The disk of the server is read-only')]);
      remount('rw');
      await expect.poll(() => readiness(server)).toEqual([200, '']);
      expect((await put(url))[0]).toBe(200);
    } finally {
      closeSync(modes);
      await server.kill();
    }
  },
);

test('R4: a malformed database makes readiness and requests return 503', async () => {
  const first = await startServerProcess({ dataFolder: data });
  await first.kill('SIGTERM');
  // Overwrites all pages but the first (header and schema). The stopped server has checkpointed its last commits.
  const file = openSync(join(data, 'switchyard.db'), 'r+');
  const { size } = fstatSync(file);
  const server = await startServerProcess({ dataFolder: data });
  try {
    expect(await readiness(server)).toEqual([200, '']);
    const garbage = Buffer.alloc(4096, 0x5a);
    for (let at = 4096; at < size; at += garbage.length) writeSync(file, garbage, 0, garbage.length, at);
    writeFileSync(join(data, 'switchyard.db-wal'), Buffer.alloc(0));
    const requestMembers = async () => (await server.request('GET', '/v1/account/members')).status;
    await expect.poll(requestMembers).not.toBe(200);
    expect(await requestMembers()).toBe(503);
    await expect.poll(() => readiness(server)).toEqual([503, expect.stringContaining('npm run verify')]);
  } finally {
    closeSync(file);
    await server.kill();
  }
});
