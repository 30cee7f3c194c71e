/** Statements on the times of log lines. The chunks of a log have times too, but they are deleted after 24 hours. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';

export interface LogTimesTable {
  run_id: RunId;
  /** Encoded by line-times.ts. */
  times: Uint8Array;
}

const upsert = prepareStatement((db, row: LogTimesTable) =>
  db
    .insertInto('run_log_times')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('run_id').doUpdateSet((eb) => ({ times: eb.ref('excluded.times') })),
    ),
);

/** Stores the times of the lines of a log, in place of those from an earlier attempt of the run. */
export async function upsertLogTimes(tx: Writer, run: RunId, times: Uint8Array): Promise<void> {
  await upsert(tx, { run_id: run, times });
}

/** Returns the encoded times of the lines of a log; undefined when the server does not know them. */
export async function findLogTimes(db: Reader, run: RunId): Promise<Uint8Array | undefined> {
  const query = db.selectFrom('run_log_times').select('times').where('run_id', '=', run);
  return (await query.executeTakeFirst())?.times;
}
