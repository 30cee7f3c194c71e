/** Statements on the saved views of runs. */
import type { AccountId, RunViewId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { RunViewsTable } from './schema.ts';

/** Lists the views of the owner and the shared ones, in no order. */
export function listViews(db: Reader, applicationUid: string, owner: string): Promise<RunViewsTable[]> {
  return db
    .selectFrom('run_views')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where((eb) => eb.or([eb('owner', '=', owner), eb('is_shared', '=', 1)]))
    .execute();
}

/** Returns the view of the application, locked until the transaction ends; undefined for a missing one. */
export function lockView(
  tx: Writer,
  applicationUid: string,
  id: RunViewId,
): Promise<RunViewsTable | undefined> {
  const query = tx
    .selectFrom('run_views')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id);
  return locked(tx, query, 'update').executeTakeFirst();
}

export async function insertView(tx: Writer, view: RunViewsTable): Promise<void> {
  await tx.insertInto('run_views').values(view).execute();
}

/** Replaces the view of the same id. */
export async function replaceView(tx: Writer, view: RunViewsTable): Promise<void> {
  const { id, ...columns } = view;
  await tx.updateTable('run_views').set(columns).where('id', '=', id).execute();
}

export async function deleteView(tx: Writer, id: RunViewId): Promise<void> {
  await tx.deleteFrom('run_views').where('id', '=', id).execute();
}

export async function removeViews(tx: Writer, applicationUid: string): Promise<void> {
  await tx.deleteFrom('run_views').where('application_uid', '=', applicationUid).execute();
}

/** Deletes the views of the owner that nobody else in the account sees. */
export async function deletePrivateViews(tx: Writer, account: AccountId, owner: string): Promise<void> {
  const applications = tx.selectFrom('applications').select('uid').where('account_id', '=', account);
  await tx
    .deleteFrom('run_views')
    .where('owner', '=', owner)
    .where('is_shared', '=', 0)
    .where('application_uid', 'in', applications)
    .execute();
}
