/** Statements on run events: one row for each status transition of a run, stored for a week. */
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { sql } from 'kysely';
import type { Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { RunEventsTable, RunsTable } from './schema.ts';

/** A run whose status changes. */
export type RunKey = Pick<RunsTable, 'id' | 'application_uid'>;

/** Stores one event for each run, in the transaction that changes its status. */
export async function insertRunEvents(
  tx: Writer,
  runs: readonly RunKey[],
  status: RunStatusV2,
  at: number,
): Promise<void> {
  for (const run of runs) {
    await insertEvent(tx, { run_id: run.id, application_uid: run.application_uid, status, at });
  }
}

/** The statement itself checks for listeners of the account, which saves a query for each transition. */
type NewEvent = Omit<RunEventsTable, 'seq' | 'pending'>;
const insertEvent = prepareStatement((db, { run_id, application_uid, status, at }: NewEvent) =>
  db.insertInto('run_events').values((eb) => ({
    run_id,
    application_uid,
    status,
    at,
    pending: eb
      .case()
      .when(
        eb.exists(
          eb
            .selectFrom('run_listeners')
            .select('run_listeners.account_id')
            .where('run_listeners.account_id', '=', (of) =>
              of.selectFrom('applications').select('account_id').where('uid', '=', application_uid),
            ),
        ),
      )
      .then(sql.lit(1 as const))
      .else(sql.lit(0 as const))
      .end(),
  })),
);

/** Removes at most `limit` events from before the instant, except those still to be delivered; returns how many. */
export async function removeRunEventsBefore(tx: Writer, before: number, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('run_events')
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('run_events')
        .select('seq')
        .where('at', '<', before)
        .where('pending', '=', 0)
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
