/** Table of retention policies. */
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface RetentionPoliciesTable {
  application_uid: string;
  /** null: runs stay. */
  keep_days: number | null;
  keep_experiment_runs: 0 | 1;
  updated_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table retention_policies (
      application_uid text primary key, keep_days integer, keep_experiment_runs integer not null,
      updated_at bigint not null
    )`,
  ]);
