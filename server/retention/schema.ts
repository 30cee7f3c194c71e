/** Table of retention policies. */
import type { Migration } from '../database/migrate.ts';

export interface RetentionPoliciesTable {
  application_uid: string;
  /** null: runs stay. */
  keep_days: number | null;
  keep_experiment_runs: 0 | 1;
  updated_at: number;
}

declare module '../database/database.ts' {
  interface Tables {
    retention_policies: RetentionPoliciesTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0091-retention-policies',
    async up(db) {
      await db.schema
        .createTable('retention_policies')
        .addColumn('application_uid', 'text', (column) => column.primaryKey())
        .addColumn('keep_days', 'integer')
        .addColumn('keep_experiment_runs', 'integer', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
];
