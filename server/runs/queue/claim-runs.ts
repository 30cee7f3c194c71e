/** Claims queued runs for a worker, and so gives it the lease on them. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { Writer } from '../../database/database.ts';
import { prepareStatement } from '../../database/prepared-statements.ts';
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

interface NextQueued {
  executionClass: ExecutionClass;
  now: number;
  /** A delay that ends later was written by a worker whose clock was ahead. */
  latest: number;
  limit: number;
}

const lockNextQueued = prepareStatement((db, { executionClass, now, latest, limit }: NextQueued) => {
  const query = selectQueued(db, executionClass)
    .select(['id', 'priority', 'created_at'])
    .where((eb) =>
      eb.or([eb('retry_at', 'is', null), eb('retry_at', '<=', now), eb('retry_at', '>', latest)]),
    )
    .limit(limit);
  return locked(db, query, 'update skip locked');
});

/**
 * Claims the next runs in queue order among the classes and returns them in that order, at most `limit`. Queries class by
 * class, because each query then reads its rows in order from the small index of queued runs, however long the queue is.
 */
export async function claimRuns(tx: Writer, claim: ClaimRequest): Promise<RunsTable[]> {
  const waiting: Pick<RunsTable, 'id' | 'priority' | 'created_at'>[] = [];
  const { now, limit } = claim;
  for (const executionClass of claim.classes)
    waiting.push(
      ...(await lockNextQueued(tx, { executionClass, now, latest: now + RETRY_DELAY_MAX_MS, limit })),
    );
  if (waiting.length === 0) return [];
  const next = waiting.sort(compareQueueOrder).slice(0, claim.limit);
  return startRuns(
    tx,
    next.map((run) => run.id),
    claim,
  );
}
