/**
 * Status transitions of runs after they are claimed (claim-runs.ts): end, requeue, cancel; and the queries for the leases
 * of workers. Each statement names in its condition the status and the fencing token it relies on, so that it does nothing
 * when another worker was faster.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import type { Reader, Writer } from '../../database/database.ts';
import { locked } from '../../database/row-locks.ts';
import { insertRunEvents, type RunKey } from './run-events.ts';
import type { RunsTable } from './schema.ts';
import { RUNNING } from './status-literals.ts';

/** What the end of a run writes. */
export type FinalColumns = Partial<RunsTable> & {
  status: 'succeeded' | 'failed' | 'canceled';
  finished_at: number;
};

/** Ends a run that this holder of the fence executes; false when the fence is stale or the run is gone. */
export async function endRunningRun(
  tx: Writer,
  run: Pick<RunsTable, 'id' | 'application_uid' | 'fence'>,
  ending: FinalColumns,
): Promise<boolean> {
  const result = await tx
    .updateTable('runs')
    .set({ ...ending, worker_id: null })
    .where('id', '=', run.id)
    .where('fence', '=', run.fence)
    .where('status', '=', 'running')
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await insertRunEvents(tx, [run], ending.status, ending.finished_at);
  return true;
}

/** Why a run is tried again without its attempt being counted, and not before when. */
export interface HostFault {
  message: string;
  faultCount: number;
  retryAt: number;
}

/** Puts a run back at its old place; false when somebody else has it by now, or it is to be canceled. */
export async function requeueRun(
  tx: Writer,
  run: Pick<RunsTable, 'id' | 'application_uid' | 'fence' | 'attempt'>,
  at: number,
  fault?: HostFault,
): Promise<boolean> {
  const result = await tx
    .updateTable('runs')
    .set({
      status: 'queued',
      worker_id: null,
      initiated_at: null,
      attempt: run.attempt,
      containment: '',
      ...(fault && { host_fault: fault.message, host_faults: fault.faultCount, retry_at: fault.retryAt }),
    })
    .where('id', '=', run.id)
    .where('fence', '=', run.fence)
    .where('status', '=', 'running')
    .where('cancel_requested_at', 'is', null)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await insertRunEvents(tx, [run], 'queued', at);
  return true;
}

/**
 * Ends a run that waits, for its turn or for its result, notes that a running one is to be canceled, and leaves an ended one alone: one statement, so that
 * a run that changes between the two meanwhile is caught either way. Answers the status the run has then, or null when
 * nothing was done.
 */
export async function cancelOrRequestCancel(
  tx: Writer,
  run: RunKey,
  error: string,
  at: number,
): Promise<RunStatusV2 | null> {
  const changed = await tx
    .updateTable('runs')
    .set((eb) => {
      const whenQueued = <T>(then: T, column: 'status' | 'error' | 'finished_at') =>
        eb.case().when('status', '!=', 'running').then(then).else(eb.ref(column)).end();
      return {
        cancel_requested_at: at,
        status: whenQueued<RunStatusV2>('canceled', 'status') as never,
        error: whenQueued(error, 'error') as never,
        finished_at: whenQueued(at, 'finished_at') as never,
      };
    })
    .where('id', '=', run.id)
    .where('status', 'in', ['none', 'queued', 'running'])
    .returning('status')
    .executeTakeFirst();
  if (!changed) return null;
  if (changed.status === 'canceled') await insertRunEvents(tx, [run], 'canceled', at);
  return changed.status;
}

/** Ends a registered run with its result; false when it has one already, was canceled, or is gone. */
export async function endExternalRun(tx: Writer, run: RunKey, ending: FinalColumns): Promise<boolean> {
  const result = await tx
    .updateTable('runs')
    .set(ending)
    .where('id', '=', run.id)
    .where('status', '=', 'none')
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await insertRunEvents(tx, [run], ending.status, ending.finished_at);
  return true;
}

/**
 * Ends the run of an ensemble; false when somebody else has, it is gone, or whether it is to be canceled is not what
 * `canceled` says.
 */
export async function endEnsembleRun(
  tx: Writer,
  run: RunKey,
  { canceled }: { canceled: boolean },
  ending: FinalColumns,
): Promise<boolean> {
  const result = await tx
    .updateTable('runs')
    .set(ending)
    .where('id', '=', run.id)
    .where('status', '=', 'running')
    .where('run_type', '=', 'ensemble')
    .where('cancel_requested_at', canceled ? 'is not' : 'is', null)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await insertRunEvents(tx, [run], ending.status, ending.finished_at);
  return true;
}

export type RunLease = Pick<
  RunsTable,
  'id' | 'application_uid' | 'fence' | 'attempt' | 'worker_id' | 'cancel_requested_at'
>;

const LEASE_COLUMNS = [
  'id',
  'application_uid',
  'fence',
  'attempt',
  'worker_id',
  'cancel_requested_at',
] as const;

/** The runs a worker executes, as the database has it. */
export function listLeasedRuns(db: Reader, workerId: string): Promise<RunLease[]> {
  return db
    .selectFrom('runs')
    .select(LEASE_COLUMNS)
    .where('status', '=', RUNNING)
    .where('worker_id', '=', workerId)
    .execute();
}

/**
 * Running runs whose worker is not entered; that of an ensemble has none. One statement: a worker that enters and claims between two would have its
 * runs taken away.
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

/** Whether somebody has asked for the run to be canceled. */
export async function isCancelRequested(db: Reader, id: RunId): Promise<boolean> {
  const row = await db
    .selectFrom('runs')
    .select('cancel_requested_at')
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined && row.cancel_requested_at !== null;
}

/** Whether the run is there and nobody has claimed it since. It cannot be deleted before the transaction has ended. */
export async function isLeaseCurrent(tx: Writer, run: Pick<RunsTable, 'id' | 'fence'>): Promise<boolean> {
  const query = tx.selectFrom('runs').select('id').where('id', '=', run.id).where('fence', '=', run.fence);
  return (await locked(tx, query, 'key share').executeTakeFirst()) !== undefined;
}
