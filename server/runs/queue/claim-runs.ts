/** Claims queued runs for a worker, and so gives it the lease on them. */
import { computeDurationLimit } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { createPools } from '@switchyard/worker/execute/slots.ts';
import { type SqlBool, sql } from 'kysely';
import { lockLicenses } from '../../accounts/usage/licenses-store.ts';
import type { Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import { QUEUED, RUNNING, type RunsTable } from '../store/schema.ts';
import { startRuns } from '../store/transitions.ts';
import { canEverServe } from '../workers/offers.ts';
import { listActiveWorkers, lockWorker } from '../workers/workers.ts';
import { type ClaimRequest, createWorkflowFilter } from './claim-request.ts';
import { type FreeRuns, NO_QUOTAS } from './order/fair-order.ts';
import { listLanesInTurn } from './order/lanes.ts';
import { type LanePart, readInOrder, selectLanePart } from './order/read-queue.ts';
import { computeRetryTimes, isRetryDue, type RetryTimes } from './order/retry-times.ts';
import { listWaiting, type WaitingRow } from './placement/list-waiting.ts';
import {
  type Host,
  planClaims,
  type RunningNeeds,
  type Situation,
  type WaitingNeeds,
} from './placement/plan-claims.ts';
import { expectDuration, expectTotalDuration } from './prediction/expected-duration.ts';
import { loadPastDurations, type PastDurations } from './prediction/past-durations.ts';
import { lockFreeRuns } from './run-quota.ts';
import { describeDemand, formatLicenseKey, readLicenses } from './run-requirements.ts';

const RUNNING_COLUMNS = [
  'id',
  'account_id',
  'application_uid',
  'instance_id',
  'executable_id',
  'execution_class',
  'max_duration',
  'worker_id',
  'initiated_at',
  'slot_released_at',
  'required_labels',
  'required_licenses',
] as const;

const selectRunning = prepareStatement((db) =>
  db
    .selectFrom('runs')
    .select(RUNNING_COLUMNS)
    .where('status', '=', RUNNING)
    .where('worker_id', 'is not', null),
);

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

/**
 * Claims the runs that the plan starts, and returns them in queue order. Only these claims read more than the queue:
 * those of a worker with resources or a scope, and those that find runs with licences. The locks are taken in the
 * order quotas, licences, worker, as in the check of a run that must not be queued, so that none deadlocks.
 */
async function claimPlanned(tx: Writer, claim: ClaimRequest, times: RetryTimes): Promise<RunsTable[]> {
  const { waiting, quotas } = await readWaiting(tx, claim, times);
  if (!waiting.some((run) => claim.classes.includes(run.execution_class))) return [];
  const licenses = await lockTotals(tx, waiting);
  if (await lockWorker(tx, claim.workerId)) return [];
  const running = await selectRunning(tx, {});
  const started = new Set(running.map(({ id }) => id));
  const cluster = { ...(await readHosts(tx, claim)), licenses, quotas };
  let queued = waiting.filter(({ id }) => !started.has(id));
  while (true) {
    const ids = await plan(tx, claim, { rows: { running, waiting: queued }, cluster });
    const free = ids.length === 0 ? [] : await lockQueued(tx, ids);
    if (free.length === ids.length) return free.length === 0 ? [] : startRuns(tx, free, claim);
    // Another worker starts the others at this moment.
    const lost = new Set(ids).difference(new Set(free));
    queued = queued.filter(({ id }) => !lost.has(id));
  }
}

/** Plans with the limits of the classes as durations. They matter only when a run does not fit; then past runs are read. */
async function plan(
  tx: Writer,
  claim: ClaimRequest,
  { rows, cluster }: { rows: Rows; cluster: Pick<Situation, 'self' | 'hosts' | 'licenses' | 'quotas'> },
): Promise<RunId[]> {
  const { classes, limit, now } = claim;
  const planWith = (past: PastDurations | null) =>
    planClaims({ ...cluster, ...describeRuns(rows, claim, past), classes, limit, now });
  const first = planWith(null);
  if (!first.hasReserved) return first.started;
  return planWith(await loadPastDurations(tx, [...rows.running, ...rows.waiting], now)).started;
}

/** Reads the waiting runs, and locks the quotas where a run has one. */
async function readWaiting(
  tx: Writer,
  claim: ClaimRequest,
  times: RetryTimes,
): Promise<{ waiting: WaitingRow[]; quotas: FreeRuns }> {
  const { labels, scope } = claim.offer;
  const lanes = await listLanesInTurn(tx, { labels, withLicenses: true, account: scope?.account ?? null });
  const quotas = lanes.some((lane) => lane.is_limited) ? await lockFreeRuns(tx) : NO_QUOTAS;
  return { waiting: await listWaiting(tx, claim, { lanes, free: quotas, times }), quotas };
}

/** Locks the licences of the accounts whose runs need some, and returns their totals. */
async function lockTotals(tx: Writer, waiting: readonly WaitingRow[]): Promise<Map<string, number>> {
  const accounts = waiting.filter((run) => run.required_licenses !== null).map((run) => run.account_id);
  if (accounts.length === 0) return new Map();
  const licenses = await lockLicenses(tx, [...new Set<AccountId>(accounts)]);
  return new Map(licenses.map(({ account_id, name, total }) => [formatLicenseKey(account_id, name), total]));
}

type RunningRow = Pick<RunsTable, (typeof RUNNING_COLUMNS)[number]>;

/** Locks those of the runs that are still queued and that no other transaction has locked. */
async function lockQueued(tx: Writer, ids: readonly RunId[]): Promise<RunId[]> {
  const query = tx.selectFrom('runs').select('id').where('id', 'in', ids).where('status', '=', QUEUED);
  const rows = await locked(tx, query, 'update skip locked').execute();
  const found = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => found.has(id));
}

