/** The table of backups. Each backup of the command adds a row, so that the server can show how old the last one is. */
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

/** A backup that was made. */
export interface BackupsTable {
  id: string;
  /** The instant of which the backup has everything, in milliseconds. */
  made_at: number;
  finished_at: number;
  /** Absolute path on the machine that made it. */
  folder: string;
  rows: number;
  blobs: number;
  /** Length of its files and blobs. Backups in one folder share blobs. */
  bytes: number;
  copied_bytes: number;
  has_key: 0 | 1;
  /** When `restore --check` last read it whole; null for never. */
  verified_at: number | null;
  /** The problem of the last check; empty without one. */
  problem: string;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table backups (
      id text primary key, made_at bigint not null, finished_at bigint not null, folder text not null,
      rows bigint not null, blobs bigint not null, bytes bigint not null, copied_bytes bigint not null,
      has_key integer not null, verified_at bigint, problem text not null
    )`,
  ]);
