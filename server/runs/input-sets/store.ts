/** Statements on input sets. */
import type { InputSetId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { lockRows } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { InputSetInputsTable, InputSetsTable } from './schema.ts';

/** One input of a set; its index in a list of items is its position. */
export type InputSetItem = Omit<InputSetInputsTable, 'input_set_uid' | 'position'>;

/** An input set with its inputs in order, at least one. */
export interface InputSetWithItems extends InputSetsTable {
  items: readonly InputSetItem[];
}

/** Inserts the set; returns false when the application has one with that id. */
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

/** The columns of an item, with aliases for those that its set has too. */
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
 * Groups rows, one for each item, into sets; the rows of a set are adjacent. It copies field by field, because rest patterns
 * took half of the time of a long list.
 */
function groupBySet(rows: readonly Row[]): InputSetWithItems[] {
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

/** Returns the set with its inputs, in one statement and therefore of one snapshot. */
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
  return groupBySet(rows)[0];
}

/** Locks the set until the transaction ends and returns it with its inputs. */
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

/** Lists sets with their inputs, newest first; one set more than the limit shows that more follow. */
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
  return groupBySet(rows);
}

export async function updateInputSet(
  tx: Writer,
  uid: string,
  changes: Partial<InputSetsTable>,
): Promise<void> {
  await tx.updateTable('input_sets').set(changes).where('uid', '=', uid).execute();
}

/** Replaces the items of the set. The caller inserts and removes their contents. */
export async function replaceInputSetItems(
  tx: Writer,
  uid: string,
  items: readonly InputSetItem[],
): Promise<void> {
  await tx.deleteFrom('input_set_inputs').where('input_set_uid', '=', uid).execute();
  await insertInputSetItems(tx, uid, items);
}

/** Deletes the set; returns the ids of its contents, or undefined when it does not exist. */
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

/** Removes at most `limit` inputs of the sets of an application; returns the ids of their contents. */
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

/** Removes at most `limit` empty sets of an application; returns a null for each, because sets have no content. */
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
