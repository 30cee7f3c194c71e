/** Operations on the quotas of an application. */

import {
  findApplicationQuotas,
  upsertApplicationQuotas,
} from '../../accounts/usage/application-quotas-store.ts';
import { applyQuotas, readQuotaUse } from '../../accounts/usage/quota-use.ts';
import type { Reader } from '../../platform/database/database.ts';
import { quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import {
  computeUpdateTime,
  formatSettingTime,
  requireSettingUnchanged,
} from '../../platform/http/requests/conditional-writes.ts';
import type { ApplicationsTable } from './schema.ts';
import { getApplication, lockApplication } from './store.ts';

export const getApplicationQuotas: OperationHandler<'getApplicationQuotas'> = async (
  context,
  { caller, params },
) => {
  const { database } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  return { status: 200, body: await readQuotas(context, database.read, application) };
};

export const setApplicationQuotas: OperationHandler<'setApplicationQuotas'> = async (
  context,
  { caller, params, body, commit },
) => {
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  const committed = await commit(async (tx) => {
    await lockApplication(tx, application);
    const updatedAt = (await findApplicationQuotas(tx, application.uid))?.updated_at ?? null;
    requireSettingUnchanged(
      { noun: `quota of the application ${quoteValue(application.id)}`, updatedAt },
      body,
    );
    await upsertApplicationQuotas(tx, {
      application_uid: application.uid,
      account_id: caller.account,
      application_id: application.id,
      concurrent_runs: body.concurrent_runs,
      core_hours: body.core_hours_per_month,
      updated_at: computeUpdateTime(context.clock.now(), { updated_at: updatedAt }),
    });
    return { status: 200, body: await readQuotas(context, tx, application) };
  });
  applyQuotas(context);
  return committed;
};

async function readQuotas(context: Context, db: Reader, { uid, id, account_id }: ApplicationsTable) {
  const limits = await findApplicationQuotas(db, uid);
  const owner = { account: account_id, application: { id, uid }, limits };
  const { use, resets_at } = await readQuotaUse(context, db, owner);
  return { application_id: id, ...use, updated_at: formatSettingTime(limits?.updated_at), resets_at };
}
