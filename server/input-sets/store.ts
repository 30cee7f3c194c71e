/** Every statement on input sets. */
import type { InputSetId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../database/database.ts';
import { isAfter } from '../database/list-order.ts';
import { lockRows } from '../database/row-locks.ts';
import type { PageRequest } from '../http/lists/pagination.ts';
import type { InputSetInputsTable, InputSetsTable } from './schema.ts';

/** One of the inputs of a set; where it stands in a list of them is its place. */
export type InputSetItem = Omit<InputSetInputsTable, 'input_set_uid' | 'position'>;

/** An input set with what is in it, in order: one input at least. */
export interface InputSetWithItems extends InputSetsTable {
  items: readonly InputSetItem[];
}

/** false when the application has one of that id. */
export async function insertInputSet(tx: Writer, set: InputSetsTable): Promise<boolean> {
  const result = await tx
    .insertInto('input_sets')
    .values(set)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function insertInputSetItems(
  tx: Writer,
  uid: string,
  items: readonly InputSetItem[],
): Promise<void> {
  const rows = items.map((item, position) => ({ ...item, input_set_uid: uid, position }));
  await tx.insertInto('input_set_inputs').values(rows).execute();
}

/** The columns of an item beside those of its set. */
const ITEM = [
  'item.input_id',
  'item.run_id',
  'item.name as item_name',
  'item.description as item_description',
  'item.input_format',
  'item.output_format',
  'item.content_id',
] as const;

type Row = InputSetsTable &
  Omit<InputSetItem, 'name' | 'description'> & { item_name: string; item_description: string };

/**
 * Makes sets of rows, one for each item, in which those of a set stand one after the other. Field by field: taking rows
 * apart with rest patterns took half of the time of a long list.
 */
function together(rows: readonly Row[]): InputSetWithItems[] {
  const sets: (InputSetsTable & { items: InputSetItem[] })[] = [];
  for (const row of rows) {
    let last = sets.at(-1);
    if (last?.uid !== row.uid) {
      last = {
        uid: row.uid,
        application_uid: row.application_uid,
        id: row.id,
        name: row.name,
        description: row.description,
        instance_id: row.instance_id,
        created_at: row.created_at,
        updated_at: row.updated_at,
        items: [],
      };
      sets.push(last);
    }
    last.items.push({
      input_id: row.input_id,
      run_id: row.run_id,
      name: row.item_name,
      description: row.item_description,
      input_format: row.input_format,
      output_format: row.output_format,
      content_id: row.content_id,
    });
  }
  return sets;
}

/** The set with its inputs as they were at one moment. */
export async function findInputSet(
  db: Reader,
  applicationUid: string,
  id: InputSetId,
): Promise<InputSetWithItems | undefined> {
  const rows = await db
    .selectFrom('input_sets')
    .innerJoin('input_set_inputs as item', 'item.input_set_uid', 'input_sets.uid')
    .selectAll('input_sets')
    .select(ITEM)
    .where('input_sets.application_uid', '=', applicationUid)
    .where('input_sets.id', '=', id)
    .orderBy('item.position')
    .execute();
  return together(rows)[0];
}

/** The same, which nobody else changes or deletes until the transaction is over. */
export async function lockInputSet(
  tx: Writer,
  applicationUid: string,
  id: InputSetId,
): Promise<InputSetWithItems | undefined> {
  const query = tx
    .selectFrom('input_sets')
    .select('uid')
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id);
  await lockRows(tx, query, 'update');
  return findInputSet(tx, applicationUid, id);
}

export async function listInputSets(
  db: Reader,
  applicationUid: string,
  page: PageRequest,
): Promise<InputSetWithItems[]> {
  let sets = db
    .selectFrom('input_sets')
    .selectAll()
    .where('application_uid', '=', applicationUid)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) sets = sets.where(isAfter('input_sets', page.after));
  if (page.limit !== null) sets = sets.limit(page.limit + 1);
  const rows = await db
    .selectFrom(sets.as('listed'))
    .innerJoin('input_set_inputs as item', 'item.input_set_uid', 'listed.uid')
    .selectAll('listed')
    .select(ITEM)
    .orderBy('listed.created_at', 'desc')
    .orderBy('listed.id', 'desc')
    .orderBy('item.position')
    .execute();
  return together(rows);
}

export async function updateInputSet(
  tx: Writer,
  uid: string,
  changes: Partial<InputSetsTable>,
): Promise<void> {
  await tx.updateTable('input_sets').set(changes).where('uid', '=', uid).execute();
}

/** Puts the items in place of those the set has. What becomes of contents is the caller's. */
export async function replaceInputSetItems(
  tx: Writer,
  uid: string,
  items: readonly InputSetItem[],
): Promise<void> {
  await tx.deleteFrom('input_set_inputs').where('input_set_uid', '=', uid).execute();
  await insertInputSetItems(tx, uid, items);
}

/** Removes the set; answers its contents, or undefined when there is none. */
export async function deleteInputSet(
  tx: Writer,
  applicationUid: string,
  id: InputSetId,
): Promise<string[] | undefined> {
  const set = await tx
    .deleteFrom('input_sets')
    .where('application_uid', '=', applicationUid)
    .where('id', '=', id)
    .returning('uid')
    .executeTakeFirst();
  if (!set) return undefined;
  const items = await tx
    .deleteFrom('input_set_inputs')
    .where('input_set_uid', '=', set.uid)
    .returning('content_id')
    .execute();
  return items.map((item) => item.content_id);
}

/** Removes inputs of the sets of an application, at most `limit` at once; answers their contents. */
export async function removeInputSetInputs(
  tx: Writer,
  applicationUid: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx
    .deleteFrom('input_set_inputs')
    .where((eb) =>
      eb(
        eb.refTuple('input_set_uid', 'position'),
        'in',
        eb
          .selectFrom('input_sets')
          .innerJoin('input_set_inputs as item', 'item.input_set_uid', 'input_sets.uid')
          .select(['item.input_set_uid', 'item.position'])
          .where('input_sets.application_uid', '=', applicationUid)
          .limit(limit)
          .$asTuple('input_set_uid', 'position'),
      ),
    )
    .returning('content_id')
    .execute();
  return rows.map((row) => row.content_id);
}

/** Removes sets of an application, once nothing is in them, at most `limit` at once. */
export async function removeInputSets(tx: Writer, applicationUid: string, limit: number): Promise<null[]> {
  const rows = await tx
    .deleteFrom('input_sets')
    .where('uid', 'in', (eb) =>
      eb.selectFrom('input_sets').select('uid').where('application_uid', '=', applicationUid).limit(limit),
    )
    .returning('uid')
    .execute();
  return rows.map(() => null);
}
