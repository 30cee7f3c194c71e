/** Every statement on applications and executables. */
import type { AccountId, ApplicationId, ExecutableId } from '@switchyard/contract/ids.ts';
import type { Reader, Writer } from '../database/database.ts';
import { isAfter } from '../database/list.ts';
import { prepared } from '../database/prepared.ts';
import type { PageRequest } from '../http/paging.ts';
import { notFound, shown } from '../http/problem.ts';
import type { ApplicationsTable, ExecutablesTable } from './schema.ts';

/** false when the account has one of that id. */
export async function insertApplication(tx: Writer, application: ApplicationsTable): Promise<boolean> {
  const result = await tx
    .insertInto('applications')
    .values(application)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

const selectApplication = prepared((db, { account, id }: { account: AccountId; id: ApplicationId }) =>
  db
    .selectFrom('applications')
    .selectAll()
    .where('account_id', '=', account)
    .where('id', '=', id)
    .where('deleted_at', 'is', null),
);

/** The application of the account, or the 404 that says there is none. */
export async function getApplication(
  db: Reader,
  account: AccountId,
  id: ApplicationId,
): Promise<ApplicationsTable> {
  const [row] = await selectApplication(db, { account, id });
  if (!row) throw notFound(`There is no application ${shown(id)}.`);
  return row;
}

/**
 * The application as it is now, which nobody else deletes or changes until the transaction is over; the 404 when it was
 * deleted meanwhile. With `locks` false the database has one writer and needs no lock.
 */
export async function holdApplication(
  tx: Writer,
  locks: boolean,
  application: ApplicationsTable,
): Promise<ApplicationsTable> {
  const query = tx
    .selectFrom('applications')
    .selectAll()
    .where('uid', '=', application.uid)
    .where('deleted_at', 'is', null);
  const row = await (locks ? query.forUpdate() : query).executeTakeFirst();
  if (!row) throw notFound(`There is no application ${shown(application.id)}.`);
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
export async function deleteApplicationsOf(tx: Writer, account: AccountId, at: number): Promise<void> {
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
export async function listDeleted(db: Reader): Promise<string[]> {
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

export async function insertExecutable(tx: Writer, executable: ExecutablesTable): Promise<void> {
  await tx.insertInto('executables').values(executable).execute();
}

const selectExecutable = prepared((db, { id }: { id: ExecutableId }) =>
  db.selectFrom('executables').selectAll().where('id', '=', id),
);

/**
 * Executables found before, by id: a row never changes, its id is never given again, and it goes only with its
 * application, through which everybody comes. Every read of a run's metadata asks for one.
 */
const found = new Map<ExecutableId, ExecutablesTable>();
const FOUND_MAX = 1000;

export async function findExecutable(db: Reader, id: ExecutableId): Promise<ExecutablesTable | undefined> {
  const known = found.get(id);
  if (known) return known;
  const [row] = await selectExecutable(db, { id });
  if (!row) return undefined;
  if (found.size >= FOUND_MAX) found.clear();
  found.set(id, row);
  return row;
}

/** In any order. Asked for in parts, because a statement takes only so many parameters. */
export async function findExecutables(db: Reader, ids: readonly ExecutableId[]): Promise<ExecutablesTable[]> {
  const found: ExecutablesTable[] = [];
  for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
    const part = ids.slice(from, from + IDS_PER_STATEMENT);
    found.push(...(await db.selectFrom('executables').selectAll().where('id', 'in', part).execute()));
  }
  return found;
}

const IDS_PER_STATEMENT = 500;

/** Removes the executables of an application; answers their contents. */
export async function removeExecutables(tx: Writer, applicationUid: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom('executables')
    .where('application_uid', '=', applicationUid)
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}
