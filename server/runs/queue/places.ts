/** The places of queued runs: the number of runs before each of them. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { QUEUE_POSITION_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { ActiveWorker } from '../workers/workers.ts';
import { listLanes } from './order/lanes.ts';
import { type LanePart, listNextQueued, readInOrder, selectLanePart } from './order/read-queue.ts';
import { isRetryDue, type RetryTimes } from './order/retry-times.ts';
import { findStartable } from './startable.ts';

const selectStartable = prepareStatement((db, part: LanePart & RetryTimes) =>
  selectLanePart(db, part)
    .where(isRetryDue(part))
    .select(['id', 'priority', 'created_at', 'account_id', 'application_uid', 'execution_class']),
);

interface StartableRequest {
  /** The classes that compete for the same slots. */
  classes: readonly ExecutionClass[];
  workers: readonly ActiveWorker[];
}

/** Lists the first queued runs of the classes that could start, in the order in which they start. */
export async function listNextStartable(
  db: Reader,
  { classes, workers, limit }: StartableRequest & { limit: number },
  now: number,
) {
  const lanes = (await listLanes(db)).filter((lane) => classes.includes(lane.execution_class));
  const { lanes: startable, free, times } = await findStartable(db, { lanes, workers, now });
  return readInOrder(db, {
    ...{ lanes: startable, free, limit, now },
    read: (part) => selectStartable(db, { ...part, ...times }),
  });
}

/**
 * Returns the number of runs before each of the runs, at most QUEUE_POSITION_MAX. Before a run that could start are only runs
 * that could start too. A run that could not has the place that it would have if all could.
 */
export async function countRunsBefore(
  db: Reader,
  { runs, ...request }: StartableRequest & { runs: readonly { id: RunId }[] },
  now: number,
): Promise<(run: { id: RunId }) => number> {
  const bounded = { ...request, limit: QUEUE_POSITION_MAX };
  const next = await listNextStartable(db, bounded, now);
  const before = new Map(next.map(({ id }, index) => [id, index]));
  if (runs.some(({ id }) => !before.has(id))) {
    const all = await listNextQueued(db, bounded, now);
    for (const [index, { id }] of all.entries()) if (!before.has(id)) before.set(id, index);
  }
  return ({ id }) => before.get(id) ?? QUEUE_POSITION_MAX;
}
