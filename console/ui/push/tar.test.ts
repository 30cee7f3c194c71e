/** Archives of the browser, read by the tar of the system. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createTar, readTarFile } from './tar.ts';

const LONG_NAME = `${'folder/'.repeat(20)}solver.mjs`;
const files = [
  { name: 'main', content: new Blob(['#!/bin/sh\n']), isExecutable: true },
  { name: LONG_NAME, content: new Blob(['x'.repeat(512)]), isExecutable: false },
  { name: 'app.yaml', content: new Blob(['type: binary\n']), isExecutable: false },
];

test('another program reads names, modes and contents', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tar-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const input = Buffer.from(await createTar(files).arrayBuffer());
  const { status, stderr } = spawnSync('tar', ['-xpf', '-', '-C', folder], { input, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  for (const { name, content, isExecutable } of files) {
    expect(await readFile(join(folder, name), 'utf8')).toBe(await content.text());
    expect((await stat(join(folder, name))).mode & 0o777).toBe(isExecutable ? 0o755 : 0o644);
  }
});

test('a path without a place to cut it is refused', () => {
  const name = 'x'.repeat(101);
  expect(() => createTar([{ name, content: new Blob([]), isExecutable: false }])).toThrow('too long');
});

test('a file is found in a gzip tar by its name', async () => {
  const archive = new Blob([gzipSync(Buffer.from(await createTar(files).arrayBuffer()))]);
  expect(await readTarFile(archive, 'app.yaml')).toBe('type: binary\n');
  expect(await readTarFile(archive, 'gone.yaml')).toBeUndefined();
});
