/**
 * One server per data folder. The lock is SQLite's own exclusive lock on a small database: the operating system gives it
 * up when the process dies, however it dies, which a file with a process id in it cannot do.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLite's code for a lock that somebody else has. */
const BUSY = 5;

export class FolderTakenError extends Error {}

export interface FolderLock {
  /** Random, made with the folder: tells it from every other folder on any machine. */
  folderId: string;
  release(): void;
}

/** Throws FolderTakenError when another process holds the folder. */
export function lockFolder(folder: string): FolderLock {
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('pragma locking_mode = exclusive; pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== BUSY) throw error;
    throw new FolderTakenError(
      `The data folder ${folder} is in use by another server; stop that one, or set SWITCHYARD_DATA to another folder.`,
    );
  }
  lock.exec('create table if not exists folder (id text not null)');
  lock.prepare('insert into folder (id) select ? where not exists (select 1 from folder)').run(randomUUID());
  // In exclusive mode the lock outlives the commit, until the connection is closed.
  lock.exec('commit');
  const row = lock.prepare('select id from folder').get();
  return { folderId: String(row?.id), release: () => lock.close() };
}
