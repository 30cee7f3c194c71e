/** Reads and removes folders in which the app has placed links, devices and other entries. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { removeTree } from '../filesystem/remove-tree.ts';
import { type RunFolder, resolveRunFolder } from '../filesystem/run-folder.ts';
import { createArchiveInput, createTarOfFiles } from '../testing/archives.ts';
import {
  createScratchFolder,
  createShellApp,
  createUniqueSeconds,
  expectEnded,
  listProcessesWithArgument,
  MIB,
  removeFolder,
  runApp,
  startApp,
  startRunnerConfinedBy,
} from '../testing/runner-harness.ts';
import { waitUntil } from '../testing/wait-until.ts';
import { copyResultFile, packSolutions, type UnpackedExecutable } from './collect-results.ts';

const isRoot = process.getuid?.() === 0;
const scratch = createScratchFolder();
const SECRET = 'the master key';
/** The user of the run; without root it is the user of this process. */
const owner = isRoot ? 1_234_567 : (process.getuid?.() ?? 0);
const emptyExecutable: UnpackedExecutable = { entriesByPath: new Map(), folder: '' };
let count = 0;
let run: RunFolder;
let secret: string;

afterAll(() => removeFolder(scratch));

beforeEach(() => {
  count += 1;
  run = resolveRunFolder(join(scratch, `run-${count}`));
  secret = join(scratch, `secret-${count}`);
  mkdirSync(join(run.work, 'out', 'deep'), { recursive: true });
  writeFileSync(secret, SECRET, { mode: 0o600 });
});

function ownFile(name: string, text: string): string {
  const path = join(run.work, 'out', name);
  writeFileSync(path, text);
  if (isRoot) chownSync(path, owner, owner);
  return path;
}

/** Each creates the entry `x`, or makes `way` lead elsewhere. */
const HOSTILE: [what: string, make: (at: string) => void, needsRoot?: boolean][] = [
  ['a hard link to a file of the host', (at) => linkSync(secret, at), true],
  [
    'a hard link whose other name is gone',
    (at) => {
      linkSync(secret, at);
      rmSync(secret);
    },
    true,
  ],
  ['a symbolic link', (at) => symlinkSync(secret, at)],
  ['a pipe', (at) => execFileSync('mkfifo', [at])],
  ['a device', (at) => execFileSync('mknod', [at, 'c', '1', '5']), true],
  ['a folder', (at) => mkdirSync(at)],
];

describe.each(HOSTILE)('V1: %s', (_, make, needsRoot = false) => {
  // Only root can link to files of others and create devices.
  test.skipIf(needsRoot && !isRoot)('is neither copied nor packed', async () => {
    ownFile('real', 'real');
    make(join(run.work, 'out', 'x'));
    const source = { folder: run, owner, isOnRunDisk: true };
    expect(
      await copyResultFile({ source, path: 'out/x', name: 'statistics', maxBytes: MIB }),
    ).toBeUndefined();
    const packed = await packSolutions({ source, path: 'out', executable: emptyExecutable, maxBytes: MIB });
    if (packed === undefined || !('path' in packed)) throw new Error(JSON.stringify(packed));
    expect(execFileSync('tar', ['-tzf', packed.path], { encoding: 'utf8' })).toBe('real\n');
  });
});

test('V1: a parent folder that is a link is not followed', async () => {
  rmSync(join(run.work, 'out'), { recursive: true });
  symlinkSync(scratch, join(run.work, 'out'));
  const source = { folder: run, owner: process.getuid?.() ?? 0, isOnRunDisk: false };
  expect(
    await copyResultFile({ source, path: `out/secret-${count}`, name: 'statistics', maxBytes: MIB }),
  ).toBeUndefined();
  expect(
    await packSolutions({ source, path: 'out', executable: emptyExecutable, maxBytes: MIB }),
  ).toBeUndefined();
});

test('V1: a socket is neither copied nor packed', async () => {
  const server = createServer().listen(join(run.work, 'out', 'x'));
  await new Promise((resolve) => server.once('listening', resolve));
  const source = { folder: run, owner: process.getuid?.() ?? 0, isOnRunDisk: false };
  expect(await copyResultFile({ source, path: 'out/x', name: 'statistics', maxBytes: MIB })).toBeUndefined();
  expect(
    await packSolutions({ source, path: 'out', executable: emptyExecutable, maxBytes: MIB }),
  ).toBeUndefined();
  await new Promise((resolve) => server.close(resolve));
});

