/** Requeues or ends a run whose attempt was cut short. */
import { ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import type { RunLease } from '../store/leases.ts';
import { endLostRun, type HostFault, requeueRun } from '../store/transitions.ts';

export type RequeueOutcome = 'queued' | 'canceled' | 'failed';

export interface RequeueRequest {
  /** A clause that completes the error of the run. */
  reason: string;
  /** In milliseconds. */
  now: number;
  /** The fault of the host that ended the attempt. */
  fault?: HostFault | undefined;
}

/**
 * Requeues a run, fails it after its last attempt, or cancels it when a cancel is requested. Returns the new status, or null
 * when the lease has expired. The run gets the count `attempt`, which is one lower for an attempt that does not count. Each
 * statement checks the status and the fencing token, so a cancel between two statements is not lost.
 */
export async function requeueOrEnd(
  tx: Writer,
  run: Omit<RunLease, 'worker_id' | 'cancel_requested_at'>,
  { reason, now, fault }: RequeueRequest,
): Promise<RequeueOutcome | null> {
  if (run.attempt >= ATTEMPTS_MAX) {
    const error = `The run was started ${run.attempt} times and each time it was cut short before it ended; the last time: ${reason}`;
    return (await endLostRun(tx, run, { status: 'failed', error, finished_at: now })) ? 'failed' : null;
  }
  if (await requeueRun(tx, run, now, fault)) return 'queued';
  const error = `The run was canceled, and then cut short: ${reason}`;
  return (await endLostRun(tx, run, { status: 'canceled', error, finished_at: now })) ? 'canceled' : null;
}

/** Requeues a run that was claimed and never started; the attempt does not count. */
export async function requeueUnstarted(
  { database, clock, log }: { database: Database; clock: Clock; log: Log },
  run: RunLease,
): Promise<void> {
  const uncounted = { ...run, attempt: run.attempt - 1 };
  const reason = 'the confirmation of its claim never reached its worker.';
  const status = await database.transact((tx) => requeueOrEnd(tx, uncounted, { reason, now: clock.now() }));
  if (!status) return;
  log.warn({ run: run.id, status }, 'Run requeued: it was claimed and never started.');
  database.notify(status === 'queued' ? 'runs-queued' : 'runs-ended');
}
