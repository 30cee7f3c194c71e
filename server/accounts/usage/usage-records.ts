/**
 * Records the usage of a run in the transaction that ends it. The record is a new row: adding to a total there would make
 * the ends of all runs of a day wait for the lock on one row.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';

const insertRecord = prepareStatement((db, { id }: { id: RunId }) =>
  db
    .insertInto('usage_records')
    .columns([
      'account_id',
      'application_id',
      'user_email',
      'ended_at',
      'status',
      'run_type',
      'execution_class',
      'execution_ms',
      'bytes',
      'application_uid',
      'slot_ms',
    ])
    .expression((eb) =>
      eb
        .selectFrom('runs')
        .select([
          'account_id',
          'application_id',
          'user_email',
          sql<number>`coalesce(finished_at, created_at)`.as('ended_at'),
          'status',
          'run_type',
          'execution_class',
          'execution_ms',
          sql<number>`input_bytes + output_bytes`.as('bytes'),
          'application_uid',
          // A workflow that waits gives up its slot. The child runs of an ensemble occupy slots, its own run does not.
          sql<
            number | null
          >`case when run_type = 'standard' then coalesce(slot_released_at, finished_at) - initiated_at end`.as(
            'slot_ms',
          ),
        ])
        .where('id', '=', id),
    ),
);

/** Inserts the usage record of a run that has ended. */
export async function insertUsageRecord(tx: Writer, id: RunId): Promise<void> {
  await insertRecord(tx, { id });
}
