/**
 * Statements on the accounts that listen to run events, and on the events that are not delivered to them yet. An event is
 * marked as pending in the statement that inserts it. Readers find it by that mark and not by its sequence number:
 * PostgreSQL assigns numbers before the commit, so a reader that continues from the last number misses late commits.
 */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { RunEventsTable } from './schema.ts';

/** From now on the events of the account's runs are stored as pending. */
export async function addRunEventListener(tx: Writer, account: AccountId): Promise<void> {
  await tx
    .insertInto('run_listeners')
    .values({ account_id: account })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** From now on the events of the account's runs are stored as delivered. */
export async function removeRunEventListener(tx: Writer, account: AccountId): Promise<void> {
  await tx.deleteFrom('run_listeners').where('account_id', '=', account).execute();
}

/** Lists the pending events, oldest first, with their account and application; these are null when the application is gone. */
export function listPendingEvents(
  db: Reader,
  limit: number,
): Promise<(RunEventsTable & { account_id: AccountId | null; application_id: string | null })[]> {
  return db
    .selectFrom('run_events')
    .leftJoin('applications', 'applications.uid', 'run_events.application_uid')
    .selectAll('run_events')
    .select(['applications.account_id', 'applications.id as application_id'])
    .where('run_events.pending', '=', sql.lit(1 as const))
    .orderBy('run_events.seq')
    .limit(limit)
    .execute();
}

/**
 * Marks the events as delivered, in the transaction that fans them out. Returns the numbers of those that no other process has
 * marked before.
 */
export async function claimPendingEvents(
  tx: Writer,
  events: readonly Pick<RunEventsTable, 'seq'>[],
): Promise<Set<number>> {
  const rows = await tx
    .updateTable('run_events')
    .set({ pending: 0 })
    .where(
      'seq',
      'in',
      events.map(({ seq }) => seq),
    )
    .where('pending', '=', 1)
    .returning('seq')
    .execute();
  return new Set(rows.map(({ seq }) => seq));
}
