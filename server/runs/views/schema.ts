/** Table of the saved views of runs. */
import type { RunViewId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../../database/migrate.ts';

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

declare module '../../database/database.ts' {
  interface Tables {
    run_views: RunViewsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0099-run-views',
    async up(db) {
      await db.schema
        .createTable('run_views')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('author_email', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('is_shared', 'integer', (column) => column.notNull())
        .addColumn('table_state', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('run_views_of_application')
        .on('run_views')
        .columns(['application_uid', 'owner'])
        .execute();
    },
  },
];
