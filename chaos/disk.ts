/**
 * A disk of its own for all that the torture keeps. As root ext4 with blocks of 4 KiB on a loop device, as most servers have,
 * which is filled by a file; else a file system in memory that is made small at once and large again.
 * To mount it takes a name space for mounts, which root has and an ordinary user is given with one for users; the torture
 * starts itself again inside. What is mounted there nobody else sees, and it goes with the last process inside.
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

export interface TestDisk {
  /** From now on nothing more can be written. */
  fill(): void;
  free(): void;
  unmount(): void;
}

/** Why this host lets nobody mount a disk, or empty. */
function whyNot(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-disk-'));
  try {
    const tried = spawnSync(
      'unshare',
      [...FLAGS, 'sh', '-c', 'mount -t tmpfs -o size=1m none "$0" && umount "$0"', folder],
      { encoding: 'utf8' },
    );
    if (tried.error) return `unshare of util-linux could not be started (${tried.error.message})`;
    return tried.status === 0
      ? ''
      : tried.stderr.trim().split('\n')[0] || `unshare ended with ${tried.status}`;
  } finally {
    rmdirSync(folder);
  }
}

/**
 * Runs this program again where it may mount, and ends as that does. Returns where the program has to go on itself: inside,
 * with an empty text, or on a host that lets nobody mount, with why.
 */
export async function enterMountNamespace(): Promise<string> {
  if (process.argv.includes(INSIDE)) return '';
  const why = whyNot();
  if (why !== '') return why;
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

/** Mounts the disk at the folder, which is made. */
export function mountDisk(folder: string): TestDisk {
  mkdirSync(folder, { mode: 0o755 });
  return mountExt4(folder) ?? mountTmpfs(folder);
}

/** undefined where no file can be mounted. */
function mountExt4(folder: string): TestDisk | undefined {
  const image = `${folder}.image`;
  writeFileSync(image, '');
  truncateSync(image, BYTES);
  const mounted =
    spawnSync('mkfs.ext4', ['-q', '-F', '-b', '4096', image]).status === 0 &&
    spawnSync('mount', ['-o', 'loop', image, folder]).status === 0;
  // It has no name from now on, and goes with the mount.
  rmSync(image);
  if (!mounted) return undefined;
  let files = 0;
  const fillers = join(folder, 'fillers');
  return {
    fill() {
      mkdirSync(fillers);
      // Others write meanwhile; and the last blocks go only by writing.
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
      // It cannot be made smaller than what lies on it, and others write meanwhile.
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
