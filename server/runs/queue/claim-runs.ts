/** Claims queued runs for a worker, and so gives it the lease on them. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { Writer } from '../../database/database.ts';
import { locked } from '../../database/row-locks.ts';
import type { RunsTable } from '../store/schema.ts';
import { type RunClaim, startRuns } from '../store/transitions.ts';
import { compareQueueOrder, selectQueued } from './queue-order.ts';

/** The longest delay before a run is retried after a fault of its host. */
export const RETRY_DELAY_MAX_MS = 60_000;

export interface ClaimRequest extends RunClaim {
  classes: readonly ExecutionClass[];
  limit: number;
}

/**
 * Claims the next runs in queue order among the classes and returns them in that order, at most `limit`. Queries class by
 * class, because each query then reads its rows in order from the small index of queued runs, however long the queue is.
 */
export async function claimRuns(tx: Writer, claim: ClaimRequest): Promise<RunsTable[]> {
  const waiting: Pick<RunsTable, 'id' | 'priority' | 'created_at'>[] = [];
  for (const name of claim.classes) {
    const query = selectQueued(tx, name)
      .select(['id', 'priority', 'created_at'])
      // A delay longer than the maximum was written by a worker whose clock was ahead.
      .where((eb) =>
        eb.or([
          eb('retry_at', 'is', null),
          eb('retry_at', '<=', claim.now),
          eb('retry_at', '>', claim.now + RETRY_DELAY_MAX_MS),
        ]),
      )
      .limit(claim.limit);
    waiting.push(...(await locked(tx, query, 'update skip locked').execute()));
  }
  if (waiting.length === 0) return [];
  const next = waiting.sort(compareQueueOrder).slice(0, claim.limit);
  return startRuns(
    tx,
    next.map((run) => run.id),
    claim,
  );
}
