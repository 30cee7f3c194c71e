/**
 * Every statement that writes the status of a run. A statement names in its condition the status, and for a leased run the
 * fencing token, that it relies on. It changes nothing when another worker or a cancel was faster.
 *
 * Invariant: each status is written in the transaction that stores its event (run-events.ts), and a terminal one in that of
 * the usage record of the run.
 */
import {
  isTerminal,
  RUN_ACTIONS,
  type RunStatusV2,
  type RunTransition,
} from '@switchyard/contract/states.ts';
import { sql, type UpdateObject } from 'kysely';
import { insertUsageRecord } from '../../accounts/usage/usage-records.ts';
import type { Tables, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { INDEXED_COLUMNS, insertRunValues, replaceStatusValue } from '../values/run-values.ts';
import { appendLostAttempt } from './leases.ts';
import { insertRunEvents, type RunKey } from './run-events.ts';
import type { RunsTable } from './schema.ts';

const insertRow = prepareStatement((db, run: RunsTable) => db.insertInto('runs').values(run));

/** Inserts a run and the event of its first status. */
export async function insertRun(tx: Writer, run: RunsTable): Promise<void> {
  await insertRow(tx, run);
  await insertRunEvents(tx, [run], run.status, run.created_at);
  if (isTerminal(run.status)) await insertUsageRecord(tx, run.id);
  // An external run without a result may never get one, and one with a result has ended.
  if (run.status !== 'queued' && run.status !== 'running') await insertRunValues(tx, run);
}

/** The columns that a transition writes besides the status: values, or expressions on the row. */
type OtherColumns = Omit<UpdateObject<Tables, 'runs'>, 'status'>;

/** Conditions on the row, besides its status, for a transition to happen. */
interface RunGuard {
  /** The fencing token of the lease. */
  fence?: number;
  runType?: RunsTable['run_type'];
  /** True: only with a cancel request; false: only without one. */
  cancelRequested?: boolean;
}

interface RunChange {
  /** The time of the event, in milliseconds. */
  at: number;
  columns: OtherColumns;
  guard?: RunGuard;
}

function updateStatus(tx: Writer, { from, to }: RunTransition, columns: OtherColumns) {
  return tx
    .updateTable('runs')
    .set({ ...columns, status: to })
    .where('status', '=', from);
}

/** Changes the status of a run and stores the event; returns false when the run is gone, or its row is not as `from` and the guard say. */
async function transition(
  tx: Writer,
  run: RunKey,
  pair: RunTransition,
  { at, columns, guard = {} }: RunChange,
): Promise<boolean> {
  let query = updateStatus(tx, pair, columns).where('id', '=', run.id);
  if (guard.fence !== undefined) query = query.where('fence', '=', guard.fence);
  if (guard.runType !== undefined) query = query.where('run_type', '=', guard.runType);
  if (guard.cancelRequested !== undefined)
    query = query.where('cancel_requested_at', guard.cancelRequested ? 'is not' : 'is', null);
  const changed = await query.returning(INDEXED_COLUMNS).executeTakeFirst();
  if (!changed) return false;
  await insertRunEvents(tx, [run], pair.to, at);
  if (isTerminal(pair.to)) await insertUsageRecord(tx, run.id);
  if (pair.from === 'none') await replaceStatusValue(tx, changed);
  else if (isTerminal(pair.to)) await insertRunValues(tx, changed);
  return true;
}

/** A claim of queued runs by a worker. */
export interface RunClaim {
  workerId: string;
  now: number;
  containment: RunsTable['containment'];
}

/** Gives the worker the lease on those of the runs that are still queued; returns them in the order of the ids. */
export async function startRuns(
  tx: Writer,
  ids: readonly RunsTable['id'][],
  { workerId, now, containment }: RunClaim,
): Promise<RunsTable[]> {
  const columns = {
    worker_id: workerId,
    attempt: sql<number>`attempt + 1`,
    fence: sql<number>`fence + 1`,
    initiated_at: now,
    retry_at: null,
    slot_released_at: null,
    containment,
  };
  const started = await updateStatus(tx, { from: 'queued', to: 'running' }, columns)
    .where('id', 'in', ids)
    .returningAll()
    .execute();
  const positions = new Map(ids.map((id, position) => [id, position]));
  started.sort((a, b) => (positions.get(a.id) ?? 0) - (positions.get(b.id) ?? 0));
  await insertRunEvents(tx, started, 'running', now);
  return started;
}

/** The columns that the end of a run writes. */
export type FinalColumns = Omit<Partial<RunsTable>, 'status' | 'finished_at'> & {
  status: 'succeeded' | 'failed' | 'canceled';
  finished_at: number;
};

type LeasedRun = Pick<RunsTable, 'id' | 'application_uid' | 'fence'>;

/** Ends a run that a worker executes; returns false when the fencing token is stale or the run is gone. */
export function endRunningRun(
  tx: Writer,
  run: LeasedRun,
  { status, ...columns }: FinalColumns,
): Promise<boolean> {
  return endLease(tx, run, status, columns);
}

/** Ends a run whose last attempt is lost; returns false when the fencing token is stale or the run is gone. */
export function endLostRun(
  tx: Writer,
  run: LeasedRun,
  { status, ...columns }: Pick<FinalColumns, 'status' | 'error' | 'finished_at'>,
): Promise<boolean> {
  const lost_attempts = appendLostAttempt(columns.finished_at);
  return endLease(tx, run, status, { ...columns, lost_attempts });
}

function endLease(
  tx: Writer,
  run: LeasedRun,
  status: FinalColumns['status'],
  columns: OtherColumns & { finished_at: number },
): Promise<boolean> {
  const change = {
    at: columns.finished_at,
    columns: { ...columns, worker_id: null },
    guard: { fence: run.fence },
  };
  return transition(tx, run, { from: 'running', to: status }, change);
}

/** A fault of the host that ended an attempt, which does not count; `retryAt` is the earliest time of the next. */
export interface HostFault {
  message: string;
  faultCount: number;
  retryAt: number;
}

/** Requeues a run at its old position; returns false when the fencing token is stale or a cancel is requested. */
export function requeueRun(
  tx: Writer,
  run: Pick<RunsTable, 'id' | 'application_uid' | 'fence' | 'attempt'>,
  at: number,
  fault?: HostFault,
): Promise<boolean> {
  const columns = {
    worker_id: null,
    initiated_at: null,
    slot_released_at: null,
    attempt: run.attempt,
    requeued_at: at,
    lost_attempts: appendLostAttempt(at),
    containment: '' as const,
    ...(fault && { host_fault: fault.message, host_faults: fault.faultCount, retry_at: fault.retryAt }),
  };
  const guard = { fence: run.fence, cancelRequested: false };
  return transition(tx, run, { from: 'running', to: 'queued' }, { at, columns, guard });
}

/** The transitions of a cancel that take effect at once; a running run is canceled by its worker. */
const IMMEDIATE_CANCELS = [
  { from: 'none', to: 'canceled' },
  { from: 'queued', to: 'canceled' },
] as const satisfies readonly RunTransition[];

/**
 * Cancels a run that is queued or waits for its result, and stores the cancel request of a running one. Returns the status
 * afterwards, or null when the run has ended or is gone. One statement, so that it also catches a run that changes between
 * these statuses at the same time.
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
      const isImmediate = eb(
        'status',
        'in',
        IMMEDIATE_CANCELS.map(({ from }) => from),
      );
      return {
        cancel_requested_at: at,
        status: eb
          .case()
          .when(isImmediate)
          .then(sql.lit<RunStatusV2>('canceled'))
          .else(eb.ref('status'))
          .end(),
        error: eb.case().when(isImmediate).then(error).else(eb.ref('error')).end(),
        finished_at: eb.case().when(isImmediate).then(at).else(eb.ref('finished_at')).end(),
      };
    })
    .where('id', '=', run.id)
    .where('status', 'in', RUN_ACTIONS.cancel)
    .returning(INDEXED_COLUMNS)
    .executeTakeFirst();
  if (!changed) return null;
  if (changed.status === 'canceled') {
    await insertRunEvents(tx, [run], 'canceled', at);
    await insertUsageRecord(tx, run.id);
    // An external run has values already, with another status.
    await replaceStatusValue(tx, changed);
  }
  return changed.status;
}

/** Ends an external run with its result; returns false when it has ended already or is gone. */
export function endExternalRun(
  tx: Writer,
  run: RunKey,
  { status, ...columns }: FinalColumns,
): Promise<boolean> {
  return transition(tx, run, { from: 'none', to: status }, { at: columns.finished_at, columns });
}

/** Ends the run of an ensemble; returns false when it has ended, is gone, or its cancel request is not as `canceled` says. */
export function endEnsembleRun(
  tx: Writer,
  run: RunKey,
  { canceled }: { canceled: boolean },
  { status, ...columns }: FinalColumns,
): Promise<boolean> {
  const guard = { runType: 'ensemble', cancelRequested: canceled } as const;
  return transition(tx, run, { from: 'running', to: status }, { at: columns.finished_at, columns, guard });
}
