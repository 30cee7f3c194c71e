/** V3: a file system for each run, where root can mount one. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { probeDisks } from '../host/probe-host.ts';
import { listChildren } from '../process/processes.ts';
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
  WITH_DISKS,
} from '../testing/runner-harness.ts';
import { waitUntil } from '../testing/wait-until.ts';
import type { Diagnostic, Runner } from '../types.ts';

const WAYS = ['bubblewrap as root', 'a pid namespace and own users'];
const folders: string[] = [];
let runner: Runner | undefined;
/** Loop devices and mounts need root and a host that allows them. */
const trial = newFolder();
const hasPython = spawnSync('python3', ['--version']).status === 0;
const canMount = 'tools' in (await probeDisks(trial));

afterEach(async () => {
  await runner?.close();
  runner = undefined;
});
afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

function newFolder(): string {
  const folder = createScratchFolder();
  folders.push(folder);
  return folder;
}

/** Returns loop devices with an image file below the folder, unlinked ones included. */
function listLoopDevices(folder: string): string[] {
  return execFileSync('losetup', ['-a'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(folder));
}

async function start(way: string, folder = newFolder()): Promise<Runner> {
  runner = await startRunnerConfinedBy(`${way}${WITH_DISKS}`, folder);
  if (runner === undefined) throw new Error(`This host does not support the confinement "${way}".`);
  return runner;
}

describe.skipIf(!canMount)('with disks', () => {
  test.each(WAYS)('V3: a run has input, results and log, confined by %s', async (way) => {
    const { outcome, stdout } = await runApp(await start(way), {
      files: { main: '#!/bin/sh\ncat inputs/a.csv; mv inputs/a.csv outputs/solutions; echo "{}" > $ASSETS' },
      environment: { ASSETS: 'outputs/assets/assets.json' },
      input: createArchiveInput('multi-file', await createTarOfFiles({ 'a.csv': 'abc' })),
    });
    expect(stdout).toBe('abc');
    expect(outcome).toMatchObject({ succeeded: true, assets: { bytes: 3 } });
    const packed = execFileSync('tar', ['-xzOf', outcome.solutions?.path ?? '', 'a.csv']);
    expect(packed.toString()).toBe('abc');
  });

  test('V3: the disk of a run has its limit as free space, rounded up by at most one step', async () => {
    const { outcome, stdout } = await runApp(await start('bubblewrap as root'), {
      files: createShellApp('df -k . | tail -1 | while read -r _ size _; do echo "$size"; done'),
      limits: { fileBytes: 64 * MIB },
    });
    expect(outcome.succeeded).toBe(true);
    expect(Number(stdout) * 1024).toBeGreaterThan(64 * MIB);
    expect(Number(stdout) * 1024).toBeLessThanOrEqual(256 * MIB);
  });

  test('V3: the next run gets an empty disk', async () => {
    const host = await start('bubblewrap as root');
    const look = createShellApp(
      'df . | tail -1 | cut -d" " -f1; ls -A /app /tmp | grep -c left; echo x > left; echo x > /tmp/left',
    );
    const first = await runApp(host, { files: look });
    await first.app.dispose();
    const second = await runApp(host, { files: look });
    expect(second.stdout).toBe(first.stdout);
    expect(second.stdout).toMatch(/^\/dev\/loop\d+\n0\n$/);
    await second.app.dispose();
  });

  test('V3: concurrent runs have disks of their own', async () => {
    const folder = newFolder();
    const host = await start('bubblewrap as root', folder);
    const script = 'df . | tail -1 | cut -d" " -f1; sleep 0.5';
    const all = await Promise.all([1, 2, 3].map(() => runApp(host, { files: createShellApp(script) })));
    expect(new Set(all.map((one) => one.stdout)).size).toBe(3);
    await Promise.all(all.map((one) => one.app.dispose()));
    await host.close();
    expect(listLoopDevices(folder)).toEqual([]);
    expect(readdirSync(join(folder, 'disks'))).not.toContain('1.image');
  });

  test('V3: a run without a free loop device starts without a disk and reports it', async () => {
    const [tools, diagnostics]: [string, string[]] = [newFolder(), []];
    // Fails as mount does without free loop devices, once the file `out` exists.
    const mount = execFileSync('which', ['mount'], { encoding: 'utf8' }).trim();
    const script = `#!/bin/sh\n[ -e ${tools}/out ] && echo 'failed to setup loop device' >&2 && exit 32\nexec ${mount} "$@"`;
    writeFileSync(join(tools, 'mount'), script, { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = `${tools}:${path}`;
    try {
      const settings = { onDiagnostic: ({ message }: Diagnostic) => diagnostics.push(message) };
      runner = await startRunnerConfinedBy(`bubblewrap as root${WITH_DISKS}`, newFolder(), settings);
    } finally {
      process.env.PATH = path;
    }
    if (runner === undefined)
      throw new Error('This host does not support the confinement "bubblewrap as root".');
    const first = await startApp(runner, {
      files: createShellApp('df . | tail -1 | cut -d/ -f3; cat'),
      stdin: 'x',
    });
    expect(expectEnded(await first.app.done).succeeded).toBe(true);
    writeFileSync(join(tools, 'out'), '');
    const second = await runApp(runner, { files: createShellApp('df . | tail -1 | cut -c1-9') });
    expect(second.outcome).toMatchObject({ succeeded: true });
    expect(second.stdout).not.toBe('/dev/loop\n');
    expect(diagnostics.join()).toMatch(/failed to setup loop device/);
    await Promise.all([first, second].map(({ app }) => app.dispose()));
  });

  test('R2: an app is blamed for filling the disk of the host, also when it has removed its files', async () => {
    const folder = newFolder();
    const script = 'dd if=/dev/zero of=large bs=1M count=60 conv=fsync; rm large; exit 1';
    const owner = [
      process.execPath,
      join(import.meta.dirname, '../testing/runner-owner.ts'),
      folder,
      '',
      script,
    ];
    // The mount vanishes with the process.
    const small = 'mount -t tmpfs -o size=50m,mode=711 none "$0" && exec "$@"';
    const output = execFileSync('unshare', ['--mount', 'sh', '-c', small, folder, ...owner], {
      encoding: 'utf8',
    });
    const { outcome } = JSON.parse(output.trim().split('\n').at(-1) ?? '');
    expect(outcome).toMatchObject({ succeeded: false, reason: 'host' });
    expect(outcome.error).toContain('The disk of the host is full');
    expect(outcome.hostFault).toBeUndefined();
  });

  // Python sends files to another process.
  test.skipIf(!hasPython)('V3: a file passed to another run occupies no space of the host', async () => {
    const folder = newFolder();
    const host = await start('bubblewrap as root', folder);
    const python = (code: string) => createShellApp(`exec python3 -c '\nimport os, socket\n${code}'`);
    const name = `"\\0${folder}"`;
    const isListening = Promise.withResolvers<void>();
    const holder = await startApp(host, {
      network: true,
      files: python(
        `s = socket.socket(socket.AF_UNIX); s.bind(${name}); s.listen()\nos.write(2, b"listens\\n")\nc = s.accept()[0]; held = socket.recv_fds(c, 1, 1); c.send(b"y"); s.accept()`,
      ),
      onLine: () => isListening.resolve(),
    });
    await isListening.promise;
    const giver = await runApp(host, {
      network: true,
      files: python(
        `s = socket.socket(socket.AF_UNIX); s.connect(${name}); f = open("x", "w+"); f.write("y" * 9999)\nf.flush(); os.fsync(f.fileno()); socket.send_fds(s, [b"x"], [f.fileno()]); s.recv(1)`,
      ),
    });
    expect(giver.outcome).toMatchObject({ succeeded: true });
    await giver.app.dispose();
    const sizes = listLoopDevices(folder).map((line) => {
      const device = line.slice('/dev/'.length, line.indexOf(':'));
      return Number(readFileSync(`/sys/block/${device}/size`, 'utf8'));
    });
    expect(sizes.filter((size) => size === 0)).toHaveLength(1);
    expect(sizes).toHaveLength(2);
    holder.app.cancel();
    await holder.app.done;
    await holder.app.dispose();
    await host.close();
    await waitUntil('the loop devices are gone', () => listLoopDevices(folder).length === 0);
  });

  test('V3: a cancellation before the disk is ready ends the run', async () => {
    const { app } = await startApp(await start('bubblewrap as root'), { files: createShellApp('sleep 60') });
    app.cancel();
    expect(expectEnded(await app.done)).toMatchObject({ succeeded: false, reason: 'canceled' });
    await app.dispose();
  });

  test.each([
    ['the launcher', false],
    ['the owner and the launcher', true],
  ])('V3: kill -9 of %s leaves no mount, no loop device and no file', async (_, both) => {
    const folder = newFolder();
    const mark = createUniqueSeconds();
    const owner = spawn(
      process.execPath,
      [join(import.meta.dirname, '../testing/runner-owner.ts'), folder, '', `sleep ${mark}`],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const lines = createInterface({ input: owner.stdout });
    await once(lines, 'line');
    await waitUntil('the app runs', () => listProcessesWithArgument(mark).length > 0);
    expect(listLoopDevices(folder)).toHaveLength(1);
    const launcher = findLauncher(owner);
    const gone = once(owner, 'exit');
    if (both) process.kill(owner.pid ?? Number.NaN, 'SIGKILL');
    process.kill(launcher, 'SIGKILL');
    await gone;
    // The next start kills apps that outlive both.
    const again = await start('bubblewrap as root', folder);
    await waitUntil('its disk is gone', () => listLoopDevices(folder).length === 0);
    expect(spawnSync('grep', ['-c', folder, '/proc/mounts']).stdout.toString()).toBe('0\n');
    expect((await runApp(again, { files: createShellApp('true') })).outcome.succeeded).toBe(true);
  });
});

/** Returns the id of the launcher. */
function findLauncher({ pid }: ChildProcess): number {
  const [found] = listChildren(pid ?? 0).filter((child) =>
    execFileSync('ps', ['-o', 'args=', '-p', String(child)], { encoding: 'utf8' }).includes('launcher.ts'),
  );
  return found ?? Number.NaN;
}
