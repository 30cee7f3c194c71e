/**
 * The folder of backups. Each backup has a sub-folder named by its instant. The backups share a folder of blobs, each stored
 * once under its hash, because most of them do not change between two backups:
 *
 *     blobs/<last two>/<sha256>
 *     2026-11-22T13-50-31.123Z/    manifest.json, tables/, blobs.jsonl.zst, master-key, root-token
 *     incoming/                    a backup under way; the next backup removes an unfinished one
 *
 * Invariants: the lock of the folder admits one backup at a time. A blob is removed only when no backup names it.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireFolderLock } from '@switchyard/worker/folder-lock.ts';
import type { BlobStore } from '../../platform/blobs/blob-store.ts';
import { diskBlobPath, openDiskBlobs, syncToDisk } from '../../platform/blobs/disk.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { BackupError } from './backup-error.ts';
import { readBlobList } from './blob-list.ts';

const INCOMING = 'incoming';
const BLOBS = 'blobs';
const OWN_NAMES = new Set([INCOMING, BLOBS, 'lock', 'lock-journal']);
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;

/** A folder of backups that is open for the next one. */
export interface BackupFolder {
  /** The folder of the unfinished backup. */
  incoming: string;
  blobs: BlobStore;
  /** Reports whether the folder has the blob with the hash. */
  hasBlob(sha256: string): boolean;
  /** Turns `incoming` into the backup of the instant, in milliseconds since the epoch, and returns its folder. */
  finish(at: number): Promise<string>;
  /** Removes all but the newest backups, and the blobs that no other backup names. Returns the number of removed backups. */
  prune(newest: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens the folder for a new backup and creates it when it is missing. Throws BackupError when it has other files. */
export async function openBackupFolder(folder: string): Promise<BackupFolder> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const foreign = (await readdir(folder)).find((name) => !OWN_NAMES.has(name) && !NAME.test(name));
  if (foreign !== undefined)
    throw new BackupError(
      `${folder} holds ${foreign}, which is not a backup. Give a folder that is empty, missing, or holds only backups.`,
    );
  const lock = acquireFolderLock(
    folder,
    `Another backup into ${folder} is under way. Wait until it has ended.`,
  );
  const incoming = join(folder, INCOMING);
  await rm(incoming, { recursive: true, force: true });
  await mkdir(join(incoming, 'tables'), { recursive: true, mode: 0o700 });
  const blobs = await openDiskBlobs(join(folder, BLOBS));
  return {
    incoming,
    blobs,
    hasBlob: (sha256) => existsSync(diskBlobPath(join(folder, BLOBS), sha256)),
    async finish(at) {
      const finished = join(folder, formatRfc3339(at).replaceAll(':', '-'));
      await syncFiles(incoming);
      await rename(incoming, finished);
      await syncToDisk(folder);
      return finished;
    },
    async prune(newest) {
      const names = await listBackups(folder);
      const old = names.slice(0, Math.max(0, names.length - newest));
      for (const name of old) await rm(join(folder, name), { recursive: true });
      if (old.length > 0) await removeUnusedBlobs(folder, blobs);
      return old.length;
    },
    async close() {
      await rm(incoming, { recursive: true, force: true });
      lock.release();
    },
  };
}

/**
 * Waits until all files below the folder are on the disk. They are synced together, because a busy disk takes half a second
 * for each alone, and there is one file for each table.
 */
async function syncFiles(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  await Promise.all(files.map((file) => syncToDisk(join(file.parentPath, file.name))));
  await syncToDisk(folder);
}

/** Returns the names of the backups in the folder, oldest first. */
async function listBackups(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => NAME.test(name)).sort();
}

async function removeUnusedBlobs(folder: string, blobs: BlobStore): Promise<void> {
  const named = new Set<string>();
  for (const name of await listBackups(folder))
    for await (const { sha256 } of readBlobList(join(folder, name))) named.add(sha256);
  for await (const key of blobs.list(Number.POSITIVE_INFINITY)) if (!named.has(key)) await blobs.remove(key);
}

/** Finds the backup at the path, or the newest backup in that folder. Throws BackupError when there is none. */
export async function findBackup(path: string): Promise<{ folder: string; blobs: string }> {
  const describeBackup = (folder: string) => ({ folder, blobs: join(folder, '..', BLOBS) });
  if (existsSync(join(path, 'manifest.json')) || existsSync(join(path, 'tables')))
    return describeBackup(path);
  const names = await readdir(path).catch(() => null);
  if (names === null)
    throw new BackupError(`There is no folder ${path}. Give a backup, or a folder of backups.`);
  const newest = (await listBackups(path)).at(-1);
  if (newest !== undefined) return describeBackup(join(path, newest));
  throw new BackupError(
    names.includes(INCOMING)
      ? `${path} holds no whole backup, only an unfinished one. Make another backup.`
      : `${path} is not a backup and holds none. Give a backup, or a folder of backups.`,
  );
}
