/**
 * Reads the SQLite database of a stopped server without changing a byte beside it. A plain read-only connection is not
 * enough: it creates `-wal` and `-shm` files, and rebuilds a `-shm` that a killed server left. Call it only while no other
 * process writes to the database, for example under the lock of the data folder.
 */
import { existsSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Reader } from '../database.ts';
import { createSqliteKysely } from '../sqlite/sqlite.ts';
import { beginSnapshot, type Snapshot } from './snapshot-connection.ts';

/** SQLite's codes for a malformed database, and for a file that is no database. */
const DAMAGED = new Set([11, 26]);

export class NotADatabaseError extends Error {}

interface StoppedDatabase {
  read: Reader;
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Opens the database at the path; null when the file is missing or empty. Throws NoDatabaseError for another kind of file. */
export async function openStoppedDatabase(path: string): Promise<StoppedDatabase | null> {
  if (bytesOf(path) === 0) return null;
  const hasWal = bytesOf(`${path}-wal`) > 0;
  const address = pathToFileURL(path);
  // Without a WAL the file is all there is. With one, SQLite indexes it in memory when it may not write to `-shm`.
  if (!hasWal) address.searchParams.set('immutable', '1');
  else address.searchParams.set('readonly_shm', '1');
  const removeShm = hasWal && !existsSync(`${path}-shm`) ? keepFolder(path) : null;
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
    if (!DAMAGED.has(((error as { errcode?: number }).errcode ?? 0) & 0xff)) throw error;
    throw new NotADatabaseError(`${path} is not a SQLite database, or its first page is damaged`);
  }
  return { read, snapshot: async () => beginSnapshot(open()), close };
}

/** SQLite needs a `-shm` file here, for example after a copy without it: returns how to remove it without a trace. */
function keepFolder(path: string): () => void {
  const folder = dirname(path);
  const { atime, mtime } = statSync(folder);
  return () => {
    rmSync(`${path}-shm`, { force: true });
    utimesSync(folder, atime, mtime);
  };
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
