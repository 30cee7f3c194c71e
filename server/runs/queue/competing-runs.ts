/** Counts the queued runs that would take a free slot before a new run. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { LABELS_MAX } from '@switchyard/contract/limits.ts';
import type { Reader } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { canEverServe, type WorkerOffer } from '../workers/offers.ts';
import { filterByTokens } from './license-use.ts';
import { listLanes } from './order/lanes.ts';
import { type LanePart, readInOrder, selectLanePart } from './order/read-queue.ts';
import { computeRetryTimes, isRetryDue, type RetryTimes } from './order/retry-times.ts';
import { SlotUse } from './order/slot-use.ts';
import { countFreeRuns } from './run-quota.ts';
import { describeDemand } from './run-requirements.ts';

const selectDue = prepareStatement((db, part: LanePart & RetryTimes) =>
  selectLanePart(db, part)
    .select(['id', 'priority', 'created_at', 'account_id', 'application_uid'])
    .where(isRetryDue(part)),
);

/**
 * Counts the queued runs of the classes that could start now on one of the offers, at most `bound`. Runs that wait for a label,
 * for tokens, for a quota or for the next attempt take no slot.
 */
export async function countCompetingRuns(
  db: Reader,
  {
    offers,
    classes,
    bound,
  }: { offers: readonly WorkerOffer[]; classes: readonly ExecutionClass[]; bound: number },
  now: number,
): Promise<number> {
  const labels = [...new Set(offers.flatMap((offer) => offer.labels))];
  const listed = await listLanes(db, { classes, ...(labels.length > LABELS_MAX ? {} : { labels }) });
  const suitable = listed.filter(
    (lane) =>
      classes.includes(lane.execution_class) &&
      offers.some((offer) => canEverServe(offer, describeDemand(lane))),
  );
  const lanes = await filterByTokens(db, suitable, { areFree: true });
  const runs = await readInOrder(db, {
    ...{ lanes, limit: bound, now, use: new SlotUse() },
    free: await countFreeRuns(db, lanes.filter((lane) => lane.is_limited).map(describeDemand)),
    read: (part) => selectDue(db, { ...part, ...computeRetryTimes(now) }),
  });
  return runs.length;
}
