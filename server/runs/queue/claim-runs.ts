/** Claims queued runs for a worker, and so gives it the lease on them. */
import { type SqlBool, sql } from 'kysely';
import type { Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { RunsTable } from '../store/schema.ts';
import { startRuns } from '../store/transitions.ts';
import { canEverServe } from '../workers/offers.ts';
import { type ClaimRequest, createWorkflowFilter } from './claim-request.ts';
import { NO_QUOTAS } from './order/fair-order.ts';
import { listLanesInTurn } from './order/lanes.ts';
import { type LanePart, readInOrder, selectLanePart } from './order/read-queue.ts';
import { computeRetryTimes, isRetryDue, type RetryTimes } from './order/retry-times.ts';
import { claimPlanned } from './placement/claim-planned.ts';
import { lockFreeRuns } from './run-quota.ts';
import { describeDemand } from './run-requirements.ts';

interface NextRuns extends WorkflowCapacity, RetryTimes, LanePart {
  workerId: string;
}

/** 1 for each depth on which the worker takes a further workflow, else 0. */
interface WorkflowCapacity {
  depth0: number;
  depth1: number;
  depth2: number;
}

function formatCapacity([depth0 = 0, depth1 = 0, depth2 = 0]: readonly number[]): WorkflowCapacity {
  return { depth0: Math.sign(depth0), depth1: Math.sign(depth1), depth2: Math.sign(depth2) };
}

/** A worker executes a bounded number of workflows of each depth: those that wait hold no slot that would bound them. */
function hasWorkflowCapacity({ depth0, depth1, depth2 }: WorkflowCapacity) {
  return sql<SqlBool>`(api_access is null or (workflow_depth = 0 and ${depth0} = 1) or (workflow_depth = 1 and ${depth1} = 1) or (workflow_depth = 2 and ${depth2} = 1))`;
}

const lockNextRuns = prepareStatement((db, values: NextRuns) => {
  const query = selectLanePart(db, values)
    .select(['id', 'priority', 'created_at', 'account_id', 'application_uid'])
    .select(['api_access', 'workflow_depth', 'required_licenses'])
    .where(isRetryDue(values))
    .where(hasWorkflowCapacity(values))
    // In this statement, because a claim that reads the worker first could miss a drain, and would cost a round trip.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('workers')
            .select('workers.id')
            .where('workers.id', '=', values.workerId)
            .where('workers.draining_at', 'is not', null),
        ),
      ),
    );
  return locked(db, query, 'update skip locked');
});

/**
 * Claims the next runs in queue order among the classes and returns them in that order, at most `limit`. Reads the runs lane by
 * lane, from an index that has them in order, however long the queue is.
 */
export async function claimRuns(tx: Writer, claim: ClaimRequest): Promise<RunsTable[]> {
  const { workerId, now, limit, offer, classes } = claim;
  const times = computeRetryTimes(now);
  if (offer.resources !== null || offer.scope !== null) return claimPlanned(tx, claim, times);
  const lanes = (await listLanesInTurn(tx, { classes, labels: offer.labels })).filter(
    (lane) => classes.includes(lane.execution_class) && canEverServe(offer, describeDemand(lane)),
  );
  if (lanes.length === 0) return [];
  const free = lanes.some((lane) => lane.is_limited) ? await lockFreeRuns(tx) : NO_QUOTAS;
  const values = { ...times, ...formatCapacity(claim.workflowCapacity), workerId };
  const next = await readInOrder(tx, {
    ...{ lanes, free, limit, now, isLocking: true },
    read: (part) => lockNextRuns(tx, { ...part, ...values }),
  });
  if (next.some((run) => run.required_licenses !== null)) return claimPlanned(tx, claim, times);
  const ids = next.filter(createWorkflowFilter(claim)).map(({ id }) => id);
  return ids.length === 0 ? [] : startRuns(tx, ids, claim);
}
