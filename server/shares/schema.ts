/** Table of share links. A run takes its links with it when it is removed (runs/store/runs.ts). */
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';

export interface RunSharesTable {
  id: string;
  run_id: RunId;
  application_uid: string;
  /** Names of the visible parts, in JSON. */
  parts: string;
  created_by: string;
  created_at: number;
  expires_at: number;
  account_id: AccountId;
  views: number;
  last_viewed_at: number | null;
  /** When an audit entry last recorded a view; null for never. */
  audited_at: number | null;
}

declare module '../database/database.ts' {
  interface Tables {
    run_shares: RunSharesTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0092-run-shares',
    async up(db) {
      await db.schema
        .createTable('run_shares')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('run_id', 'text', (column) => column.notNull())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('parts', 'text', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('run_shares_of_run')
        .on('run_shares')
        .columns(['run_id', 'created_at'])
        .execute();
      await db.schema.createIndex('run_shares_by_expiry').on('run_shares').column('expires_at').execute();
    },
  },
  {
    name: '0123-views-of-run-shares',
    async up(db) {
      const table = db.schema.alterTable('run_shares');
      await table.addColumn('account_id', 'text', (column) => column.notNull().defaultTo('')).execute();
      await table.addColumn('views', 'bigint', (column) => column.notNull().defaultTo(0)).execute();
      await table.addColumn('last_viewed_at', 'bigint').execute();
      await table.addColumn('audited_at', 'bigint').execute();
      await sql`update run_shares set account_id = coalesce(
        (select account_id from applications where uid = application_uid), '')`.execute(db);
      await db.schema
        .createIndex('run_shares_of_account')
        .on('run_shares')
        .columns(['account_id', 'created_at', 'id'])
        .execute();
    },
  },
];
