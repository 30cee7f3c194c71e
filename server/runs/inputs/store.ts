/** Statements on managed inputs. */
import type { InputId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { InputsTable } from './schema.ts';

/** Inserts the input; returns false when the application has one with that id. */
export async function insertInput(tx: Writer, input: InputsTable): Promise<boolean> {
  const result = await tx
    .insertInto('inputs')
    .values(input)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export function findInput(db: Reader, applicationUid: string, id: InputId): Promise<InputsTable | undefined> {
  return db
    .selectFrom('inputs')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Returns the existing inputs among the ids, in no order. */
export async function findInputs(
  db: Reader,
  applicationUid: string,
  ids: readonly InputId[],
): Promise<InputsTable[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('inputs')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('id', 'in', ids)
    .execute();
}

/** Returns the input and locks it against changes until the transaction ends. */
export function lockInput(tx: Writer, applicationUid: string, id: InputId): Promise<InputsTable | undefined> {
  const query = tx
    .selectFrom('inputs')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id);
  return locked(tx, query, 'update').executeTakeFirst();
}

/** Lists inputs, newest first; one row more than the limit shows that more follow. */
export function listInputs(db: Reader, applicationUid: string, page: PageRequest): Promise<InputsTable[]> {
  let query = db
    .selectFrom('inputs')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('inputs', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Updates the input and returns its new row; undefined when it does not exist. */
export function updateInput(
  tx: Writer,
  applicationUid: string,
  id: InputId,
  changes: Partial<InputsTable>,
): Promise<InputsTable | undefined> {
  return tx
    .updateTable('inputs')
    .set(changes)
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes the input; returns the id of its content, or undefined when it does not exist. */
export async function deleteInput(
  tx: Writer,
  applicationUid: string,
  id: InputId,
): Promise<string | undefined> {
  const row = await tx
    .deleteFrom('inputs')
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .returning('content_id')
    .executeTakeFirst();
  return row?.content_id;
}

/** Removes at most `limit` inputs of an application; returns the ids of their contents. */
export async function removeInputs(tx: Writer, applicationUid: string, limit: number): Promise<string[]> {
  const rows = await tx
    .deleteFrom('inputs')
    .where('application_uid', '=', applicationUid)
    .where('id', 'in', (eb) =>
      eb.selectFrom('inputs').select('id').where('application_uid', '=', applicationUid).limit(limit),
    )
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}
