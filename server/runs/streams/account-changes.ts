/** Statements on the events of runs, for the streams of accounts. */
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import type { Reader } from '../../platform/database/database.ts';

/** A change of a run, in the order of `seq`, which is not always that of the commits. */
export interface RunChangeRow {
  seq: number;
  account: AccountId;
  application: ApplicationId;
  run: RunId;
  status: RunStatusV2;
  at: number;
}

/** A position among the events: all events up to `seq` are read, except the missing ones. */
export interface EventPosition {
  seq: number;
  /** Numbers below `seq` that were not committed when the position was read. */
  missing: readonly number[];
}

/** Lists the events after the position, at most `limit`; of one account, or of all for null. */
export async function listChanges(
  db: Reader,
  { seq, missing }: EventPosition,
  account: AccountId | null,
  limit: number,
): Promise<RunChangeRow[]> {
  const query = db
    .selectFrom('run_events')
    .innerJoin('applications', 'applications.uid', 'run_events.application_uid')
    .select([
      'run_events.seq',
      'applications.account_id as account',
      'applications.id as application',
      'run_events.run_id as run',
      'run_events.status',
      'run_events.at',
    ])
    .where((eb) =>
      missing.length === 0
        ? eb('run_events.seq', '>', seq)
        : eb.or([eb('run_events.seq', '>', seq), eb('run_events.seq', 'in', missing)]),
    )
    .orderBy('run_events.seq')
    .limit(limit);
  return (account === null ? query : query.where('applications.account_id', '=', account)).execute();
}

/** Returns the number of the last event; 0 without any. */
export async function findLastSeq(db: Reader): Promise<number> {
  const row = await db
    .selectFrom('run_events')
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.seq ?? 0;
}
