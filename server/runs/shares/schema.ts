/** Table of share links. A run takes its links with it when it is removed (runs/store/runs.ts). */
import type { AccountId, KeyId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface RunSharesTable {
  id: string;
  run_id: RunId;
  application_uid: string;
  /** Names of the visible parts, in JSON. */
  parts: string;
  created_by: string;
  /** The key with which it was created; null when unknown. */
  created_by_key: KeyId | null;
  created_at: number;
  expires_at: number;
  account_id: AccountId;
  views: number;
  last_viewed_at: number | null;
  /** When an audit entry last recorded a view; null for never. */
  audited_at: number | null;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table run_shares (
      id text primary key, run_id text not null, application_uid text not null, parts text not null,
      created_by text not null, created_at bigint not null, expires_at bigint not null,
      account_id text not null default '', views bigint not null default 0, last_viewed_at bigint,
      audited_at bigint, created_by_key text
    )`,
    sql`create index run_shares_of_run on run_shares (run_id, created_at)`,
    sql`create index run_shares_by_expiry on run_shares (expires_at)`,
    sql`create index run_shares_of_account on run_shares (account_id, created_at, id)`,
    sql`create index run_shares_of_key on run_shares (created_by_key)`,
  ]);
