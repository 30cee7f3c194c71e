/** The demand of the queue, and the offers of the registered workers. */
import { LEASE_DURATION_MS } from '@switchyard/contract/limits.ts';
import { listLicenses } from '../../accounts/usage/licenses-store.ts';
import type { Reader } from '../../platform/database/database.ts';
import { countUsedTokens, listTokenHolders } from '../queue/license-use.ts';
import { computeRetryTimes, isRetryDue } from '../queue/order/retry-times.ts';
import { listSlotHolders, type SlotHolder } from '../queue/queue-order.ts';
import { countFreeRuns } from '../queue/run-quota.ts';
import { describeDemand, formatLicenseKey, readLicenses } from '../queue/run-requirements.ts';
import { QUEUED } from '../store/schema.ts';
import { listPoolUse } from '../workers/slots.ts';
import type { WorkerDetails } from '../workers/workers.ts';
import type { Demand, FreeOffer, PlannedWorker } from './plan-workers.ts';

/** Queued runs before quotas and licences are considered. */
type LicensedDemand = Demand & { licenses: Readonly<Record<string, number>> };

/**
 * Counts the queued runs that a free slot would start. Runs that back off after a fault of their host do not count. Of the
 * others, only as many count as the quotas of runs at once and the free licence tokens let start.
 */
export async function countDemand(db: Reader, now: number): Promise<Demand[]> {
  const rows = await db
    .selectFrom('runs')
    .select(GROUP_COLUMNS)
    .select((eb) => [eb.fn.min('id').as('id'), eb.fn.countAll().as('count')])
    .where('status', '=', QUEUED)
    .where(isRetryDue(computeRetryTimes(now)))
    .groupBy(GROUP_COLUMNS)
    .orderBy('account_id')
    .execute();
  const demand = rows.map(
    (row): LicensedDemand => ({
      ...describeDemand(row),
      licenses: readLicenses(row),
      count: Number(row.count),
    }),
  );
  await limitByQuotas(db, demand);
  await limitByLicenses(db, demand);
  return demand.filter(({ count }) => count > 0);
}

const GROUP_COLUMNS = [
  'account_id',
  'application_uid',
  'execution_class',
  'required_labels',
  'required_licenses',
] as const;

/** Lowers the counts to what the free licence tokens let start now. */
async function limitByLicenses(db: Reader, demand: readonly LicensedDemand[]): Promise<void> {
  if (demand.every(({ licenses }) => Object.keys(licenses).length === 0)) return;
  const holders = await listTokenHolders(db);
  const free = new Map(
    (await listLicenses(db)).map((license) => [
      formatLicenseKey(license.account_id, license.name),
      license.total - countUsedTokens(holders, license),
    ]),
  );
  for (const one of demand) {
    for (const [name, tokens] of Object.entries(one.licenses)) {
      const left = free.get(formatLicenseKey(one.account, name)) ?? 0;
      one.count = Math.max(0, Math.min(one.count, Math.floor(left / tokens)));
    }
    for (const [name, tokens] of Object.entries(one.licenses)) {
      const key = formatLicenseKey(one.account, name);
      free.set(key, (free.get(key) ?? 0) - one.count * tokens);
    }
  }
}

/** Lowers the counts to what the quotas of accounts and applications let start now. */
async function limitByQuotas(db: Reader, demand: readonly Demand[]): Promise<void> {
  if (demand.length === 0) return;
  const { accounts, applications } = await countFreeRuns(db, demand);
  for (const [uid, free] of applications)
    limitCounts(
      demand.filter(({ applicationUid }) => applicationUid === uid),
      free,
    );
  for (const [id, free] of accounts)
    limitCounts(
      demand.filter(({ account }) => account === id),
      free,
    );
}

/** Lowers the counts, from the first on, so that together they are at most `free`. */
function limitCounts(demand: readonly Demand[], free: number): void {
  let left = free;
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
  return {
    ...offer,
    pools: listPoolUse(capacity, runs).map(({ classes, slots, busy }) => ({ classes, slots: slots - busy })),
    running: runs.map(({ execution_class }) => execution_class),
  };
}
