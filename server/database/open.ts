/** Which database the settings name, and where the one of the data folder lies. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Database } from './database.ts';
import { openPostgres } from './postgres/postgres.ts';
import { openSqlite } from './sqlite/sqlite.ts';

export const sqlitePath = (dataFolder: string): string => join(dataFolder, 'switchyard.db');

export async function openDatabase({ postgres, data }: Config, log: Log): Promise<Database> {
  return postgres ? openPostgres(postgres, log) : openSqlite(sqlitePath(data));
}
