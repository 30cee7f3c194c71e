/** The table of problems that are under way: one row for each account and kind, from the first check that finds it. */
import type { QueueProblemKind } from '@switchyard/contract/account/event-types.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../../platform/database/migrate.ts';

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

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table queue_problems (
      account_id text not null, kind text not null, id text not null, found_at bigint not null, begun text,
      absent_since bigint, constraint queue_problems_of_account primary key (account_id, kind)
    )`,
  ]);