/** Lists the active workers. A worker without a row has the slots for which it claims. */
async function readHosts(
  tx: Writer,
  { workerId, offer, classes, limit, now }: ClaimRequest,
): Promise<{ self: Host; hosts: Host[] }> {
  const workers = await listActiveWorkers(tx, now);
  const row = workers.find(({ id }) => id === workerId);
  const self: Host = {
    id: workerId,
    // That of the row is as old as this transaction, and not as a sync that has waited.
    offer: row?.offer ?? offer,
    pools: row ? createPools(row.capacity) : [{ classes, slots: limit }],
  };
  const others = workers
    .filter((worker) => worker !== row)
    .map((worker) => ({ id: worker.id, offer: worker.offer, pools: createPools(worker.capacity) }));
  return { self, hosts: [self, ...others] };
}

interface Rows {
  running: readonly RunningRow[];
  waiting: readonly WaitingRow[];
}

function describeRuns(
  { running, waiting }: Rows,
  claim: ClaimRequest,
  past: PastDurations | null,
): { running: RunningNeeds[]; waiting: WaitingNeeds[] } {
  const { now } = claim;
  const isClaimable = createWorkflowFilter(claim);
  return {
    running: running.map((run): RunningNeeds => {
      const startedAt = run.initiated_at ?? now;
      const limitMs = computeDurationLimit(run);
      return {
        ...describeNeeds(run),
        workerId: run.worker_id ?? '',
        hasSlot: run.slot_released_at === null,
        endsAt: startedAt + expectTotalDuration(past?.find(run) ?? null, now - startedAt, limitMs),
      };
    }),
    waiting: waiting.map((run) => ({
      ...describeNeeds(run),
      id: run.id,
      createdAt: run.created_at,
      isClaimable: isClaimable(run),
      durationMs: expectDuration(past?.find(run) ?? null, computeDurationLimit(run)),
    })),
  };
}

function describeNeeds(run: RunningRow | WaitingRow) {
  return { ...describeDemand(run), licenses: readLicenses(run) };
}
