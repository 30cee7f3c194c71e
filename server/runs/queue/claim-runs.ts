/** Claims queued runs for a worker, and so gives it the lease on them. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { type SqlBool, sql } from 'kysely';
import type { Writer } from '../../database/database.ts';
import { prepareVariants } from '../../database/prepared-statements.ts';
import { locked } from '../../database/row-locks.ts';
import type { RunsTable } from '../store/schema.ts';
import { QUEUED } from '../store/status-literals.ts';
import { startRuns } from '../store/transitions.ts';
import { type ClaimRequest, createWorkflowFilter } from './claim-request.ts';
import { claimPlanned } from './placement/claim-planned.ts';
import {
  hasRequiredLabels,
  isLimited,
  isRetryDue,
  nameLabels,
  type RetryTimes,
  selectRunQuota,
} from './placement/list-waiting.ts';
import { compareQueueOrder, type QueuePosition, selectQueued } from './queue-order.ts';
import { listQueuedAccounts, lockFreeRuns } from './run-quota.ts';

/** The longest delay before a run is retried after a fault of its host. */
export const RETRY_DELAY_MAX_MS = 60_000;

/** Returns the times between which the retry delay of a run that may start now has ended. */
export function computeRetryTimes(now: number): RetryTimes {
  return { now, latest: now + RETRY_DELAY_MAX_MS };
}

interface NextQueued extends WorkflowCapacity, RetryTimes {
  workerId: string;
  executionClass: ExecutionClass;
  limit: number;
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

/** A queued run, and whether its account or its application has a quota of runs at once. */
type Candidate = Queued & { is_limited: SqlBool };

/** A queued run, as far as a claim selects it. */
type Queued = QueuePosition & Pick<RunsTable, 'api_access' | 'workflow_depth' | 'required_licenses'>;

const lockNextQueued = prepareVariants(
  (labels: number) => `${labels}`,
  (db, labels: number, values: NextQueued & Record<string, unknown>) => {
    const { workerId, executionClass, limit } = values;
    const query = selectQueued(db, executionClass)
      .select((eb) => [
        'id',
        'priority',
        'created_at',
        'api_access',
        'workflow_depth',
        'required_licenses',
        isLimited(eb).as('is_limited'),
      ])
      .where(isRetryDue(values))
      .where(hasWorkflowCapacity(values))
      .where(hasRequiredLabels(labels, values))
      // In this statement, because a claim that reads the worker first could miss a drain, and would cost a round trip.
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('workers')
              .select('workers.id')
              .where('workers.id', '=', workerId)
              .where('workers.draining_at', 'is not', null),
          ),
        ),
      )
      .limit(limit);
    return locked(db, query, 'update skip locked');
  },
);

/** The parts of a request that change the statement. */
interface NextVariant {
  classes: readonly ExecutionClass[];
  isOfApplication: boolean;
  /** The number of labels of the worker. */
  labels: number;
}

interface NextOfAccount extends WorkflowCapacity, RetryTimes {
  account: AccountId;
  /** Runs of this application alone; null for those of all applications without a quota of runs at once. */
  applicationUid: string | null;
  limit: number;
}

/** Reads the index of the queued runs of an account, so that a long queue of another account costs nothing. */
const lockNextOfAccount = prepareVariants(
  ({ classes, isOfApplication, labels }: NextVariant) => `${isOfApplication} ${labels} ${classes.join()}`,
  (
    db,
    { classes, isOfApplication, labels }: NextVariant,
    request: NextOfAccount & Record<string, unknown>,
  ) => {
    const { account, applicationUid, limit } = request;
    const query = db
      .selectFrom('runs')
      .select(['id', 'priority', 'created_at', 'api_access', 'workflow_depth', 'required_licenses'])
      .where(hasWorkflowCapacity(request))
      .where(hasRequiredLabels(labels, request))
      .where('status', '=', QUEUED)
      .where('account_id', '=', account)
      .where('execution_class', 'in', classes)
      .where((eb) =>
        isOfApplication
          ? eb('application_uid', '=', applicationUid ?? '')
          : eb.not(eb.exists(selectRunQuota(eb))),
      )
      .where(isRetryDue(request))
      .orderBy('priority')
      .orderBy('created_at')
      .orderBy('id')
      .limit(limit);
    return locked(db, query, 'update skip locked');
  },
);

/**
 * Claims the next runs in queue order among the classes and returns them in that order, at most `limit`. Queries class by
 * class, because each query then reads its rows in order from the small index of queued runs, however long the queue is.
 */
export async function claimRuns(tx: Writer, claim: ClaimRequest): Promise<RunsTable[]> {
  const candidates: Candidate[] = [];
  const { workerId, now, limit, offer } = claim;
  const times = computeRetryTimes(now);
  if (offer.resources !== null || offer.scope !== null) return claimPlanned(tx, claim, times);
  const values = { ...times, ...formatCapacity(claim.workflowCapacity), ...nameLabels(offer.labels) };
  for (const executionClass of claim.classes)
    candidates.push(
      ...(await lockNextQueued(tx, offer.labels.length, { workerId, executionClass, limit, ...values })),
    );
  const hasLimited = candidates.some((run) => run.is_limited);
  const waiting: Queued[] = hasLimited ? await lockWithinQuotas(tx, claim, values) : candidates;
  if (waiting.length === 0) return [];
  if (waiting.some((run) => run.required_licenses !== null)) return claimPlanned(tx, claim, times);
  const next = waiting.sort(compareQueueOrder).filter(createWorkflowFilter(claim)).slice(0, limit);
  if (next.length === 0) return [];
  return startRuns(
    tx,
    next.map((run) => run.id),
    claim,
  );
}

/** Returns the next runs of each account, at most as many as the quotas of the account and its applications let start. */
async function lockWithinQuotas(
  tx: Writer,
  { classes, limit, offer }: ClaimRequest,
  values: RetryTimes & WorkflowCapacity & Record<string, unknown>,
): Promise<Queued[]> {
  const free = await lockFreeRuns(tx);
  const waiting: Queued[] = [];
  for (const account of await listQueuedAccounts(tx)) {
    const atMost = Math.min(limit, free.accounts.get(account) ?? limit);
    if (atMost === 0) continue;
    const lockNext = (applicationUid: string | null, count: number) =>
      lockNextOfAccount(
        tx,
        { classes, isOfApplication: applicationUid !== null, labels: offer.labels.length },
        { account, applicationUid, limit: Math.min(atMost, count), ...values },
      );
    const next: Queued[] = [...(await lockNext(null, atMost))];
    for (const [applicationUid, count] of free.applications.get(account) ?? [])
      if (count > 0) next.push(...(await lockNext(applicationUid, count)));
    waiting.push(...next.sort(compareQueueOrder).slice(0, atMost));
  }
  return waiting;
}
