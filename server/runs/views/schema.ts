/** Table of the saved views of runs. */
import type { RunViewId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface RunViewsTable {
  id: RunViewId;
  application_uid: string;
  /** The author as `Caller.owner`, the same for all keys of a member. */
  owner: string;
  author_email: string;
  name: string;
  is_shared: 0 | 1;
  /** Filters, order and columns, in JSON. */
  table_state: string;
  created_at: number;
  updated_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table run_views (
      id text primary key, application_uid text not null, owner text not null, author_email text not null,
      name text not null, is_shared integer not null, table_state text not null, created_at bigint not null,
      updated_at bigint not null
    )`,
    sql`create index run_views_of_application on run_views (application_uid, owner)`,
  ]);
