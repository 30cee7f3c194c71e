/** Statements on totals of usage and on cost rates. */
import type { CostRate, UsageGroup } from '@switchyard/contract/account/usage.ts';
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { type Selectable, sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { splitIntoBatches } from '../../platform/database/id-batches.ts';
import { formatSettingTime } from '../../platform/http/requests/conditional-writes.ts';
import type { UsageDaysTable, UsageRecordsTable } from './schema.ts';

/** Removes the oldest records and returns them. Two processes never get the same record. */
export async function removeOldestRecords(
  tx: Writer,
  limit: number,
): Promise<Selectable<UsageRecordsTable>[]> {
  return tx
    .deleteFrom('usage_records')
    .where('seq', 'in', (eb) => eb.selectFrom('usage_records').select('seq').orderBy('seq').limit(limit))
    .returningAll()
    .execute();
}

/** Adds to the total of a day, application and user. */
export async function addToTotal(tx: Writer, total: UsageDaysTable): Promise<void> {
  await tx
    .insertInto('usage_days')
    .values(total)
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'day', 'application_id', 'user_email']).doUpdateSet({
        runs: sql`usage_days.runs + excluded.runs`,
        failed_runs: sql`usage_days.failed_runs + excluded.failed_runs`,
        run_ms: sql`usage_days.run_ms + excluded.run_ms`,
        core_ms: sql`usage_days.core_ms + excluded.core_ms`,
        bytes: sql`usage_days.bytes + excluded.bytes`,
      }),
    )
    .execute();
}

/** Returns a function that names the applications of the account. A deleted one is named by its id. */
export async function findApplicationNames(
  db: Reader,
  account: AccountId,
  applications: readonly ApplicationId[],
): Promise<(id: ApplicationId) => string> {
  const names = new Map<ApplicationId, string>();
  for (const ids of splitIntoBatches([...new Set(applications)])) {
    const query = db.selectFrom('applications').select(['id', 'name']).where('deleted_at', 'is', null);
    for (const { id, name } of await query.where('account_id', '=', account).where('id', 'in', ids).execute())
      names.set(id, name);
  }
  return (id) => names.get(id) ?? id;
}

/** Columns of totals by the name of their group. */
const GROUP_COLUMNS = {
  day: 'day',
  application: 'application_id',
  user: 'user_email',
} as const satisfies Record<UsageGroup, keyof UsageDaysTable>;

/** The totals to list: a range of days, both included. */
export interface UsageFilter {
  account: AccountId;
  firstDay: number;
  lastDay: number;
  application: ApplicationId | null;
}

/** A sum of totals. The columns of a group are present when the list is grouped by it. */
export type UsageSum = Pick<UsageDaysTable, 'runs' | 'failed_runs' | 'run_ms' | 'core_ms' | 'bytes'> &
  Partial<Pick<UsageDaysTable, 'day' | 'application_id' | 'user_email'>>;

/** Lists sums of totals by group, in the order of the groups, at most `limit`. Without a group there is one sum. */
export async function listUsageSums(
  db: Reader,
  filter: UsageFilter,
  groups: readonly UsageGroup[],
  limit: number,
): Promise<UsageSum[]> {
  const columns = groups.map((group) => GROUP_COLUMNS[group]);
  let query = db
    .selectFrom('usage_days')
    .select(columns)
    .select((eb) => [
      eb.fn.sum<number>('runs').as('runs'),
      eb.fn.sum<number>('failed_runs').as('failed_runs'),
      eb.fn.sum<number>('run_ms').as('run_ms'),
      eb.fn.sum<number>('core_ms').as('core_ms'),
      eb.fn.sum<number>('bytes').as('bytes'),
    ])
    .where('account_id', '=', filter.account)
    .where('day', '>=', filter.firstDay)
    .where('day', '<=', filter.lastDay)
    .limit(limit);
  if (filter.application !== null) query = query.where('application_id', '=', filter.application);
  for (const column of columns) query = query.groupBy(column).orderBy(column);
  const rows = await query.execute();
  // PostgreSQL returns sums of whole numbers as text, and a sum of nothing is null.
  return rows.map(({ runs, failed_runs, run_ms, core_ms, bytes, ...group }) => ({
    ...group,
    runs: Number(runs),
    failed_runs: Number(failed_runs),
    run_ms: Number(run_ms),
    core_ms: Number(core_ms),
    bytes: Number(bytes),
  }));
}

/** Returns the cost rate of the account; null when it has none. */
export async function findCostRate(db: Reader, account: AccountId): Promise<CostRate | null> {
  const rate = await db
    .selectFrom('cost_rates')
    .innerJoin('accounts', 'accounts.id', 'cost_rates.account_id')
    .select(['currency', 'per_core_hour', 'cost_rate_updated_at'])
    .where('account_id', '=', account)
    .executeTakeFirst();
  if (!rate) return null;
  const { cost_rate_updated_at: at, ...prices } = rate;
  return { ...prices, updated_at: formatSettingTime(at) };
}

export async function upsertCostRate(
  tx: Writer,
  account: AccountId,
  { currency, per_core_hour }: Omit<CostRate, 'updated_at'>,
): Promise<void> {
  const rate = { currency, per_core_hour };
  await tx
    .insertInto('cost_rates')
    .values({ account_id: account, ...rate })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(rate))
    .execute();
}

export async function removeCostRate(tx: Writer, account: AccountId): Promise<void> {
  await tx.deleteFrom('cost_rates').where('account_id', '=', account).execute();
}

/** Removes totals and cost rate of an account that is removed. */
export async function removeUsageOfAccount(tx: Writer, account: AccountId): Promise<void> {
  await tx.deleteFrom('usage_records').where('account_id', '=', account).execute();
  await tx.deleteFrom('usage_days').where('account_id', '=', account).execute();
  await tx.deleteFrom('slot_minutes').where('account_id', '=', account).execute();
  await removeCostRate(tx, account);
}
