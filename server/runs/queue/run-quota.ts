/**
 * The quota of runs at once, in the transactions that start runs. It holds across workers: a claim of runs of a limited
 * account locks the quotas before it counts the running runs.
 */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../../database/database.ts';
import { prepareStatement } from '../../database/prepared-statements.ts';
import {
  type ApplicationRunQuota,
  findApplicationQuotas,
  listApplicationRunQuotas,
  lockApplicationRunQuotas,
} from '../../usage/application-quotas-store.ts';
import { findQuotas, listRunQuotas, lockRunQuotas, type RunQuota } from '../../usage/quotas-store.ts';
import type { Demand } from '../../workers/offers.ts';
import { QUEUED, RUNNING } from '../store/status-literals.ts';

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

/** How many more runs may start. Accounts and applications without a quota are absent. */
interface FreeRuns {
  accounts: ReadonlyMap<AccountId, number>;
  /** By the account, then by the uid of the application. */
  applications: ReadonlyMap<AccountId, ReadonlyMap<string, number>>;
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
  const applications = new Map<AccountId, Map<string, number>>();
  for (const { account, applicationUid, limit } of ofApplications) {
    const free = applications.get(account) ?? new Map<string, number>();
    free.set(applicationUid, Math.max(0, limit - (await countRunningRuns(db, account, applicationUid))));
    applications.set(account, free);
  }
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

/**
 * Lists the accounts that have queued runs. The recursion reads one row of the index for each account, because grouping would
 * read the whole queue.
 */
export async function listQueuedAccounts(db: Reader): Promise<AccountId[]> {
  const { rows } = await sql<{ account_id: AccountId }>`
    with recursive accounts (account_id) as (
      select min(account_id) from runs where status = ${QUEUED}
      union all
      select (select min(runs.account_id) from runs
        where runs.status = ${QUEUED} and runs.account_id > accounts.account_id)
      from accounts where accounts.account_id is not null
    )
    select account_id from accounts where account_id is not null`.execute(db);
  return rows.map(({ account_id }) => account_id);
}
