/** Statements on the licences of accounts. The tokens in use follow from the running runs. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { AccountLicensesTable } from './schema.ts';

/** Lists the licences of the account by name, or those of all accounts. */
export function listLicenses(db: Reader, account?: AccountId): Promise<AccountLicensesTable[]> {
  let query = db.selectFrom('account_licenses').selectAll().orderBy('account_id').orderBy('name');
  if (account !== undefined) query = query.where('account_id', '=', account);
  return query.execute();
}

/**
 * Locks the licences of the accounts until the transaction ends, and returns them. Of two transactions that start runs with
 * tokens of one account the second waits, so that it counts the runs of the first. All rows in one order, so that none
 * deadlocks.
 */
export function lockLicenses(tx: Writer, accounts: readonly AccountId[]): Promise<AccountLicensesTable[]> {
  const query = tx
    .selectFrom('account_licenses')
    .selectAll()
    .where('account_id', 'in', accounts)
    .orderBy('account_id')
    .orderBy('name');
  return locked(tx, query, 'update').execute();
}

/** Replaces the licences of the account. A row whose name stays is updated, so that it stays locked for claims in progress. */
export async function replaceLicenses(
  tx: Writer,
  account: AccountId,
  licenses: readonly Pick<AccountLicensesTable, 'name' | 'total'>[],
): Promise<void> {
  await lockLicenses(tx, [account]);
  let removed = tx.deleteFrom('account_licenses').where('account_id', '=', account);
  const names = licenses.map(({ name }) => name);
  if (names.length > 0) removed = removed.where('name', 'not in', names);
  await removed.execute();
  for (const { name, total } of licenses)
    await tx
      .insertInto('account_licenses')
      .values({ account_id: account, name, total })
      .onConflict((conflict) => conflict.columns(['account_id', 'name']).doUpdateSet({ total }))
      .execute();
}
