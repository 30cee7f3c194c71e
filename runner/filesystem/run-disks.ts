/**
 * A file system for each running app, so that the kernel enforces its disk limit, however it hides its files: ext4 in a
 * sparse file, mounted by a loop device. Only a launcher that is root uses it.
 *
 * Invariants: disks are mounted in the launcher's own mount namespace, and their image files are unlinked. Mounts, loop
 * devices and space therefore vanish with the launcher's last app, however the launcher ends. A disk serves another run only when it
 * is empty and as much of it is free as after its creation. A mount takes tens of milliseconds, so disks are kept.
 */
import { execFile } from 'node:child_process';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getErrorMessage } from '../process/errors.ts';
import { isHostFault } from '../process/host-faults.ts';
import { readProcFile } from '../process/processes.ts';
import { hasDiskSpace } from './disk-space.ts';
import { removeTree } from './remove-tree.ts';

const execute = promisify(execFile);
const MIB = 1024 * 1024;
/** Sizes are rounded up, so that disks of few sizes serve most runs. */
const SIZE_STEP_BYTES = 256 * MIB;
const FILES_STEP = 16_384;
/** Space of the file system itself, without its inodes. */
const OVERHEAD_BYTES = 16 * MIB;
const INODE_BYTES = 256;
/** An idle disk that occupies more space of the host than this is destroyed. */
const MAX_IDLE_DISK_BYTES = 128 * MIB;
const MAX_IDLE_DISKS = 16;

/** Programs that make, mount and remove disks, and the folder in which disks are mounted. */
export interface DiskTools {
  folder: string;
  unshare: string;
  mkfs: string;
  mount: string;
  umount: string;
  losetup: string;
}

/** Used space and inodes of a disk. */
export interface DiskUsage {
  bytes: number;
  files: number;
}

/** A mounted disk. */
export interface RunDisk {
  /** Mount point. */
  path: string;
  bytes: number;
  files: number;
  /** Descriptor of its unlinked image file. */
  imageFd: number;
  /** Its usage when it was empty. */
  emptyUsage: DiskUsage;
}

/** Returns the usage of a disk, unlinked files and unwritten buffers included. */
export function readDiskUsage(path: string): DiskUsage {
  const { blocks, bfree, bsize, files, ffree } = statfsSync(path);
  return { bytes: (blocks - bfree) * bsize, files: files - ffree };
}

/** Options of `mkfs.ext4`: no journal, because the content need not survive a crash, and no reserved blocks. */
export const MKFS_OPTIONS = ['-q', '-F', '-m', '0', '-b', '4096', '-O', '^has_journal,^resize_inode'];
export const MOUNT_OPTIONS = 'loop,noinit_itable,nobarrier,noatime,nodev,nosuid';

/** Makes disks and keeps idle ones for later runs. */
export class DiskPool {
  readonly #tools: DiskTools;
  #idle: RunDisk[] = [];
  #count = 0;

  constructor(tools: DiskTools) {
    this.#tools = tools;
    rmSync(tools.folder, { recursive: true, force: true });
    mkdirSync(tools.folder, { mode: 0o711 });
  }

  /**
   * Returns an empty disk with at least this space. Throws DiskError when the system refuses to make one, and the error of
   * the system when the host has a fault (process/host-faults.ts).
   */
  async lease(bytes: number, files: number): Promise<RunDisk> {
    const inodes = roundUp(files, FILES_STEP);
    const size = roundUp(bytes * 1.02 + OVERHEAD_BYTES + inodes * INODE_BYTES, SIZE_STEP_BYTES);
    const index = this.#idle.findIndex((disk) => disk.bytes === size && disk.files === inodes);
    const [found] = index === -1 ? [] : this.#idle.splice(index, 1);
    if (found !== undefined) return found;
    try {
      return await this.#create(size, inodes);
    } catch (error) {
      // Idle disks of other sizes may use the last loop devices.
      const idle = this.#idle.splice(0);
      if (idle.length === 0) throw error;
      for (const disk of idle) await this.#destroy(disk);
      return await this.#create(size, inodes);
    }
  }

  /** Returns a disk to the pool, or destroys it. No process of its run lives any more. */
  async release(disk: RunDisk): Promise<void> {
    let isEmpty = false;
    try {
      await removeTree(join(disk.path, 'run'));
      const usage = readDiskUsage(disk.path);
      isEmpty = usage.bytes <= disk.emptyUsage.bytes && usage.files <= disk.emptyUsage.files;
      const isSmall = readAllocatedBytes(disk) <= MAX_IDLE_DISK_BYTES;
      // Writes to a disk may be lost while the host has no space, and the file system be damaged.
      if (isEmpty && isSmall && this.#idle.length < MAX_IDLE_DISKS && hasDiskSpace(this.#tools.folder)) {
        this.#idle.push(disk);
        return;
      }
    } catch {
      // Broken or still in use: unmounted below, and freed when its last file is closed.
    }
    await this.#destroy(disk, !isEmpty);
  }

  async #create(bytes: number, files: number): Promise<RunDisk> {
    this.#count += 1;
    const path = join(this.#tools.folder, String(this.#count));
    const file = `${path}.image`;
    const image = openSync(file, 'wx+', 0o600);
    try {
      truncateSync(file, bytes);
      mkdirSync(path, { mode: 0o711 });
      await execute(this.#tools.mkfs, [
        ...MKFS_OPTIONS,
        '-E',
        'lazy_itable_init=1,nodiscard',
        '-N',
        String(files),
        file,
      ]);
      await execute(this.#tools.mount, ['-t', 'ext4', '-o', MOUNT_OPTIONS, file, path]);
    } catch (error) {
      closeSync(image);
      if (isHostFault(error)) throw error;
      throw new DiskError(`The disk of the run could not be made: ${getCommandError(error)}`);
    } finally {
      rmSync(file, { force: true });
    }
    return { path, bytes, files, imageFd: image, emptyUsage: readDiskUsage(path) };
  }

  /** @param mayBeOpen whether another run may have a file of it open, which runs with the network can pass on. */
  async #destroy(disk: RunDisk, mayBeOpen = false): Promise<void> {
    const device = findLoopDevice(disk.path);
    await execute(this.#tools.umount, ['--lazy', disk.path]).catch(() => undefined);
    if (mayBeOpen && device !== undefined) {
      // Returns the space to the host; on a device of size zero no open file can occupy it again.
      ftruncateSync(disk.imageFd, 0);
      await execute(this.#tools.losetup, ['-c', device]).catch(() => undefined);
    }
    closeSync(disk.imageFd);
    rmSync(disk.path, { recursive: true, force: true });
  }
}

/** Making a disk worked at the start and fails now; loop devices may be exhausted. */
class DiskError extends Error {}

/** Returns the space of the host that a disk occupies, in bytes. */
export function readAllocatedBytes({ imageFd }: RunDisk): number {
  return fstatSync(imageFd).blocks * 512;
}

/** Returns the loop device that is mounted at a path. */
function findLoopDevice(path: string): string | undefined {
  const lines = (readProcFile('/proc/self/mountinfo') ?? '').split('\n').map((line) => line.split(' '));
  const mounted = lines.findLast(([, , , , place]) => place === path);
  return mounted?.find((word) => word.startsWith('/dev/loop'));
}

function getCommandError(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return stderr || getErrorMessage(error);
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
