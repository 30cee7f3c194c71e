/** The table of backups. Each backup of the command adds a row, so that the server can show how old the last one is. */
import type { Migration } from '../database/migrate.ts';

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

declare module '../database/database.ts' {
  interface Tables {
    backups: BackupsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0112-backups',
    async up(db) {
      await db.schema
        .createTable('backups')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('made_at', 'bigint', (column) => column.notNull())
        .addColumn('finished_at', 'bigint', (column) => column.notNull())
        .addColumn('folder', 'text', (column) => column.notNull())
        .addColumn('rows', 'bigint', (column) => column.notNull())
        .addColumn('blobs', 'bigint', (column) => column.notNull())
        .addColumn('bytes', 'bigint', (column) => column.notNull())
        .addColumn('copied_bytes', 'bigint', (column) => column.notNull())
        .addColumn('has_key', 'integer', (column) => column.notNull())
        .addColumn('verified_at', 'bigint')
        .addColumn('problem', 'text', (column) => column.notNull())
        .execute();
    },
  },
];
