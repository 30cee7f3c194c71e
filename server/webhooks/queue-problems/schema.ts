/** The table of problems that are under way: one row for each account and kind, from the first check that finds it. */
import type { QueueProblemKind } from '@switchyard/contract/account/event-types.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../../database/migrate.ts';

export interface QueueProblemsTable {
  account_id: AccountId;
  kind: QueueProblemKind;
  id: string;
  /** The first check that found it. */
  found_at: number;
  /** The event of its begin: a QueueProblemInfo in JSON. Null until the event is sent. */
  begun: string | null;
  /** The first of the last checks that did not find it; null while checks find it. */
  absent_since: number | null;
}

declare module '../../database/database.ts' {
  interface Tables {
    queue_problems: QueueProblemsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0118-queue-problems',
    async up(db) {
      await db.schema
        .createTable('queue_problems')
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('found_at', 'bigint', (column) => column.notNull())
        .addColumn('begun', 'text')
        .addColumn('absent_since', 'bigint')
        .addPrimaryKeyConstraint('queue_problems_of_account', ['account_id', 'kind'])
        .execute();
    },
  },
];
