/**
 * The folder that backups are kept in. Each lies in a folder named by its instant; the blobs lie beside them, each once,
 * named by its hash, because most of them are those of the backup before:
 *
 *     blobs/<last two>/<sha256>
 *     2026-11-22T13-50-31.123Z/    manifest.json, tables/, blobs.jsonl.zst, master-key, root-token
 *     incoming/                    a backup on its way; what was cut off is removed by the next
 *
 * What must stay true: one backup at a time works in the folder, which its lock sees to; a blob is removed only when no
 * backup there names it.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '../blobs/blob-store.ts';
import { diskBlobPath, openDiskBlobs, syncFolder } from '../blobs/disk.ts';
import { formatRfc3339 } from '../clock.ts';
import { acquireFolderLock } from '../database/folder-lock.ts';
import { BackupError } from './backup-error.ts';
import { readBlobList } from './blob-list.ts';

const INCOMING = 'incoming';
const BLOBS = 'blobs';
const OWN_NAMES = new Set([INCOMING, BLOBS, 'lock', 'lock-journal']);
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;

export interface BackupFolder {
  /** Where the next backup is put together. */
  incoming: string;
  blobs: BlobStore;
  /** Whether the blob of the hash is there. */
  hasBlob(sha256: string): boolean;
  /** Makes what lies in `incoming` a backup of the instant, and answers its folder. */
  finish(at: number): Promise<string>;
  /** Removes all but the newest backups, and the blobs that only they named; answers how many backups went. */
  prune(newest: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens the folder to write into, which is made when it is missing; throws BackupError when it is something else. */
export async function openBackupFolder(folder: string): Promise<BackupFolder> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const foreign = (await readdir(folder)).find((name) => !OWN_NAMES.has(name) && !NAME.test(name));
  if (foreign !== undefined)
    throw new BackupError(
      `${folder} holds ${foreign}, which is no backup; name a folder that is empty, missing, or holds backups only.`,
    );
  const lock = acquireFolderLock(
    folder,
    `Another backup into ${folder} is under way; wait until it has ended.`,
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
      const made = join(folder, formatRfc3339(at).replaceAll(':', '-'));
      await syncFolder(join(incoming, 'tables'));
      await syncFolder(incoming);
      await rename(incoming, made);
      await syncFolder(folder);
      return made;
    },
    async prune(newest) {
      const names = await listBackups(folder);
      const old = names.slice(0, Math.max(0, names.length - newest));
      for (const name of old) await rm(join(folder, name), { recursive: true });
      if (old.length > 0) await removeUnnamed(folder, blobs);
      return old.length;
    },
    async close() {
      await rm(incoming, { recursive: true, force: true });
      lock.release();
    },
  };
}

/** The names of the backups in the folder, oldest first. */
async function listBackups(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => NAME.test(name)).sort();
}

async function removeUnnamed(folder: string, blobs: BlobStore): Promise<void> {
  const named = new Set<string>();
  for (const name of await listBackups(folder))
    for await (const { sha256 } of readBlobList(join(folder, name))) named.add(sha256);
  for await (const key of blobs.list(Number.POSITIVE_INFINITY)) if (!named.has(key)) await blobs.remove(key);
}

/** The backup that the path names: itself, or the newest of the folder. Throws BackupError when there is none. */
export async function findBackup(path: string): Promise<{ folder: string; blobs: string }> {
  const here = (folder: string) => ({ folder, blobs: join(folder, '..', BLOBS) });
  if (existsSync(join(path, 'manifest.json')) || existsSync(join(path, 'tables'))) return here(path);
  const names = await readdir(path).catch(() => null);
  if (names === null) throw new BackupError(`There is no folder ${path}.`);
  const newest = (await listBackups(path)).at(-1);
  if (newest !== undefined) return here(join(path, newest));
  throw new BackupError(
    names.includes(INCOMING)
      ? `${path} holds no whole backup, only one that was cut off.`
      : `${path} is no backup and holds none.`,
  );
}
