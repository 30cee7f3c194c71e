/** Statements on applications. The statements on executables are in executables-store.ts. */
import { capitalise } from '@switchyard/contract/presentation/format-count.ts';
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { type SqlBool, sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import { badRequest, notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Owner } from '../../platform/http/handlers/handler.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { ApplicationsTable } from './schema.ts';

/** Inserts the application; returns false when the account has one with that id. */
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

/** Returns the application that the path of a request names; throws a 404 when the account has none with the id. */
export async function getApplication(
  db: Reader,
  account: AccountId,
  id: ApplicationId,
): Promise<ApplicationsTable> {
  const [row] = await selectApplication(db, { account, id });
  if (!row) throw notFound(`There is no application ${quoteValue(id)}.`);
  return row;
}

/** Returns those of at most PAGE_ITEMS_MAX applications that the account has, in no order. */
export function findApplications(
  db: Reader,
  account: AccountId,
  ids: readonly ApplicationId[],
): Promise<ApplicationsTable[]> {
  return db
    .selectFrom('applications')
    .selectAll()
    .where('account_id', '=', account)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Returns the application that `field` of a body names; throws a 400 when the account has none with the id. */
export async function getReferencedApplication(
  db: Reader,
  account: AccountId,
  { field, id }: { field: string; id: ApplicationId },
): Promise<ApplicationsTable> {
  const [row] = await selectApplication(db, { account, id });
  if (!row)
    throw badRequest(`${field} is ${quoteValue(id)}; it must be the id of an application of your account.`);
  return row;
}

/** Returns the owner of the application, also of one that is marked as deleted; undefined when its row is gone. */
export async function findOwner(db: Reader, uid: string): Promise<Owner | undefined> {
  const query = db.selectFrom('applications').select(['account_id', 'id']).where('uid', '=', uid);
  const row = await query.executeTakeFirst();
  return row && { account: row.account_id, resource: { application_id: row.id } };
}

/** Locks the application until the transaction ends and returns its current row; throws a 404 when it is deleted. */
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

/** Lists applications, newest first; one row more than the limit shows that more follow. */
export function listApplications(
  db: Reader,
  account: AccountId,
  page: PageRequest & { text?: string | undefined },
): Promise<ApplicationsTable[]> {
  let query = db
    .selectFrom('applications')
    .selectAll()
    .where('account_id', '=', account)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.text !== undefined) {
    // SQLite changes the case of only Latin letters: a word of another script is found as typed, in small letters and with
    // a capital one.
    const small = page.text.toLowerCase();
    const patterns = [...new Set([small, capitalise(small), page.text])].map(
      (text) => `%${text.replaceAll(/[%_!]/g, '!$&')}%`,
    );
    query = query.where(
      sql<SqlBool>`(${sql.join(
        patterns.flatMap((pattern) =>
          [sql`id`, sql`lower(name)`, sql`name`].map((field) => sql`${field} like ${pattern} escape '!'`),
        ),
        sql` or `,
      )})`,
    );
  }
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

/** Marks every application of the account as deleted. */
export async function deleteAccountApplications(tx: Writer, account: AccountId, at: number): Promise<void> {
  await tx
    .updateTable('applications')
    .set({ deleted_at: at })
    .where('account_id', '=', account)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Returns true when the account has an application row, including those marked as deleted. */
export async function hasApplications(db: Reader, account: AccountId): Promise<boolean> {
  const row = await db.selectFrom('applications').select('uid').where('account_id', '=', account).limit(1);
  return (await row.executeTakeFirst()) !== undefined;
}

/** Lists the uids of at most 100 applications that are marked as deleted and may still have data. */
export async function listDeletedApplicationUids(db: Reader): Promise<string[]> {
  const rows = await db
    .selectFrom('applications')
    .select('uid')
    .where('deleted_at', 'is not', null)
    .limit(100)
    .execute();
  return rows.map((row) => row.uid);
}

/** Removes the row of a deleted application, after everything that refers to it. */
export async function removeApplication(tx: Writer, uid: string): Promise<void> {
  await tx.deleteFrom('applications').where('uid', '=', uid).execute();
}

const lockShared = prepareStatement((db, { uid }: { uid: string }) =>
  locked(
    db,
    db.selectFrom('applications').select('uid').where('uid', '=', uid).where('deleted_at', 'is', null),
    'share',
  ),
);

/** Returns the application unless it is deleted. */
export function findLiveApplication(db: Reader, uid: string): Promise<ApplicationsTable | undefined> {
  return db
    .selectFrom('applications')
    .selectAll()
    .where('uid', '=', uid)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/**
 * Locks the application against deletion until the transaction ends, so that no row is inserted that the clean-up of the
 * application would miss. Throws a 404 when it is deleted.
 */
export async function lockLiveApplication(
  tx: Writer,
  application: Pick<ApplicationsTable, 'uid' | 'id'>,
): Promise<void> {
  const found = await lockShared(tx, { uid: application.uid });
  if (found.length === 0) throw notFound(`There is no application ${quoteValue(application.id)}.`);
}
