/** Queries for the definitions of ensembles. */
import type { EnsembleId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isInWindow } from '../../platform/database/list-order.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { EnsemblesTable } from './schema.ts';

/** Stores the definition. Returns false when the application already has one with that id. */
export async function insertEnsemble(tx: Writer, ensemble: EnsemblesTable): Promise<boolean> {
  const result = await tx
    .insertInto('ensembles')
    .values(ensemble)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Returns the definition; undefined when there is none. */
export function findEnsemble(
  db: Reader,
  applicationUid: string,
  id: string,
): Promise<EnsemblesTable | undefined> {
  return db
    .selectFrom('ensembles')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id as EnsembleId)
    .executeTakeFirst();
}

/** Locks the definition until the transaction ends, and returns it; undefined when it does not exist. */
export function lockEnsemble(
  tx: Writer,
  { uid }: Pick<ApplicationsTable, 'uid'>,
  id: EnsembleId,
): Promise<EnsemblesTable | undefined> {
  const query = tx
    .selectFrom('ensembles')
    .selectAll()
    .where('application_uid', '=', uid)
    .where('id', '=', id);
  return locked(tx, query, 'update').executeTakeFirst();
}

/** Lists the definitions created in the window, newest first: one row more than the page holds, to see whether others follow. */
export function listEnsembles(
  db: Reader,
  applicationUid: string,
  window: { start: number; end: number },
  page: PageRequest,
): Promise<EnsemblesTable[]> {
  let query = db
    .selectFrom('ensembles')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where(isInWindow('ensembles', window, page.after))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Changes the definition and returns the changed row; undefined when there is none. */
export function updateEnsemble(
  tx: Writer,
  applicationUid: string,
  id: EnsembleId,
  changes: Partial<Pick<EnsemblesTable, 'name' | 'description'>> & { updated_at: number },
): Promise<EnsemblesTable | undefined> {
  return tx
    .updateTable('ensembles')
    .set(changes)
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes the definition. Returns false when there is none. */
export async function deleteEnsemble(tx: Writer, applicationUid: string, id: EnsembleId): Promise<boolean> {
  const result = await tx
    .deleteFrom('ensembles')
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Deletes at most `limit` definitions of an application. Returns a null for each deleted row. */
export async function removeEnsembles(tx: Writer, applicationUid: string, limit: number): Promise<null[]> {
  const rows = await tx
    .deleteFrom('ensembles')
    .where('uid', 'in', (eb) =>
      eb.selectFrom('ensembles').select('uid').where('application_uid', '=', applicationUid).limit(limit),
    )
    .returning('uid')
    .execute();
  return rows.map(() => null);
}
