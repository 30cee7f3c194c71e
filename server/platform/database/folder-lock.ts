/** Limits a data folder to one server, and refuses one in which a restore did not end. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { acquireFolderLock, FolderInUseError, type FolderLock } from '@switchyard/worker/folder-lock.ts';

/** A restore into the folder did not end, so that part of the data is missing. */
export class IncompleteRestoreError extends FolderInUseError {}

/** Name of the file that exists in a data folder while a restore into it is under way. */
export const RESTORE_MARKER_FILE = 'restore-unfinished';

/**
 * Locks the data folder, which must exist. Throws FolderInUseError when another process holds the lock, and
 * IncompleteRestoreError when a restore into the folder did not end.
 */
export function lockDataFolder(folder: string): FolderLock {
  const lock = acquireFolderLock(
    folder,
    `The data folder ${folder} is in use by another server. Stop that server, or set SWITCHYARD_DATA to another folder.`,
  );
  if (!existsSync(join(folder, RESTORE_MARKER_FILE))) return lock;
  lock.release();
  throw new IncompleteRestoreError(
    `A restore into the data folder ${folder} did not end, so part of the data is missing. Empty the folder, the PostgreSQL database and the bucket, where you use them, then restore again.`,
  );
}
