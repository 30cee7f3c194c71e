/** Opens the database that the settings name. */
import { join } from 'node:path';
import type { StorageConfig } from '../config.ts';
import type { Log } from '../log.ts';
import type { Database } from './database.ts';
import { openPostgres } from './postgres/postgres.ts';
import { openSqlite } from './sqlite/sqlite.ts';

/** Returns the path of the SQLite database in the data folder. */
export const sqlitePath = (dataFolder: string): string => join(dataFolder, 'switchyard.db');

/**
 * Opens PostgreSQL where SWITCHYARD_DATABASE names it, otherwise SQLite in the data folder. A server or worker passes the
 * number of migrations that it knows.
 */
export async function openDatabase(
  { postgres, data }: StorageConfig,
  log: Log,
  migrationCount?: number,
): Promise<Database> {
  return postgres ? openPostgres(postgres, log, migrationCount) : openSqlite(sqlitePath(data));
}
