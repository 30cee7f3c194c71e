/**
 * Limits a data folder to one server. The lock is SQLite's exclusive lock on a small database, because the operating system
 * releases it whenever the process ends. A file that contains a process id would survive a kill.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDatabaseLocked } from './transient-errors.ts';

/** Another process holds the lock of the folder. */
export class FolderInUseError extends Error {}
/** A restore into the folder did not end, so that part of the data is missing. */
export class IncompleteRestoreError extends FolderInUseError {}

export interface FolderLock {
  /** Random id, created with the folder and stored in its lock database; unique among all machines. */
  folderId: string;
  release(): void;
}

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

/** Locks the folder, whatever is in it. Throws FolderInUseError with the message when another process holds the lock. */
export function acquireFolderLock(folder: string, inUseMessage: string): FolderLock {
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('pragma locking_mode = exclusive; pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    lock.close();
    if (!isDatabaseLocked(error)) throw error;
    throw new FolderInUseError(inUseMessage);
  }
  lock.exec('create table if not exists folder (id text not null)');
  lock.prepare('insert into folder (id) select ? where not exists (select 1 from folder)').run(randomUUID());
  // In exclusive mode SQLite keeps the lock after the commit, until the connection closes.
  lock.exec('commit');
  const row = lock.prepare('select id from folder').get();
  return { folderId: String(row?.id), release: () => lock.close() };
}
