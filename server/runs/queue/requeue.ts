/** A run whose holder cannot go on: back to the queue, unless it was to be canceled or has been tried often enough. */
import { ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import type { Writer } from '../../database/database.ts';
import type { RunLease } from '../store/leases.ts';
import { endRunningRun, type HostFault, requeueRun } from '../store/transitions.ts';

export type RequeueOutcome = 'queued' | 'canceled' | 'failed';

/**
 * Answers the status written, or null when somebody else has the run by now. `attempt` is what the run is to show: one
 * less than it was for a start that is not to count, as after a fault of the host. Every statement checks what it relies on, so a cancel that comes in
 * between is not lost.
 */
export async function requeueOrEnd(
  tx: Writer,
  run: Omit<RunLease, 'worker_id' | 'cancel_requested_at'>,
  why: string,
  now: number,
  fault?: HostFault,
): Promise<RequeueOutcome | null> {
  if (run.attempt >= ATTEMPTS_MAX) {
    const error = `The run was started ${run.attempt} times and each time it was cut short before it ended; the last time: ${why}`;
    return (await endRunningRun(tx, run, { status: 'failed', error, finished_at: now })) ? 'failed' : null;
  }
  if (await requeueRun(tx, run, now, fault)) return 'queued';
  const error = `The run was canceled, and then cut short: ${why}`;
  return (await endRunningRun(tx, run, { status: 'canceled', error, finished_at: now })) ? 'canceled' : null;
}
