/**
 * A separate disk for all data of the chaos test. As root, it is ext4 with blocks of 4 KiB on a loop device, as on most
 * servers; a file fills it. Otherwise it is a tmpfs that a remount shrinks and grows.
 *
 * Mounting needs a mount namespace. Root may create one, and an ordinary user together with a user namespace. The chaos
 * test therefore starts itself again inside. Its mounts are invisible to other processes, and disappear with the last
 * process inside.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

const INSIDE = '--inside';
const BYTES = 4 * 1024 ** 3;
const FILL_TRIES = 50;

const FLAGS =
  process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-current-user', '--keep-caps', '--mount'];

/** A mounted disk that a fault can fill. */
export interface TestDisk {
  /** Makes every further write fail. */
  fill(): void;
  free(): void;
  unmount(): void;
}

/** Returns why this host does not allow mounts; empty if it does. */
function findMountProblem(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-disk-'));
  try {
    const attempt = spawnSync(
      'unshare',
      [...FLAGS, 'sh', '-c', 'mount -t tmpfs -o size=1m none "$0" && umount "$0"', folder],
      { encoding: 'utf8' },
    );
    if (attempt.error) return `unshare of util-linux cannot be started (${attempt.error.message})`;
    return attempt.status === 0
      ? ''
      : attempt.stderr.trim().split('\n')[0] || `unshare ended with ${attempt.status}`;
  } finally {
    rmdirSync(folder);
  }
}

/**
 * Runs this program again in a mount namespace and exits with its exit code. Returns only where the program must
 * continue itself. Inside, the result is empty; on a host without mount rights, it is the reason.
 */
export async function enterMountNamespace(): Promise<string> {
  if (process.argv.includes(INSIDE)) return '';
  const problem = findMountProblem();
  if (problem !== '') return problem;
  const child = spawn('unshare', [...FLAGS, process.execPath, ...process.argv.slice(1), INSIDE], {
    stdio: 'inherit',
  });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => child.kill(name));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once('exit', (...how) => resolve(how)),
  );
  process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0));
}

/** The flag that `enterMountNamespace` adds. */
export const NAMESPACE_FLAG = INSIDE.slice(2);

/** Creates the folder and mounts the disk at it. */
export function mountDisk(folder: string): TestDisk {
  mkdirSync(folder, { mode: 0o755 });
  return mountExt4(folder) ?? mountTmpfs(folder);
}

/** Returns undefined if the host cannot mount a file. */
function mountExt4(folder: string): TestDisk | undefined {
  const image = `${folder}.image`;
  writeFileSync(image, '');
  truncateSync(image, BYTES);
  const mounted =
    spawnSync('mkfs.ext4', ['-q', '-F', '-b', '4096', image]).status === 0 &&
    spawnSync('mount', ['-o', 'loop', image, folder]).status === 0;
  // The open mount keeps the unlinked image until the unmount.
  rmSync(image);
  if (!mounted) return undefined;
  let files = 0;
  const fillers = join(folder, 'fillers');
  return {
    fill() {
      mkdirSync(fillers);
      // Other processes write concurrently, and only a write uses the last blocks.
      for (let tries = 0; tries < FILL_TRIES; tries += 1) {
        const { bavail, bsize } = statfsSync(folder);
        files += 1;
        const file = join(fillers, String(files));
        const length = Math.max(bsize, bavail * bsize);
        if (spawnSync('fallocate', ['--length', String(length), file]).status !== 0 && bavail <= 1) return;
      }
    },
    free: () => rmSync(fillers, { recursive: true, force: true }),
    unmount() {
      spawnSync('umount', ['--lazy', folder]);
    },
  };
}

function mountTmpfs(folder: string): TestDisk {
  const mount = (...args: string[]): void => {
    const done = spawnSync('mount', args, { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`mount ${args.join(' ')}: ${done.stderr.trim()}`);
  };
  mount('-t', 'tmpfs', '-o', `size=${BYTES},mode=755`, 'none', folder);
  return {
    fill() {
      const { blocks, bfree, bsize } = statfsSync(folder);
      // The size cannot be below the used space, and other processes write concurrently.
      for (let used = (blocks - bfree) * bsize; ; used += 64 * 1024) {
        const done = spawnSync('mount', ['-o', `remount,size=${used}`, folder]);
        if (done.status === 0) return;
      }
    },
    free: () => mount('-o', `remount,size=${BYTES}`, folder),
    unmount() {
      spawnSync('umount', ['--lazy', folder]);
    },
  };
}
