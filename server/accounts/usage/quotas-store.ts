/** Statements on quotas. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { AccountQuotasTable } from './schema.ts';

const selectQuotas = prepareStatement(
  (db, { account }: { account: AccountId }) =>
    db.selectFrom('account_quotas').selectAll().where('account_id', '=', account),
  { isReusable: true },
);

/** Returns the quotas of the account; undefined when it has none. */
export async function findQuotas(db: Reader, account: AccountId): Promise<AccountQuotasTable | undefined> {
  const [quotas] = await selectQuotas(db, { account });
  return quotas;
}

export async function upsertQuotas(tx: Writer, quotas: AccountQuotasTable): Promise<void> {
  const { account_id: _, ...limits } = quotas;
  await tx
    .insertInto('account_quotas')
    .values(quotas)
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(limits))
    .execute();
}

/** Returns the limits in the form of the API; null for each quota that is missing. */
export function formatLimits(quotas: Pick<AccountQuotasTable, 'concurrent_runs' | 'core_hours'> | undefined) {
  return {
    concurrent_runs: quotas?.concurrent_runs ?? null,
    core_hours_per_month: quotas?.core_hours ?? null,
  };
}

/** A quota of runs at once. */
export interface RunQuota {
  account: AccountId;
  limit: number;
}

/** Lists the quotas of runs at once of all accounts. */
export async function listRunQuotas(db: Reader): Promise<RunQuota[]> {
  return (await selectRunQuotas(db).execute()).flatMap(parseRunQuota);
}

/**
 * Locks every quota of runs at once until the transaction ends, and returns them. Of two transactions that start runs of one
 * account the second waits, so that it counts the runs of the first. All rows in one order, so that none deadlocks.
 */
export async function lockRunQuotas(tx: Writer): Promise<RunQuota[]> {
  return (await locked(tx, selectRunQuotas(tx), 'update').execute()).flatMap(parseRunQuota);
}

function selectRunQuotas(db: Reader) {
  return db
    .selectFrom('account_quotas')
    .select(['account_id', 'concurrent_runs'])
    .where('concurrent_runs', 'is not', null)
    .orderBy('account_id');
}

function parseRunQuota({
  account_id,
  concurrent_runs,
}: Pick<AccountQuotasTable, 'account_id' | 'concurrent_runs'>): RunQuota[] {
  return concurrent_runs === null ? [] : [{ account: account_id, limit: concurrent_runs }];
}
