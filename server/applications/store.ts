/** Every statement on applications. Those on executables are in executables-store.ts. */
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../database/database.ts';
import { isAfter } from '../database/list-order.ts';
import { prepareStatement } from '../database/prepared-statements.ts';
import { locked } from '../database/row-locks.ts';
import { notFound, quoteValue } from '../http/errors/problem.ts';
import type { Owner } from '../http/handlers/handler.ts';
import type { PageRequest } from '../http/lists/pagination.ts';
import type { ApplicationsTable } from './schema.ts';

/** false when the account has one of that id. */
export async function insertApplication(tx: Writer, application: ApplicationsTable): Promise<boolean> {
  const result = await tx
    .insertInto('applications')
    .values(application)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

const selectApplication = prepareStatement(
  (db, { account, id }: { account: AccountId; id: ApplicationId }) =>
    db
      .selectFrom('applications')
      .selectAll()
      .where('account_id', '=', account)
      .where('id', '=', id)
      .where('deleted_at', 'is', null),
  { isReusable: true },
);

/** The application of the account, or the 404 that says there is none. */
export async function getApplication(
  db: Reader,
  account: AccountId,
  id: ApplicationId,
): Promise<ApplicationsTable> {
  const [row] = await selectApplication(db, { account, id });
  if (!row) throw notFound(`There is no application ${quoteValue(id)}.`);
  return row;
}

/** Whose the application is, also of one that is being removed; undefined for one that is gone. */
export async function findOwner(db: Reader, uid: string): Promise<Owner | undefined> {
  const query = db.selectFrom('applications').select(['account_id', 'id']).where('uid', '=', uid);
  const row = await query.executeTakeFirst();
  return row && { account: row.account_id, resource: { application_id: row.id } };
}

/**
 * The application as it is now, which nobody else deletes or changes until the transaction is over; the 404 when it was
 * deleted meanwhile.
 */
export async function lockApplication(
  tx: Writer,
  application: ApplicationsTable,
): Promise<ApplicationsTable> {
  const query = tx
    .selectFrom('applications')
    .selectAll()
    .where('uid', '=', application.uid)
    .where('deleted_at', 'is', null);
  const row = await locked(tx, query, 'update').executeTakeFirst();
  if (!row) throw notFound(`There is no application ${quoteValue(application.id)}.`);
  return row;
}

export function listApplications(
  db: Reader,
  account: AccountId,
  page: PageRequest,
): Promise<ApplicationsTable[]> {
  let query = db
    .selectFrom('applications')
    .selectAll()
    .where('account_id', '=', account)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('applications', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

export async function updateApplication(
  tx: Writer,
  uid: string,
  changes: Partial<ApplicationsTable>,
): Promise<void> {
  await tx.updateTable('applications').set(changes).where('uid', '=', uid).execute();
}

/** Deletes every application of the account. */
export async function deleteAccountApplications(tx: Writer, account: AccountId, at: number): Promise<void> {
  await tx
    .updateTable('applications')
    .set({ deleted_at: at })
    .where('account_id', '=', account)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Whether the account has an application, be it one that is being removed. */
export async function hasApplications(db: Reader, account: AccountId): Promise<boolean> {
  const row = await db.selectFrom('applications').select('uid').where('account_id', '=', account).limit(1);
  return (await row.executeTakeFirst()) !== undefined;
}

/** Applications that were deleted and of which something may be left. */
export async function listDeletedApplicationUids(db: Reader): Promise<string[]> {
  const rows = await db
    .selectFrom('applications')
    .select('uid')
    .where('deleted_at', 'is not', null)
    .limit(100)
    .execute();
  return rows.map((row) => row.uid);
}

export async function removeApplication(tx: Writer, uid: string): Promise<void> {
  await tx.deleteFrom('applications').where('uid', '=', uid).execute();
}

const shareLive = prepareStatement((db, { uid }: { uid: string }) =>
  locked(
    db,
    db.selectFrom('applications').select('uid').where('uid', '=', uid).where('deleted_at', 'is', null),
    'share',
  ),
);

/** The application of the uid, unless it is deleted. */
export function findLiveApplication(db: Reader, uid: string): Promise<ApplicationsTable | undefined> {
  return db
    .selectFrom('applications')
    .selectAll()
    .where('uid', '=', uid)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/**
 * Lets the transaction go on only while the application is there: nobody deletes it until the transaction is over, so that
 * nothing is made that its removal would not find.
 */
export async function lockLiveApplication(
  tx: Writer,
  application: Pick<ApplicationsTable, 'uid' | 'id'>,
): Promise<void> {
  const found = await shareLive(tx, { uid: application.uid });
  if (found.length === 0) throw notFound(`There is no application ${quoteValue(application.id)}.`);
}
