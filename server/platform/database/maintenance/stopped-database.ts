/**
 * Reads the SQLite database of a stopped server without changing a file. A plain read-only connection is not enough: it
 * creates `-wal` and `-shm` files, and rebuilds the `-shm` of a killed server. Use it only while no other process writes to
 * the database, for example under the lock of the data folder.
 */
import { existsSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Reader } from '../database.ts';
import { createSqliteKysely } from '../sqlite/sqlite.ts';
import { isDatabaseDamaged } from '../transient-errors.ts';
import { beginSnapshot, type Snapshot } from './snapshot-connection.ts';

/** The file is not a SQLite database, or its first page is damaged. */
export class NotADatabaseError extends Error {}

interface StoppedDatabase {
  read: Reader;
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Opens the database at the path; null when the file is missing or empty. Throws NotADatabaseError for another kind of file. */
export async function openStoppedDatabase(path: string): Promise<StoppedDatabase | null> {
  if (countBytes(path) === 0) return null;
  const hasWal = countBytes(`${path}-wal`) > 0;
  const address = pathToFileURL(path);
  // Without a WAL the file has everything. With one, SQLite indexes the WAL in memory if it cannot write to `-shm`.
  if (!hasWal) address.searchParams.set('immutable', '1');
  else address.searchParams.set('readonly_shm', '1');
  const removeShm = hasWal && !existsSync(`${path}-shm`) ? prepareShmRemoval(path) : null;
  const open = () => new DatabaseSync(removeShm ? pathToFileURL(path) : address, { readOnly: true });
  const connection = open();
  const read = createSqliteKysely(connection);
  const close = async (): Promise<void> => {
    await read.destroy();
    if (connection.isOpen) connection.close();
    removeShm?.();
  };
  try {
    connection.prepare('select count(*) from sqlite_schema').get();
  } catch (error) {
    await close();
    if (!isDatabaseDamaged(error)) throw error;
    throw new NotADatabaseError(`${path} is not a SQLite database, or its first page is damaged`);
  }
  return { read, snapshot: async () => beginSnapshot(open()), close };
}

/**
 * Returns a function that removes the `-shm` file and restores the times of the folder. SQLite creates the file when it is
 * missing, for example in a copy.
 */
function prepareShmRemoval(path: string): () => void {
  const folder = dirname(path);
  const { atime, mtime } = statSync(folder);
  return () => {
    rmSync(`${path}-shm`, { force: true });
    utimesSync(folder, atime, mtime);
  };
}

function countBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
