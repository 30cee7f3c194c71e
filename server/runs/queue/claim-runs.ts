/** Claims queued runs for a worker, and so gives it the lease on them. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables, Writer } from '../../database/database.ts';
import { prepareStatement, prepareVariants } from '../../database/prepared-statements.ts';
import { locked } from '../../database/row-locks.ts';
import type { RunsTable } from '../store/schema.ts';
import { QUEUED } from '../store/status-literals.ts';
import { type RunClaim, startRuns } from '../store/transitions.ts';
import { compareQueueOrder, type QueuePosition, selectQueued } from './queue-order.ts';
import { listQueuedAccounts, lockFreeRuns } from './run-quota.ts';

/** The longest delay before a run is retried after a fault of its host. */
export const RETRY_DELAY_MAX_MS = 60_000;

export interface ClaimRequest extends RunClaim {
  classes: readonly ExecutionClass[];
  limit: number;
  /** The number of further workflows that the worker takes, by their depth. */
  workflowCapacity: readonly number[];
}

interface NextQueued extends WorkflowCapacity {
  workerId: string;
  executionClass: ExecutionClass;
  now: number;
  /** A delay that ends later was written by a worker whose clock was ahead. */
  latest: number;
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

/** Selects the quota of runs at once of the application of a run. */
function selectRunQuota(eb: ExpressionBuilder<Tables, 'runs'>) {
  return eb
    .selectFrom('application_quotas')
    .select('application_quotas.application_uid')
    .whereRef('application_quotas.application_uid', '=', 'runs.application_uid')
    .where('application_quotas.concurrent_runs', 'is not', null);
}

/** A queued run, and whether its account or its application has a quota of runs at once. */
type Candidate = Queued & { is_limited: SqlBool };

/** A queued run, as far as a claim selects it. */
type Queued = QueuePosition & Pick<RunsTable, 'api_access' | 'workflow_depth'>;

const lockNextQueued = prepareStatement(
  (db, { workerId, executionClass, now, latest, limit, ...capacity }: NextQueued) => {
    const query = selectQueued(db, executionClass)
      .select((eb) => [
        'id',
        'priority',
        'created_at',
        'api_access',
        'workflow_depth',
        eb
          .or([
            eb.exists(
              eb
                .selectFrom('account_quotas')
                .select('account_quotas.account_id')
                .whereRef('account_quotas.account_id', '=', 'runs.account_id')
                .where('account_quotas.concurrent_runs', 'is not', null),
            ),
            eb.exists(selectRunQuota(eb)),
          ])
          .as('is_limited'),
      ])
      .where((eb) =>
        eb.or([eb('retry_at', 'is', null), eb('retry_at', '<=', now), eb('retry_at', '>', latest)]),
      )
      .where(hasWorkflowCapacity(capacity))
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
}

interface NextOfAccount extends WorkflowCapacity {
  account: AccountId;
  /** Runs of this application alone; null for those of all applications without a quota of runs at once. */
  applicationUid: string | null;
  now: number;
  latest: number;
  limit: number;
}

/** Reads the index of the queued runs of an account, so that a long queue of another account costs nothing. */
const lockNextOfAccount = prepareVariants(
  ({ classes, isOfApplication }: NextVariant) => `${isOfApplication} ${classes.join()}`,
  (db, { classes, isOfApplication }: NextVariant, request: NextOfAccount) => {
    const { account, applicationUid, now, latest, limit, ...capacity } = request;
    const query = db
      .selectFrom('runs')
      .select(['id', 'priority', 'created_at', 'api_access', 'workflow_depth'])
      .where(hasWorkflowCapacity(capacity))
      .where('status', '=', QUEUED)
      .where('account_id', '=', account)
      .where('execution_class', 'in', classes)
      .where((eb) =>
        isOfApplication
          ? eb('application_uid', '=', applicationUid ?? '')
          : eb.not(eb.exists(selectRunQuota(eb))),
      )
      .where((eb) =>
        eb.or([eb('retry_at', 'is', null), eb('retry_at', '<=', now), eb('retry_at', '>', latest)]),
      )
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
  const { workerId, now, limit } = claim;
  const capacity = formatCapacity(claim.workflowCapacity);
  const latest = now + RETRY_DELAY_MAX_MS;
  for (const executionClass of claim.classes)
    candidates.push(
      ...(await lockNextQueued(tx, { workerId, executionClass, now, latest, limit, ...capacity })),
    );
  const isLimited = candidates.some((run) => run.is_limited);
  const waiting: Queued[] = isLimited ? await lockWithinQuotas(tx, claim) : candidates;
  if (waiting.length === 0) return [];
  const next = filterByCapacity(waiting.sort(compareQueueOrder), claim.workflowCapacity).slice(0, limit);
  if (next.length === 0) return [];
  return startRuns(
    tx,
    next.map((run) => run.id),
    claim,
  );
}

/** Returns the runs without those workflows that would be too many. */
function filterByCapacity(runs: readonly Queued[], workflowCapacity: readonly number[]): Queued[] {
  const capacity = [...workflowCapacity];
  return runs.filter(({ api_access, workflow_depth: depth }) => {
    if (api_access === null) return true;
    const left = capacity[depth] ?? 0;
    capacity[depth] = left - 1;
    return left > 0;
  });
}

/** Returns the next runs of each account, at most as many as the quotas of the account and its applications let start. */
async function lockWithinQuotas(tx: Writer, claim: ClaimRequest): Promise<Queued[]> {
  const { classes, now, limit } = claim;
  const capacity = formatCapacity(claim.workflowCapacity);
  const free = await lockFreeRuns(tx);
  const waiting: Queued[] = [];
  for (const account of await listQueuedAccounts(tx)) {
    const atMost = Math.min(limit, free.accounts.get(account) ?? limit);
    if (atMost === 0) continue;
    const lockNext = (applicationUid: string | null, count: number) =>
      lockNextOfAccount(
        tx,
        { classes, isOfApplication: applicationUid !== null },
        {
          ...{ account, applicationUid, now, latest: now + RETRY_DELAY_MAX_MS },
          ...{ limit: Math.min(atMost, count), ...capacity },
        },
      );
    const next: Queued[] = [...(await lockNext(null, atMost))];
    for (const [applicationUid, count] of free.applications.get(account) ?? [])
      if (count > 0) next.push(...(await lockNext(applicationUid, count)));
    waiting.push(...next.sort(compareQueueOrder).slice(0, atMost));
  }
  return waiting;
}
