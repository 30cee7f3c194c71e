/** What waits in the queue, and what the registered workers have left for it. */
import { CLASS_LIMITS } from '@switchyard/contract/execution-classes.ts';
import { LEASE_DURATION_MS } from '@switchyard/contract/limits.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { createPools } from '@switchyard/worker/execute/slots.ts';
import type { Reader } from '../database/database.ts';
import { RETRY_DELAY_MAX_MS } from '../runs/queue/claim-runs.ts';
import { listSlotHolders, type SlotHolder } from '../runs/queue/queue-order.ts';
import { countRunningRuns } from '../runs/queue/run-quota.ts';
import { QUEUED } from '../runs/store/status-literals.ts';
import { findApplicationQuotas } from '../usage/application-quotas-store.ts';
import { findQuotas } from '../usage/quotas-store.ts';
import type { WorkerDetails } from '../workers/workers.ts';
import type { Demand, FreeOffer, PlannedWorker } from './plan-workers.ts';

/**
 * Counts the queued runs that a free slot would start: without those that back off after a fault of their host, and of an
 * account or application with a quota of runs at once only as many as it lets start.
 */
export async function countDemand(db: Reader, now: number): Promise<Demand[]> {
  const rows = await db
    .selectFrom('runs')
    .select((eb) => ['account_id', 'application_uid', 'execution_class', eb.fn.countAll().as('count')])
    .where('status', '=', QUEUED)
    .where((eb) =>
      eb.or([
        eb('retry_at', 'is', null),
        eb('retry_at', '<=', now),
        // Written by a worker whose clock was ahead.
        eb('retry_at', '>', now + RETRY_DELAY_MAX_MS),
      ]),
    )
    .groupBy(['account_id', 'application_uid', 'execution_class'])
    .orderBy('account_id')
    .execute();
  const demand = rows.map(
    (row): Demand => ({
      account: row.account_id,
      applicationUid: row.application_uid,
      executionClass: row.execution_class,
      labels: [],
      count: Number(row.count),
    }),
  );
  await limitByQuotas(db, demand);
  return demand.filter(({ count }) => count > 0);
}

/** Lowers the counts to what the quotas of accounts and applications let start now. */
async function limitByQuotas(db: Reader, demand: Demand[]): Promise<void> {
  for (const uid of new Set(demand.map(({ applicationUid }) => applicationUid))) {
    const limit = (await findApplicationQuotas(db, uid))?.concurrent_runs ?? null;
    const ofApplication = demand.filter(({ applicationUid }) => applicationUid === uid);
    const [account] = ofApplication.map((one) => one.account);
    if (limit !== null && account !== undefined)
      limitCounts(ofApplication, limit - (await countRunningRuns(db, account, uid)));
  }
  for (const account of new Set<AccountId>(demand.map((one) => one.account))) {
    const limit = (await findQuotas(db, account))?.concurrent_runs ?? null;
    const ofAccount = demand.filter((one) => one.account === account);
    if (limit !== null) limitCounts(ofAccount, limit - (await countRunningRuns(db, account)));
  }
}

function limitCounts(demand: readonly Demand[], limit: number): void {
  let left = Math.max(0, limit);
  for (const one of demand) {
    one.count = Math.min(one.count, left);
    left -= one.count;
  }
}

/** Returns true while the worker has a heartbeat within the duration of a lease. */
export const isAlive = (worker: Pick<WorkerDetails, 'heartbeatAt'>, now: number): boolean =>
  worker.heartbeatAt > now - LEASE_DURATION_MS;

/** Returns what each worker that claims runs has left beside the runs that it executes. */
export async function listFreeOffers(
  db: Reader,
  workers: readonly WorkerDetails[],
  now: number,
): Promise<PlannedWorker[]> {
  const holders = await listSlotHolders(db);
  return workers
    .filter((worker) => worker.drainingAt === null && isAlive(worker, now))
    .map((worker) => {
      const own = holders.filter(({ worker_id }) => worker_id === worker.id);
      return { jobName: worker.jobId, isIdle: own.length === 0, free: subtractRuns(worker, own) };
    });
}

function subtractRuns({ capacity, offer }: WorkerDetails, runs: readonly SlotHolder[]): FreeOffer {
  const { labels, resources, scope } = offer;
  const limits = runs.map(({ execution_class }) => CLASS_LIMITS[execution_class]);
  return {
    ...{ labels, scope },
    pools: createPools(capacity).map(({ classes, slots }) => ({
      classes,
      slots: slots - runs.filter(({ execution_class }) => classes.includes(execution_class)).length,
    })),
    resources: resources && {
      cores: limits.reduce((left, { cores }) => left - cores, resources.cores),
      memoryBytes: limits.reduce((left, { memory_bytes }) => left - memory_bytes, resources.memoryBytes),
    },
  };
}
