/** Queries for one field in `run_values`, in the order of its values or of the creation time of the runs. */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import type { FoundRun, RunPosition } from './run-filter.ts';

/** A condition on the entries of a run, with the key of its field. */
export interface EntryCondition {
  field: number;
  from: string;
  to: string;
}

/** The entries of one field in an order, of the runs that were created in a window. */
export interface EntryOrder {
  field: number;
  /** value: by value, then time. time: by time alone. */
  by: 'value' | 'time';
  isDescending: boolean;
  /** The values of the entries, both ends included. */
  from: string;
  to: string;
  /** The window of the creation time, start included and end excluded. */
  start: number;
  end: number;
}

/** Conditions on the run of an entry. */
export interface EntryConditions {
  present: readonly EntryCondition[];
  /** A field that the run must not have; null for none. */
  absent: number | null;
}

export type Entry = Required<FoundRun>;

/** Entries after one position, up to another; null for the beginning or the end of the order. */
export interface EntryRange {
  after: RunPosition | null;
  until: RunPosition | null;
}

const NO_ID = '';
const LAST_ID = '\u{10ffff}';

/** Lists entries that satisfy the conditions, at most `limit`. */
export async function listEntries(
  db: Reader,
  order: EntryOrder,
  range: EntryRange,
  { conditions, limit }: { conditions: EntryConditions; limit: number },
): Promise<Entry[]> {
  let query = selectEntries(db, order, range).limit(limit);
  for (const condition of conditions.present) query = query.where(hasEntry(condition));
  if (conditions.absent !== null) query = query.where(hasNoEntry(conditions.absent));
  if (order.by === 'time') query = query.where(liesBetween('entry', order));
  else query = query.where('created_at', '>=', order.start).where('created_at', '<', order.end);
  const rows = await query.execute();
  return rows.map(({ value, created_at, run_id }) => ({ value, at: created_at, id: run_id }));
}

/** Returns the entry that is `count` entries after the position, whatever its run; undefined near the end of the order. */
export async function findEntryAhead(
  db: Reader,
  order: EntryOrder,
  after: RunPosition | null,
  count: number,
): Promise<Entry | undefined> {
  const row = await selectEntries(db, order, { after, until: null })
    .limit(1)
    .offset(count - 1)
    .executeTakeFirst();
  return row && { value: row.value, at: row.created_at, id: row.run_id };
}

/**
 * Selects the entries of a range. Its bounds are tuples of all columns of the order, also for a single value. With an
 * equality both databases may choose the other index, and read all entries of the field.
 */
function selectEntries(db: Reader, order: EntryOrder, { after, until }: EntryRange) {
  const { by, isDescending } = order;
  const direction = isDescending ? 'desc' : 'asc';
  const [upper, lower] = isDescending ? [after, until] : [until, after];
  const query = db
    .selectFrom('run_values as entry')
    .select(['value', 'created_at', 'run_id'])
    .where('field', '=', order.field);
  if (by === 'time')
    return query
      .where(
        sql<SqlBool>`(created_at, run_id) ${above(isDescending, until)} (${lower?.at ?? order.start}, ${lower?.id ?? NO_ID})`,
      )
      .where(
        sql<SqlBool>`(created_at, run_id) ${below(isDescending, until)} (${upper?.at ?? order.end}, ${upper?.id ?? NO_ID})`,
      )
      .orderBy('created_at', direction)
      .orderBy('run_id', direction);
  return query
    .where(
      sql<SqlBool>`(value, created_at, run_id) ${above(isDescending, until)} (${lower?.value ?? order.from}, ${lower?.at ?? lowestTime(order)}, ${lower?.id ?? NO_ID})`,
    )
    .where(
      sql<SqlBool>`(value, created_at, run_id) ${below(isDescending, until)} (${upper?.value ?? order.to}, ${upper?.at ?? highestTime(order)}, ${upper?.id ?? LAST_ID})`,
    )
    .orderBy('value', direction)
    .orderBy('created_at', direction)
    .orderBy('run_id', direction);
}

/** The end of a range belongs to it, its beginning does not. */
const above = (isDescending: boolean, until: RunPosition | null) =>
  isDescending && until ? sql.raw('>=') : sql.raw('>');
const below = (isDescending: boolean, until: RunPosition | null) =>
  !isDescending && until ? sql.raw('<=') : sql.raw('<');

/** The entries of one value are in the order of time, so that the window bounds them. */
const lowestTime = ({ from, to, start }: EntryOrder): number =>
  from === to ? start : Number.MIN_SAFE_INTEGER;
const highestTime = ({ from, to, end }: EntryOrder): number =>
  from === to ? end - 1 : Number.MAX_SAFE_INTEGER;

/** Hides the column from the planner, which else reads all entries between the values and sorts them. */
function liesBetween(table: string, { from, to }: { from: string; to: string }): Expression<SqlBool> {
  const value = sql.ref(`${table}.value`);
  return sql<SqlBool>`${value} || '' >= ${from} and ${value} || '' <= ${to}`;
}

function hasEntry(condition: EntryCondition): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from run_values as other where other.field = ${condition.field}
    and other.created_at = entry.created_at and other.run_id = entry.run_id and ${liesBetween('other', condition)})`;
}

function hasNoEntry(field: number): Expression<SqlBool> {
  return sql<SqlBool>`not exists (select 1 from run_values as other where other.field = ${field}
    and other.created_at = entry.created_at and other.run_id = entry.run_id)`;
}
