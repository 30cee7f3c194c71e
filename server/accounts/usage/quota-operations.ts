/** Operations on quotas. */
import type { Quotas } from '@switchyard/contract/account/quotas.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../platform/database/database.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import {
  computeUpdateTime,
  formatSettingTime,
  requireSettingUnchanged,
} from '../../platform/http/requests/conditional-writes.ts';
import { lockCallerAccount } from '../account/access-changes.ts';
import { findAccount, updateAccount } from '../account/store.ts';
import { listApplicationQuotas } from './application-quotas-store.ts';
import { applyQuotas, readQuotaUse } from './quota-use.ts';
import { findQuotas, upsertQuotas } from './quotas-store.ts';

export const getQuotas: OperationHandler<'getQuotas'> = async (context, { caller }) => ({
  status: 200,
  body: await readQuotas(context, context.database.read, caller.account),
});

export const setQuotas: OperationHandler<'setQuotas'> = async (context, { caller, body, commit }) => {
  const committed = await commit(async (tx) => {
    const { quotas_updated_at: updatedAt } = (await lockCallerAccount(tx, caller)).account;
    requireSettingUnchanged({ noun: 'quota of the account', updatedAt }, body);
    await updateAccount(tx, caller.account, {
      quotas_updated_at: computeUpdateTime(context.clock.now(), { updated_at: updatedAt }),
    });
    await upsertQuotas(tx, {
      account_id: caller.account,
      concurrent_runs: body.concurrent_runs,
      core_hours: body.core_hours_per_month,
    });
    return { status: 200, body: await readQuotas(context, tx, caller.account) };
  });
  applyQuotas(context);
  return committed;
};

async function readQuotas(context: Context, db: Reader, account: AccountId): Promise<Quotas> {
  const limits = await findQuotas(db, account);
  const owner = await findAccount(db, account);
  const { use, resets_at } = await readQuotaUse(context, db, { account, application: null, limits });
  const applications = [];
  for (const row of await listApplicationQuotas(db, account)) {
    const { application_id, application_name, application_uid: uid } = row;
    const application = { id: application_id, uid };
    const { use: ofApplication } = await readQuotaUse(context, db, { account, application, limits: row });
    const updated_at = formatSettingTime(row.updated_at);
    applications.push({ application_id, application_name, ...ofApplication, updated_at });
  }
  const updated_at = formatSettingTime(owner?.quotas_updated_at);
  return { ...use, updated_at, resets_at, applications };
}
