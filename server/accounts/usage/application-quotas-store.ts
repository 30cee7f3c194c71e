/** Statements on the quotas of applications, beside those of their account. */
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { ApplicationQuotasTable } from './schema.ts';

const selectQuotas = prepareStatement(
  (db, { applicationUid }: { applicationUid: string }) =>
    db.selectFrom('application_quotas').selectAll().where('application_uid', '=', applicationUid),
  { isReusable: true },
);

/** Returns the quotas of the application; undefined when it has none. */
export async function findApplicationQuotas(
  db: Reader,
  applicationUid: string,
): Promise<ApplicationQuotasTable | undefined> {
  const [quotas] = await selectQuotas(db, { applicationUid });
  return quotas;
}

const selectQuotasById = prepareStatement(
  (db, { account, application }: { account: AccountId; application: ApplicationId }) =>
    db
      .selectFrom('application_quotas')
      .select('core_hours')
      .where('account_id', '=', account)
      .where('application_id', '=', application)
      .where('core_hours', 'is not', null),
  { isReusable: true },
);

/** Returns the core hours of a month that the application may use; null without a quota. */
export async function findCoreHourQuota(
  db: Reader,
  account: AccountId,
  application: ApplicationId,
): Promise<number | null> {
  const [quotas] = await selectQuotasById(db, { account, application });
  return quotas?.core_hours ?? null;
}

/** Lists the applications of the account that have a quota with their names, by id. */
export function listApplicationQuotas(
  db: Reader,
  account: AccountId,
): Promise<(ApplicationQuotasTable & { application_name: string })[]> {
  return db
    .selectFrom('application_quotas')
    .innerJoin('applications', 'applications.uid', 'application_quotas.application_uid')
    .selectAll('application_quotas')
    .select('applications.name as application_name')
    .where('application_quotas.account_id', '=', account)
    .where((eb) => eb.or([eb('concurrent_runs', 'is not', null), eb('core_hours', 'is not', null)]))
    .orderBy('application_id')
    .execute();
}

export async function upsertApplicationQuotas(tx: Writer, quotas: ApplicationQuotasTable): Promise<void> {
  const { application_uid: _, ...changes } = quotas;
  await tx
    .insertInto('application_quotas')
    .values(quotas)
    .onConflict((conflict) => conflict.column('application_uid').doUpdateSet(changes))
    .execute();
}

/** Removes the quotas of an application that is deleted. */
export async function removeApplicationQuotas(tx: Writer, applicationUid: string): Promise<void> {
  await tx.deleteFrom('application_quotas').where('application_uid', '=', applicationUid).execute();
}

/** A quota of runs at once of an application. */
export interface ApplicationRunQuota {
  account: AccountId;
  applicationUid: string;
  limit: number;
}

/** Locks the quotas of runs at once of all applications as `lockRunQuotas` locks those of accounts, and returns them. */
export async function lockApplicationRunQuotas(tx: Writer): Promise<ApplicationRunQuota[]> {
  return (await locked(tx, selectRunQuotas(tx), 'update').execute()).flatMap(parseRunQuota);
}

/** Lists the quotas of runs at once of all applications. */
export async function listApplicationRunQuotas(db: Reader): Promise<ApplicationRunQuota[]> {
  return (await selectRunQuotas(db).execute()).flatMap(parseRunQuota);
}

function selectRunQuotas(db: Reader) {
  return db
    .selectFrom('application_quotas')
    .select(['account_id', 'application_uid', 'concurrent_runs'])
    .where('concurrent_runs', 'is not', null)
    .orderBy('application_uid');
}

function parseRunQuota({
  account_id,
  application_uid,
  concurrent_runs,
}: Pick<
  ApplicationQuotasTable,
  'account_id' | 'application_uid' | 'concurrent_runs'
>): ApplicationRunQuota[] {
  return concurrent_runs === null
    ? []
    : [{ account: account_id, applicationUid: application_uid, limit: concurrent_runs }];
}
