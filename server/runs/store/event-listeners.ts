/**
 * Events of runs that somebody wants to be told of: every statement on who that is, and on the events that they were not
 * given yet. An event is marked in the statement that writes it, and read by its mark and not from a place in the order:
 * on PostgreSQL numbers are given before the commit, so that whoever reads on from the last one misses what commits late.
 */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../database/database.ts';
import type { RunEventsTable } from './schema.ts';

/** From now on the events of the account's runs are kept for whoever listens. */
export async function addRunEventListener(tx: Writer, account: AccountId): Promise<void> {
  await tx
    .insertInto('run_listeners')
    .values({ account_id: account })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function removeRunEventListener(tx: Writer, account: AccountId): Promise<void> {
  await tx.deleteFrom('run_listeners').where('account_id', '=', account).execute();
}

/** Events that are to be told, oldest first, with whose they are; null for those of an application that is gone. */
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

/** Takes the event in the transaction that gives it on; false when somebody else has. */
export async function claimPendingEvent(tx: Writer, { seq }: Pick<RunEventsTable, 'seq'>): Promise<boolean> {
  const result = await tx
    .updateTable('run_events')
    .set({ pending: 0 })
    .where('seq', '=', seq)
    .where('pending', '=', 1)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
