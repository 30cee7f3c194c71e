/**
 * A file system of its own for each running app, so that the kernel holds what the app can write, however it hides its
 * files: ext4 in a sparse file, mounted by a loop device. Used in the launcher, where we are root.
 *
 * Invariants: disks are mounted in the launcher's own mount namespace and their files have no name any more, so mounts,
 * loop devices and space go with the launcher's last app, however the launcher ends. A disk goes to the next run only
 * empty, and only when as much of it is free as when it was made. A mount takes tens of milliseconds, so disks are kept.
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
import { isHostFault } from '../process/host-faults.ts';
import { readProcFile } from '../process/processes.ts';
import { hasDiskSpace } from './disk-space.ts';
import { removeTree } from './remove-tree.ts';

const run = promisify(execFile);
const MIB = 1024 * 1024;
/** Disks of few sizes serve most runs. */
const STEP_BYTES = 256 * MIB;
const STEP_FILES = 16_384;
/** What the file system takes for itself, beyond its inodes. */
const OVERHEAD_BYTES = 16 * MIB;
const INODE_BYTES = 256;
/** An idle disk that takes more of the host than this is given back. */
const KEPT_BYTES_MAX = 128 * MIB;
const KEPT_MAX = 16;

/** Programs that make, mount and remove disks, and the folder in which disks are mounted. */
export interface DiskTools {
  folder: string;
  unshare: string;
  mkfs: string;
  mount: string;
  umount: string;
  losetup: string;
}

export interface DiskUsage {
  bytes: number;
  files: number;
}

export interface RunDisk {
  /** Where it is mounted. */
  path: string;
  bytes: number;
  files: number;
  /** Its file, which has no name. */
  imageFd: number;
  /** What it held when it was empty. */
  emptyUsage: DiskUsage;
}

/** What is taken on a disk, files without a name and what is not written out yet included. */
export function readDiskUsage(path: string): DiskUsage {
  const { blocks, bfree, bsize, files, ffree } = statfsSync(path);
  return { bytes: (blocks - bfree) * bsize, files: files - ffree };
}

/** Options of `mkfs.ext4`: no journal, because nothing on it has to survive, and no block that is kept back. */
export const MKFS_OPTIONS = ['-q', '-F', '-m', '0', '-b', '4096', '-O', '^has_journal,^resize_inode'];
export const MOUNT_OPTIONS = 'loop,noinit_itable,nobarrier,noatime,nodev,nosuid';

export class DiskPool {
  readonly #tools: DiskTools;
  #idle: RunDisk[] = [];
  #made = 0;

  constructor(tools: DiskTools) {
    this.#tools = tools;
    rmSync(tools.folder, { recursive: true, force: true });
    mkdirSync(tools.folder, { mode: 0o711 });
  }

  /**
   * An empty disk with at least so much space. Throws DiskError when the system refuses to make one, and what the system says
   * when the host has a fault (process/host-faults.ts).
   */
  async lease(bytes: number, files: number): Promise<RunDisk> {
    const inodes = roundUp(files, STEP_FILES);
    const size = roundUp(bytes * 1.02 + OVERHEAD_BYTES + inodes * INODE_BYTES, STEP_BYTES);
    const place = this.#idle.findIndex((disk) => disk.bytes === size && disk.files === inodes);
    const [found] = place === -1 ? [] : this.#idle.splice(place, 1);
    if (found !== undefined) return found;
    try {
      return await this.#make(size, inodes);
    } catch (error) {
      // Disks of other sizes may hold the last loop devices.
      const idle = this.#idle.splice(0);
      if (idle.length === 0) throw error;
      for (const disk of idle) await this.#destroy(disk);
      return await this.#make(size, inodes);
    }
  }

  /** Takes a disk back from a run of which nothing lives. */
  async release(disk: RunDisk): Promise<void> {
    let isEmpty = false;
    try {
      await removeTree(join(disk.path, 'run'));
      const left = readDiskUsage(disk.path);
      isEmpty = left.bytes <= disk.emptyUsage.bytes && left.files <= disk.emptyUsage.files;
      const isSmall = readAllocatedBytes(disk) <= KEPT_BYTES_MAX;
      // What was written while the host had no room may be lost, and the disk with it.
      if (isEmpty && isSmall && this.#idle.length < KEPT_MAX && hasDiskSpace(this.#tools.folder)) {
        this.#idle.push(disk);
        return;
      }
    } catch {
      // It is broken or still in use: unmounted below, and gone when its last file is closed.
    }
    await this.#destroy(disk, !isEmpty);
  }

  async #make(bytes: number, files: number): Promise<RunDisk> {
    this.#made += 1;
    const path = join(this.#tools.folder, String(this.#made));
    const file = `${path}.image`;
    const image = openSync(file, 'wx+', 0o600);
    try {
      truncateSync(file, bytes);
      mkdirSync(path, { mode: 0o711 });
      await run(this.#tools.mkfs, [
        ...MKFS_OPTIONS,
        '-E',
        'lazy_itable_init=1,nodiscard',
        '-N',
        String(files),
        file,
      ]);
      await run(this.#tools.mount, ['-t', 'ext4', '-o', MOUNT_OPTIONS, file, path]);
    } catch (error) {
      closeSync(image);
      if (isHostFault(error)) throw error;
      throw new DiskError(`No disk could be made for the run: ${messageOf(error)}`);
    } finally {
      rmSync(file, { force: true });
    }
    return { path, bytes, files, imageFd: image, emptyUsage: readDiskUsage(path) };
  }

  /** @param isHeld whether another run may have files of it open, which runs with the network can hand to each other. */
  async #destroy(disk: RunDisk, isHeld = false): Promise<void> {
    const device = deviceAt(disk.path);
    await run(this.#tools.umount, ['--lazy', disk.path]).catch(() => undefined);
    if (isHeld && device !== undefined) {
      // The host has the space back, and with a device of no size nobody can take it again.
      ftruncateSync(disk.imageFd, 0);
      await run(this.#tools.losetup, ['-c', device]).catch(() => undefined);
    }
    closeSync(disk.imageFd);
    rmSync(disk.path, { recursive: true, force: true });
  }
}

/** Programs that make a disk were there at the start and refuse now; loop devices may have run out. */
class DiskError extends Error {}

/** How much of the host's disk a disk takes. */
export function readAllocatedBytes({ imageFd: image }: RunDisk): number {
  return fstatSync(image).blocks * 512;
}

/** The loop device that is mounted there. */
function deviceAt(path: string): string | undefined {
  const lines = (readProcFile('/proc/self/mountinfo') ?? '').split('\n').map((line) => line.split(' '));
  const mounted = lines.findLast(([, , , , place]) => place === path);
  return mounted?.find((word) => word.startsWith('/dev/loop'));
}

function messageOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim() || message;
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
