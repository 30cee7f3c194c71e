/**
 * Reads the entries of one field in `run_values`, in the order of its values or of the creation time of the runs. The
 * conditions apply to the entries of a chunk, so that neither database chooses another index because of them. The statements
 * walk an index in its order: pass `Database.readInOrder`.
 */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../platform/database/database.ts';
import { ANY_VALUE, type ValueInterval } from '../values/encode-value.ts';
import type { FoundRun, RunPosition } from './run-filter.ts';
import type { Scan } from './walk.ts';

/** SQLite reads and checks a chunk in 1 to 3 ms, and nothing else runs meanwhile. */
const CHUNK_ENTRIES = 1000;
/** The smallest text, and one that is larger than any id. */
const [NO_ID, LAST_ID] = ['', '\u{10ffff}'];

/** An interval of the values of a field, which is named by its key. */
export type FieldInterval = ValueInterval & { field: number };

/** A condition on the entries of a run: one of the intervals contains a value of the field. */
export interface EntryCondition {
  field: number;
  intervals: readonly ValueInterval[];
}

/** The entries of an interval in an order, of the runs that were created in a window. */
export interface EntryOrder extends FieldInterval {
  /**
   * With `value` the order is by value, then time. A single value is then in the order of time. With `time` it is by time, over
   * all entries of the field. With `sorted` it is by time too, over the entries of the interval. Each chunk reads and sorts
   * these, so they must be few.
   */
  by: 'value' | 'time' | 'sorted';
  isDescending: boolean;
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

/** Finds entries in the next chunk of the order, at most `count`. */
export async function readEntries(
  db: Reader,
  order: EntryOrder,
  conditions: EntryConditions,
  { after, count }: { after: RunPosition | null; count: number },
): Promise<Scan> {
  const isWhole = order.by === 'time' ? isAnyValue(order) : order.by === 'value' && order.from === order.to;
  const hasConditions = conditions.present.length > 0 || conditions.absent !== null;
  // Without anything to check, the wanted entries are enough, and one more to end before.
  const size = isWhole && !hasConditions ? count + 1 : CHUNK_ENTRIES;
  const rows = await selectChunk(db, order, conditions, { after, count, size }).execute();
  const listEntries = (isEnd: 0 | 1): FoundRun[] =>
    rows
      .filter(({ is_end }) => is_end === isEnd)
      .map(({ value, created_at, run_id }) => ({ value, at: created_at, id: run_id }));
  return { found: listEntries(0), through: listEntries(1)[0] ?? null };
}

/** Counts the entries of the interval, whatever their time, up to a maximum. */
export async function countEntries(
  db: Reader,
  { field, from, to }: FieldInterval,
  countMax: number,
): Promise<number> {
  const entries = db
    .selectFrom('run_values')
    .select('value')
    .where('field', '=', field)
    .where('value', '>=', from)
    .where('value', '<=', to)
    .orderBy('value')
    .limit(countMax);
  const { count } = await db
    .selectFrom(entries.as('entry'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Selects the entries of a chunk that satisfy the conditions, and one of a whole chunk again as its end. */
function selectChunk(
  db: Reader,
  order: EntryOrder,
  { present, absent }: EntryConditions,
  { after, count, size }: { after: RunPosition | null; count: number; size: number },
) {
  const { by, from, to, start, end, isDescending } = order;
  const direction = isDescending ? 'desc' : 'asc';
  return db
    .with(
      (cte) => cte('chunk').materialized(),
      (query) => selectEntries(query, order, after).limit(size),
    )
    .selectFrom((eb) => {
      const checks = [...present.map(hasEntry), ...(absent === null ? [] : [hasNoEntry(absent)])];
      const found = eb
        .selectFrom('chunk as entry')
        .select(['entry.value', 'entry.created_at', 'entry.run_id', sql<0 | 1>`0`.as('is_end')])
        .where(sql<SqlBool>`entry.value >= ${from} and entry.value <= ${to}`)
        .where(sql<SqlBool>`entry.created_at >= ${start} and entry.created_at < ${end}`)
        .where((one) => one.and(checks));
      const ordered = by === 'value' ? found.orderBy('entry.value', direction) : found;
      return ordered
        .orderBy('entry.created_at', direction)
        .orderBy('entry.run_id', direction)
        .limit(count)
        .as('found');
    })
    .selectAll()
    .unionAll((eb) => {
      const chunk = eb.selectFrom('chunk').select(['value', 'created_at', 'run_id']).limit(sql.lit(1));
      const last = chunk.offset(size - 1);
      // By time a chunk may end between the words of a run. Then it ends with the run before, and the next one reads all words.
      const isBefore = sql<SqlBool>`(created_at, run_id) <> (select created_at, run_id from (${last}) as cut)`;
      const opposite = isDescending ? 'asc' : 'desc';
      const before = chunk.where(isBefore).orderBy('created_at', opposite).orderBy('run_id', opposite);
      return eb
        .selectFrom((by === 'time' ? before : last).as('last'))
        .select(['last.value', 'last.created_at', 'last.run_id', sql<0 | 1>`1`.as('is_end')]);
    });
}

/**
 * Selects the entries after the position. The bounds are tuples of all columns of an order, also for a single value. With an
 * equality both databases may choose the other index, and read all entries of the field. For the same reason, the time of
 * entries that are sorted is an expression.
 */
function selectEntries(db: Pick<Reader, 'selectFrom'>, order: EntryOrder, after: RunPosition | null) {
  const { field, by, from, to, isDescending } = order;
  const { low, high } = findBounds(order, after);
  const direction = isDescending ? 'desc' : 'asc';
  const query = db
    .selectFrom('run_values')
    .select(['value', 'created_at', 'run_id'])
    .where('field', '=', field);
  if (by === 'value')
    return query
      .where(sql<SqlBool>`(value, created_at, run_id) > (${low.value}, ${low.at}, ${low.id})`)
      .where(sql<SqlBool>`(value, created_at, run_id) < (${high.value}, ${high.at}, ${high.id})`)
      .orderBy('value', direction)
      .orderBy('created_at', direction)
      .orderBy('run_id', direction);
  const at = by === 'sorted' ? sql<number>`created_at + 0` : sql.ref<number>('created_at');
  const chosen = by === 'sorted' ? query.where('value', '>=', from).where('value', '<=', to) : query;
  return chosen
    .where(sql<SqlBool>`(${at}, run_id) > (${low.at}, ${low.id})`)
    .where(sql<SqlBool>`(${at}, run_id) < (${high.at}, ${high.id})`)
    .orderBy(at, direction)
    .orderBy('run_id', direction);
}

/** Returns the ends of the order after the position; neither belongs to it. */
function findBounds(order: EntryOrder, after: RunPosition | null) {
  const { by, from, to, start, end, isDescending } = order;
  const isTimed = by !== 'value' || from === to;
  const low = { value: from, at: isTimed ? start : Number.MIN_SAFE_INTEGER, id: NO_ID };
  const high = isTimed
    ? { value: to, at: end, id: NO_ID }
    : { value: to, at: Number.MAX_SAFE_INTEGER, id: LAST_ID };
  if (after) Object.assign(isDescending ? high : low, after);
  return { low, high };
}

function isAnyValue({ from, to }: ValueInterval): boolean {
  return from === ANY_VALUE.from && to === ANY_VALUE.to;
}

/** Hides the value from the planner, which else may read all entries between the values. */
function liesBetween({ from, to }: ValueInterval): Expression<SqlBool> {
  return sql<SqlBool>`other.value || '' >= ${from} and other.value || '' <= ${to}`;
}

function hasEntry({ field, intervals }: EntryCondition): Expression<SqlBool> {
  const lies = sql.join(intervals.map(liesBetween), sql` or `);
  return sql<SqlBool>`exists (select 1 from run_values as other where other.field = ${field}
    and other.created_at = entry.created_at and other.run_id = entry.run_id and (${lies}))`;
}

function hasNoEntry(field: number): Expression<SqlBool> {
  return sql<SqlBool>`not exists (select 1 from run_values as other where other.field = ${field}
    and other.created_at = entry.created_at and other.run_id = entry.run_id)`;
}
