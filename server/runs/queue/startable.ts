/**
 * The queued runs that could start if a slot was free. The others wait for a worker with their labels or size, for tokens that
 * their account does not have, for a quota, or for the end of a retry delay. No run waits for them.
 */
import { createPools, findPool } from '@switchyard/worker/execute/slots.ts';
import type { Reader } from '../../platform/database/database.ts';
import { canEverServe } from '../workers/offers.ts';
import type { ActiveWorker } from '../workers/workers.ts';
import { filterByTokens } from './license-use.ts';
import { type FreeRuns, NO_QUOTAS } from './order/fair-order.ts';
import type { Lane } from './order/lanes.ts';
import { computeRetryTimes, type RetryTimes } from './order/retry-times.ts';
import { countFreeRuns } from './run-quota.ts';
import { describeDemand } from './run-requirements.ts';

export interface Startable {
  lanes: readonly Lane[];
  /** How many more runs may start. */
  free: FreeRuns;
  /** For `isRetryDue`. */
  times: RetryTimes;
}

interface Candidates {
  lanes: readonly Lane[];
  workers: readonly ActiveWorker[];
  now: number;
}

/** Returns the lanes whose runs could start, and what some of their runs wait for. */
export async function findStartable(db: Reader, { lanes, workers, now }: Candidates): Promise<Startable> {
  const served = lanes.filter((lane) => {
    const demand = describeDemand(lane);
    return workers.some(
      ({ capacity, offer }) =>
        findPool(createPools(capacity), lane.execution_class).slots > 0 && canEverServe(offer, demand),
    );
  });
  const startable = await filterByTokens(db, served, { areFree: false });
  const limited = startable.filter((lane) => lane.is_limited).map(describeDemand);
  return {
    lanes: startable,
    free: limited.length === 0 ? NO_QUOTAS : await countFreeRuns(db, limited),
    times: computeRetryTimes(now),
  };
}
