/** Operations on the licences of an account. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { lockCallerAccount } from '../../accounts/account/access-changes.ts';
import { findAccount, updateAccount } from '../../accounts/account/store.ts';
import { listLicenses, replaceLicenses } from '../../accounts/usage/licenses-store.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import {
  computeUpdateTime,
  formatSettingTime,
  requireSettingUnchanged,
} from '../../platform/http/requests/conditional-writes.ts';
import { formatLicense, listTokenHolders } from '../queue/license-use.ts';

export const getLicenses: OperationHandler<'getLicenses'> = async ({ database }, { caller }) => ({
  status: 200,
  body: await readLicenses(database.read, caller.account),
});

export const setLicenses: OperationHandler<'setLicenses'> = async (
  { database, clock },
  { caller, body, commit },
) => {
  const { licenses } = body;
  const repeated = licenses.find(({ name }, index) => licenses.findIndex((one) => one.name === name) < index);
  if (repeated)
    throw badRequest(
      `licenses has ${quoteValue(repeated.name)} twice; a licence has one total. Name it once.`,
    );
  const committed = await commit(async (tx) => {
    const { licenses_updated_at: updatedAt } = (await lockCallerAccount(tx, caller)).account;
    requireSettingUnchanged({ noun: 'list of licences', updatedAt }, body);
    await updateAccount(tx, caller.account, {
      licenses_updated_at: computeUpdateTime(clock.now(), { updated_at: updatedAt }),
    });
    await replaceLicenses(tx, caller.account, licenses);
    return { status: 200, body: await readLicenses(tx, caller.account) };
  });
  database.notify('runs-queued');
  return committed;
};

async function readLicenses(db: Reader, account: AccountId) {
  const rows = await listLicenses(db, account);
  const holders = rows.length === 0 ? [] : await listTokenHolders(db);
  const updated_at = formatSettingTime((await findAccount(db, account))?.licenses_updated_at);
  return { licenses: rows.map((row) => formatLicense(row, holders)), updated_at };
}