test('a file is copied without its mode, and a file that is too large is not', async () => {
  const path = ownFile('x', 'text');
  chmodSync(path, 0o4111);
  const source = { folder: run, owner, isOnRunDisk: true };
  const copied = await copyResultFile({ source, path: 'out/x', name: 'statistics', maxBytes: MIB });
  expect(copied).toEqual({ path: join(run.results, 'statistics'), bytes: 4 });
  expect(readFileSync(join(run.results, 'statistics'), 'utf8')).toBe('text');
  expect((await stat(join(run.results, 'statistics'))).mode & 0o7777).toBe(0o600);
  chmodSync(path, 0o600);
  truncateSync(path, 2 * MIB);
  expect(await copyResultFile({ source, path: 'out/x', name: 'metrics', maxBytes: MIB })).toEqual({
    actualBytes: 2 * MIB,
  });
  expect(existsSync(join(run.results, 'metrics'))).toBe(false);
});

test('removal covers unreadable folders and names that are not UTF-8, and follows no link', async () => {
  const outside = join(scratch, `outside-${count}`);
  mkdirSync(outside);
  writeFileSync(join(outside, 'kept'), '');
  symlinkSync(outside, join(run.work, 'out', 'link'));
  symlinkSync(outside, join(run.work, 'out', 'deep', 'link'));
  // `\\377` is a byte that is invalid in UTF-8.
  execFileSync('sh', ['-c', `cd "$0" && : > "$(printf 'a\\377')" && mkdir "$(printf 'b\\377')"`, run.work]);
  execFileSync('perl', ['-e', 'chdir shift; $d = "d" x 60; for (1..110) { mkdir $d; chdir $d }', run.work]);
  mkdirSync(join(run.work, 'closed', 'inner'), { recursive: true });
  chmodSync(join(run.work, 'closed'), 0);
  await removeTree(run.root);
  expect(existsSync(run.root)).toBe(false);
  expect(existsSync(join(outside, 'kept'))).toBe(true);
});

describe.skipIf(!isRoot)('as root', () => {
  test('V1: a run at level limits cannot return a file of the host as a result', async (context) => {
    const runner = await startRunnerConfinedBy('a pid namespace and own users', scratchFolderOfRun());
    if (runner === undefined) return context.skip('this host cannot hold apps so');
    const mark = createUniqueSeconds();
    const places = ['solutions/x', 'statistics/statistics.json', 'assets/assets.json'];
    const { app } = await startApp(runner, {
      files: createShellApp(`echo real > outputs/solutions/real; sleep ${mark} & wait; exit 0`),
      input: createArchiveInput('multi-file', await createTarOfFiles({ 'a.csv': '' })),
    });
    await waitUntil('the app waits', () => listProcessesWithArgument(mark).length > 0);
    const [sleep = Number.NaN] = listProcessesWithArgument(mark);
    // Simulates a hard link to a file of root, on any file system.
    for (const place of places) writeFileSync(`/proc/${sleep}/cwd/outputs/${place}`, SECRET);
    process.kill(sleep, 'SIGTERM');
    const outcome = expectEnded(await app.done);
    expect(outcome).toMatchObject({ succeeded: true });
    const { solutions, statistics, assets } = outcome;
    expect(execFileSync('tar', ['-tzf', solutions?.path ?? ''], { encoding: 'utf8' })).toBe('real\n');
    expect([statistics, assets]).toEqual([undefined, undefined]);
    await runner.close();
  });

  test('V1: the copy of a truncated log does not keep the mode of the log', async (context) => {
    const runner = await startRunnerConfinedBy('a pid namespace and own users', scratchFolderOfRun());
    if (runner === undefined) return context.skip('this host cannot hold apps so');
    const { outcome } = await runApp(runner, {
      files: createShellApp('chmod 4755 /proc/self/fd/2; head -c 3000 /dev/zero >&2'),
      limits: { logBytes: 1_000 },
    });
    expect(outcome).toMatchObject({ succeeded: true, isLogTruncated: true });
    expect((await stat(outcome.stderr.path)).mode & 0o7777).toBe(0o600);
    await runner.close();
  });
});

function scratchFolderOfRun(): string {
  const folder = join(scratch, `runner-${count}`);
  mkdirSync(folder, { mode: 0o711 });
  return folder;
}
