/**
 * One server per data folder. The lock is SQLite's own exclusive lock on a small database: the operating system gives it
 * up when the process dies, however it dies, which a file with a process id in it cannot do.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLite's code for a lock that somebody else has. */
const BUSY = 5;

export class FolderInUseError extends Error {}
export class IncompleteRestoreError extends FolderInUseError {}

export interface FolderLock {
  /** Random, made with the folder: tells it from every other folder on any machine. */
  folderId: string;
  release(): void;
}

/** Lies in a data folder from the beginning of a restore into it until its end. */
export const RESTORE_MARKER_FILE = 'restore-unfinished';

/** Throws FolderTakenError when another process holds the folder, FolderUnfinishedError when a restore into it was cut off. */
export function lockDataFolder(folder: string): FolderLock {
  const lock = acquireFolderLock(
    folder,
    `The data folder ${folder} is in use by another server; stop that one, or set SWITCHYARD_DATA to another folder.`,
  );
  if (!existsSync(join(folder, RESTORE_MARKER_FILE))) return lock;
  lock.release();
  throw new IncompleteRestoreError(
    `A restore into the data folder ${folder} was cut off, so part of the data is missing; empty the folder, and the database and bucket where there are any, and restore again.`,
  );
}

/** Throws FolderTakenError with the sentence when another process holds the folder. */
export function acquireFolderLock(folder: string, taken: string): FolderLock {
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('pragma locking_mode = exclusive; pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== BUSY) throw error;
    throw new FolderInUseError(taken);
  }
  lock.exec('create table if not exists folder (id text not null)');
  lock.prepare('insert into folder (id) select ? where not exists (select 1 from folder)').run(randomUUID());
  // In exclusive mode the lock outlives the commit, until the connection is closed.
  lock.exec('commit');
  const row = lock.prepare('select id from folder').get();
  return { folderId: String(row?.id), release: () => lock.close() };
}
