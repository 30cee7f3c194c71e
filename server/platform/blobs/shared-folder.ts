/**
 * Checks a folder that several machines share, usually on NFS, at each start. Blobs need durable files, renames that replace
 * in one step, files that only one process can create, folders that support sync, and a clock close to the local one. The
 * clean-up compares the times of files with the local time.
 */
import { link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { formatDuration, formatSides } from '@switchyard/contract/presentation/format-quantity.ts';
import { isErrno } from '@switchyard/runner/process/errors.ts';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../config.ts';
import { errorMessage } from '../log.ts';
import { syncToDisk } from './disk.ts';

/** Far less than the hour after which a blob without a row counts as orphaned. */
const CLOCK_SKEW_MAX_MS = 5 * 60 * 1000;
/** Renames during which another reader reads the target. A file system whose rename is not atomic shows a gap in a few. */
const RENAMES = 20;

/** The operations of the file system that are checked, so that a test can pass one that lacks a property. */
export interface SharedFiles {
  writeSynced(path: string, text: string): Promise<void>;
  /** Creates the file. Throws EEXIST when there is one. */
  createExclusively(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
}

const FILES: SharedFiles = {
  async writeSynced(path, text) {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  },
  async createExclusively(path) {
    await (await open(path, 'wx', 0o600)).close();
  },
  rename,
  link,
  syncFolder: syncToDisk,
};

/**
 * Throws ConfigError when a check fails. Does not create the folder, because that would hide a share that is not mounted.
 * `owner` distinguishes this process from others that check the folder at the same time.
 */
export async function checkSharedFolder(
  folder: string,
  owner: string,
  clock: Clock,
  files: SharedFiles = FILES,
): Promise<void> {
  const refuse = (problem: string): never => {
    throw new ConfigError(`SWITCHYARD_BLOBS is "file://${folder}", ${problem}`);
  };
  await requireFolder(folder, refuse);
  const probes = join(folder, 'incoming');
  const [first, second] = [join(probes, `.probe-${owner}-1`), join(probes, `.probe-${owner}-2`)];
  /** Does the work; its error refuses the start and says what the server tried. */
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      return refuse(
        `where the server cannot ${what} (${errorMessage(error)}): check the rights of the server's user and the options of the mount.`,
      );
    }
  };
  try {
    await attempt('create the folder incoming', () => mkdir(probes, { recursive: true }));
    for (const path of [first, second])
      await attempt('write and sync a file', () => files.writeSynced(path, 'before'));
    await attempt('sync a folder', () => files.syncFolder(probes));
    if (!(await attempt('rename a file', () => replacesInOneStep({ files, first, second, owner }))))
      refuse('where a rename does not replace a file in one step: use NFS version 4, or a bucket.');
    if (!(await attempt('create a file', () => createsOnce(files, first, second))))
      refuse('where two processes can create the same file: use NFS version 4, or a bucket.');
    const { mtimeMs } = await attempt('read the time of a file', () => stat(second));
    const skewMs = Math.abs(mtimeMs - clock.now());
    if (skewMs > CLOCK_SKEW_MAX_MS) {
      const [skew, allowed] = formatSides([skewMs, CLOCK_SKEW_MAX_MS], formatDuration);
      refuse(
        `whose clock is ${skew} apart from this machine's; at most ${allowed} are allowed. Synchronise both clocks, for example with NTP.`,
      );
    }
  } finally {
    for (const path of [first, second]) await rm(path, { force: true }).catch(() => {});
  }
}

async function requireFolder(folder: string, refuse: (problem: string) => never): Promise<void> {
  const state = await stat(folder).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    return refuse(
      `which cannot be read (${errorMessage(error)}): check the rights of the server's user and whether the file server responds.`,
    );
  });
  if (!state?.isDirectory())
    refuse('which is not a folder: mount the share, or create the folder on it, before the server starts.');
}

interface RenameProbe {
  files: SharedFiles;
  first: string;
  second: string;
  owner: string;
}

/** Returns true if a reader sees the old or the new file during each rename, and never none or a part of one. */
async function replacesInOneStep({ files, first, second, owner }: RenameProbe): Promise<boolean> {
  let isOver = false;
  const readWhole = async (): Promise<boolean> => {
    while (!isOver) {
      const text = await readFile(second, 'utf8').catch((error: unknown) => {
        // An open file that was replaced is stale on NFS; its reader opens the new one.
        if (isErrno(error, 'ESTALE')) return owner;
        if (isErrno(error, 'ENOENT')) return null;
        throw error;
      });
      if (text !== 'before' && text !== owner) return false;
    }
    return true;
  };
  const reading = readWhole();
  try {
    for (let count = 0; count < RENAMES; count += 1) {
      await files.writeSynced(first, owner);
      await files.rename(first, second);
      const isGone = (await stat(first).catch(() => null)) === null;
      if (!isGone || (await readFile(second, 'utf8')) !== owner) return false;
    }
    await files.syncFolder(join(second, '..'));
  } finally {
    isOver = true;
    // Its error counts only when nothing else has failed.
    await reading.catch(() => {});
  }
  return reading;
}

/** Returns true if neither an exclusive open nor a link replaces a file. A file system without links has the former alone. */
async function createsOnce(files: SharedFiles, first: string, second: string): Promise<boolean> {
  await files.createExclusively(first);
  const isRefused = (work: Promise<void>): Promise<boolean> =>
    work.then(
      () => false,
      (error: unknown) => isErrno(error, 'EEXIST', 'EPERM', 'ENOTSUP', 'ENOSYS'),
    );
  return (await isRefused(files.createExclusively(first))) && (await isRefused(files.link(second, first)));
}
