/**
 * Limits a folder to one process. The lock is SQLite's exclusive lock on a small database, because the operating system releases
 * it whenever the process ends. A file that contains a process id would survive a kill.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** https://sqlite.org/rescode.html */
const SQLITE_BUSY = 5;

/** Another process holds the lock of the folder. */
export class FolderInUseError extends Error {}

export interface FolderLock {
  /** Random id, created with the folder and stored in its lock database; unique among all machines. */
  folderId: string;
  release(): void;
}

/** Locks the folder, whatever is in it. Throws FolderInUseError with the message when another process holds the lock. */
export function acquireFolderLock(folder: string, inUseMessage: string): FolderLock {
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('pragma locking_mode = exclusive; pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    lock.close();
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    if (!isBusy) throw error;
    throw new FolderInUseError(inUseMessage);
  }
  lock.exec('create table if not exists folder (id text not null)');
  lock.prepare('insert into folder (id) select ? where not exists (select 1 from folder)').run(randomUUID());
  // In exclusive mode SQLite keeps the lock after the commit, until the connection closes.
  lock.exec('commit');
  const row = lock.prepare('select id from folder').get();
  return { folderId: String(row?.id), release: () => lock.close() };
}
