/** A run whose holder cannot go on: back to the queue, unless it was to be canceled or has been tried often enough. */
import { ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import type { Writer } from '../database/database.ts';
import type { RunsTable } from './schema.ts';
import { endRunning, requeue } from './store.ts';

/** Answers the status written, or null when somebody else has the run by now. */
export async function giveBack(
  tx: Writer,
  run: RunsTable,
  why: string,
  now: number,
): Promise<'queued' | 'canceled' | 'failed' | null> {
  const current = await tx
    .selectFrom('runs')
    .select(['cancel_requested_at'])
    .where('id', '=', run.id)
    .executeTakeFirst();
  if (current && current.cancel_requested_at !== null) {
    const error = 'The run was canceled while its worker went away.';
    return (await endRunning(tx, run, { status: 'canceled', error, finished_at: now })) ? 'canceled' : null;
  }
  if (run.attempt >= ATTEMPTS_MAX) {
    const error = `The run was started ${run.attempt} times and each time its worker died before it ended; the last time: ${why}`;
    return (await endRunning(tx, run, { status: 'failed', error, finished_at: now })) ? 'failed' : null;
  }
  return (await requeue(tx, run, now)) ? 'queued' : null;
}
