/**
 * The quota of runs at once, in the transactions that start runs. It holds across workers: a claim of runs of a limited
 * account locks the quotas before it counts the running runs.
 */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import {
  type ApplicationRunQuota,
  findApplicationQuotas,
  listApplicationRunQuotas,
  lockApplicationRunQuotas,
} from '../../accounts/usage/application-quotas-store.ts';
import {
  findQuotas,
  listRunQuotas,
  lockRunQuotas,
  type RunQuota,
} from '../../accounts/usage/quotas-store.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { RUNNING } from '../store/schema.ts';
import type { Demand } from '../workers/offers.ts';
import type { FreeRuns } from './order/fair-order.ts';

const selectRunningCount = prepareStatement((db, { account }: { account: AccountId }) =>
  db
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('status', '=', RUNNING)
    .where('worker_id', 'is not', null)
    .where('slot_released_at', 'is', null)
    .where('account_id', '=', account),
);

const selectRunningCountOfApplication = prepareStatement((db, { uid }: { uid: string }) =>
  db
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('status', '=', RUNNING)
    .where('worker_id', 'is not', null)
    .where('slot_released_at', 'is', null)
    .where('application_uid', '=', uid),
);

/**
 * Counts the runs of the account, or of one of its applications, that workers execute. An ensemble run has no worker, and
 * a workflow that waits has released its slot; their child runs count.
 */
export async function countRunningRuns(db: Reader, account: AccountId, uid?: string): Promise<number> {
  const [row] =
    uid === undefined
      ? await selectRunningCount(db, { account })
      : await selectRunningCountOfApplication(db, { uid });
  return Number(row?.count ?? 0);
}

/** Locks the quotas, and returns for each limited account and application how many more runs it may start. */
export async function lockFreeRuns(tx: Writer): Promise<FreeRuns> {
  return subtractRunning(tx, await lockRunQuotas(tx), await lockApplicationRunQuotas(tx));
}

/**
 * As `lockFreeRuns`, for the accounts and applications of the runs. Without a lock, the numbers may have changed when the caller
 * gets them.
 */
export async function countFreeRuns(
  db: Reader,
  runs: readonly Pick<Demand, 'account' | 'applicationUid'>[],
): Promise<FreeRuns> {
  const accounts = new Set(runs.map(({ account }) => account));
  const applications = new Set(runs.map(({ applicationUid }) => applicationUid));
  return subtractRunning(
    db,
    (await listRunQuotas(db)).filter(({ account }) => accounts.has(account)),
    (await listApplicationRunQuotas(db)).filter(({ applicationUid }) => applications.has(applicationUid)),
  );
}

async function subtractRunning(
  db: Reader,
  ofAccounts: readonly RunQuota[],
  ofApplications: readonly ApplicationRunQuota[],
): Promise<FreeRuns> {
  const accounts = new Map<AccountId, number>();
  for (const { account, limit } of ofAccounts)
    accounts.set(account, Math.max(0, limit - (await countRunningRuns(db, account))));
  const applications = new Map<string, number>();
  for (const { account, applicationUid, limit } of ofApplications)
    applications.set(
      applicationUid,
      Math.max(0, limit - (await countRunningRuns(db, account, applicationUid))),
    );
  return { accounts, applications };
}

/** A quota of runs at once, and its use. */
export interface QuotaUse {
  owner: 'account' | 'application';
  limit: number;
  running: number;
}

/** Returns the quota of runs at once that limits the run: one that is used up, or else any; null without a quota. */
export async function findRunQuota(
  db: Reader,
  { account, applicationUid }: { account: AccountId; applicationUid: string },
): Promise<QuotaUse | null> {
  const ofAccount = (await findQuotas(db, account))?.concurrent_runs ?? null;
  const ofApplication = (await findApplicationQuotas(db, applicationUid))?.concurrent_runs ?? null;
  const quotas: QuotaUse[] = [];
  if (ofAccount !== null)
    quotas.push({ owner: 'account', limit: ofAccount, running: await countRunningRuns(db, account) });
  if (ofApplication !== null)
    quotas.push({
      owner: 'application',
      limit: ofApplication,
      running: await countRunningRuns(db, account, applicationUid),
    });
  return quotas.find(({ limit, running }) => running >= limit) ?? quotas[0] ?? null;
}
