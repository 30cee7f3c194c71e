/** Queries for the leases of workers: the runs that a worker executes, and whether it still holds them. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import { type RawBuilder, sql } from 'kysely';
import Type from 'typebox';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import { RUNNING, type RunsTable } from './schema.ts';

export type RunLease = Pick<RunsTable, (typeof LEASE_COLUMNS)[number]>;

const LEASE_COLUMNS = [
  'id',
  'application_uid',
  'fence',
  'attempt',
  'worker_id',
  'execution_class',
  'cancel_requested_at',
  'slot_released_at',
] as const;

const selectLeasedRuns = prepareStatement((db, { workerId }: { workerId: string }) =>
  db.selectFrom('runs').select(LEASE_COLUMNS).where('status', '=', RUNNING).where('worker_id', '=', workerId),
);

/** Returns the running runs that the worker has claimed. */
export function listLeasedRuns(db: Reader, workerId: string): Promise<RunLease[]> {
  return selectLeasedRuns(db, { workerId });
}

/**
 * Returns running runs whose worker is not registered. The run of an ensemble has no worker, so it is never returned. One
 * statement, because a worker that registers and claims runs between two statements would lose them.
 */
export function listOrphanedRuns(db: Reader, limit: number): Promise<RunLease[]> {
  return db
    .selectFrom('runs')
    .select(LEASE_COLUMNS)
    .where('status', '=', RUNNING)
    .where('worker_id', 'is not', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom('workers').select('workers.id').whereRef('workers.id', '=', 'runs.worker_id'),
        ),
      ),
    )
    .limit(limit)
    .execute();
}

/** Returns true if a caller has requested to cancel the run. */
export async function isCancelRequested(db: Reader, id: RunId): Promise<boolean> {
  const row = await db
    .selectFrom('runs')
    .select('cancel_requested_at')
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined && row.cancel_requested_at !== null;
}

/**
 * Returns true if the run exists and no later claim has raised its fencing token. Blocks its deletion, and other writes of its
 * log, until the transaction ends.
 */
export async function isLeaseCurrent(tx: Writer, run: Pick<RunsTable, 'id' | 'fence'>): Promise<boolean> {
  const query = tx.selectFrom('runs').select('id').where('id', '=', run.id).where('fence', '=', run.fence);
  return (await locked(tx, query, 'update').executeTakeFirst()) !== undefined;
}

/**
 * The attempts of a run that were cut short, because their worker died or their host had a fault. A row of `runs` has the
 * times of the last attempt only, so the statement that ends a lost attempt stores its times: `[start,end],[start,end]`.
 *
 * Faults of a host do not count as attempts, so a run can lose any number of them. These are about 60.
 */
const CHARS_MAX = 2_000;

/** The times of a lost attempt, in milliseconds. */
interface LostAttempt {
  initiated_at: number;
  finished_at: number;
}

/** Returns the value of `lost_attempts` when the current attempt of the row is lost at the time. */
export function appendLostAttempt(at: number): RawBuilder<string | null> {
  const known = sql`coalesce(lost_attempts || ',', '')`;
  return sql<string | null>`case
    when initiated_at is null or length(coalesce(lost_attempts, '')) >= ${sql.lit(CHARS_MAX)} then lost_attempts
    else ${known} || '[' || initiated_at || ',' || ${sql.lit(at)} || ']'
  end`;
}

const parsePairs = createJsonParser(Type.Array(Type.Tuple([Type.Number(), Type.Number()])));

/** Returns the lost attempts of the run, the first one first. */
export function parseLostAttempts({
  id,
  lost_attempts,
}: Pick<RunsTable, 'id' | 'lost_attempts'>): LostAttempt[] {
  const pairs = parsePairs(`[${lost_attempts ?? ''}]`, `runs.lost_attempts of id ${id}`);
  return pairs.map(([initiated_at, finished_at]) => ({ initiated_at, finished_at }));
}
