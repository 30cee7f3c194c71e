/**
 * Queries for one field in `run_values`, in the order of its values or of the creation time of the runs. Each walks an index
 * in its order: pass `Database.readInOrder`. The conditions apply to the entries of a walk of limited length, so that
 * neither database prefers an index with another order because of them.
 */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import { prepareStatement, prepareVariants } from '../../database/prepared-statements.ts';
import type { ValueInterval } from '../values/encode-value.ts';
import type { FoundRun, RunPosition } from './run-filter.ts';

/** A condition on the entries of a run, with the key of its field: one of the intervals contains a value. */
export interface EntryCondition {
  field: number;
  intervals: readonly ValueInterval[];
}

/** The entries of one field in an order, of the runs that were created in a window. */
export interface EntryOrder extends ValueInterval {
  field: number;
  /** value: by value, then time. time: by time alone. */
  by: 'value' | 'time';
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

export type Entry = Required<FoundRun>;

interface Conditional {
  conditions: EntryConditions;
  limit: number;
}

const NO_ID = '';
const LAST_ID = '\u{10ffff}';
/** No value is empty. */
const NO_VALUE = '';
/** Statements of several values have one of these numbers of them, because each is prepared once. */
const VALUES_PER_STATEMENT = [1, 2, 4, 8, 12, 16, 32];

type Direction = Pick<EntryOrder, 'isDescending'>;
type WalkShape = Direction & Pick<EntryOrder, 'by'>;
type MergeShape = Direction & { count: number };

/** Both ends of a walk; neither belongs to it. */
interface Bounds {
  field: number;
  lowValue: string;
  lowAt: number;
  lowId: string;
  highValue: string;
  highAt: number;
  highId: string;
}

type Interval = ValueInterval & { field: number };

/** The ends of a time, neither of which belongs to it. */
interface Window {
  startAt: number;
  startId: string;
  endAt: number;
  endId: string;
}

type SortedValues = Interval & Window & { size: number; limit: number };
type ChunkValues = Bounds & SortedValues;

const readAhead = prepareVariants(formatShape, (db, shape: WalkShape, values: Bounds & { skipped: number }) =>
  selectEntries(db, shape, values).limit(1).offset(values.skipped),
);

const readWhole = prepareVariants(formatShape, (db, shape: WalkShape, values: Bounds & { limit: number }) =>
  selectEntries(db, shape, values).limit(values.limit),
);

const readChunk = prepareVariants(formatShape, selectFromChunk);
const readSorted = prepareVariants(String, selectSorted);
const readIntervalAhead = prepareStatement((db, values: Interval & { skipped: number }) =>
  selectInterval(db, false, values).limit(1).offset(values.skipped),
);
const readMerged = prepareVariants(formatShape, selectMerged);

function formatShape(shape: object): string {
  return Object.values(shape).join(' ');
}

/** Lists the first entries after the position, of the whole field. */
export async function listEntries(
  db: Reader,
  order: EntryOrder,
  after: RunPosition | null,
  limit: number,
): Promise<Entry[]> {
  const { by, isDescending } = order;
  return toEntries(await readWhole(db, { by, isDescending }, { ...findBounds(order, after), limit }));
}

/** Lists the first entries after the position that have one of the values, by time. */
export async function listEntriesOfValues(
  db: Reader,
  { field, isDescending, start, end }: EntryOrder,
  values: readonly string[],
  { after, limit }: { after: RunPosition | null; limit: number },
): Promise<Entry[]> {
  const count = VALUES_PER_STATEMENT.find((size) => size >= values.length) ?? values.length;
  const window = findWindow({ isDescending, start, end }, after);
  const rows = await readMerged(
    db,
    { isDescending, count },
    {
      field,
      limit,
      ...window,
      ...Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`value${index}`, values[index] ?? NO_VALUE]),
      ),
    },
  );
  return toEntries(rows);
}

/** Lists entries of a walk that satisfy the conditions, at most `limit`. */
export async function listFromChunk(
  db: Reader,
  order: EntryOrder,
  { after, size }: { after: RunPosition | null; size: number },
  { conditions, limit }: Conditional,
): Promise<Entry[]> {
  const { by, isDescending } = order;
  const values = {
    ...findBounds(order, after),
    ...findWindow(order, null),
    ...pickInterval(order),
    size,
    limit,
  };
  const shape = { by, isDescending };
  if (isUnconditional(conditions)) return toEntries(await readChunk(db, shape, values));
  return toEntries(await addConditions(selectFromChunk(db, shape, values), conditions).execute());
}

/**
 * Lists entries of the interval by time, although the order is by value. Returns undefined if the interval has more than
 * `size` entries, because the first may be among the others.
 */
export async function sortByTime(
  db: Reader,
  order: EntryOrder,
  { after, size }: { after: RunPosition | null; size: number },
  { conditions, limit }: Conditional,
): Promise<Entry[] | undefined> {
  const interval = { field: order.field, ...pickInterval(order) };
  // Counting 5000 entries takes 0.1 ms, and sorting them in vain 0.5 ms.
  const next = await readIntervalAhead(db, { ...interval, skipped: size });
  if (next.length > 0) return undefined;
  const values = { ...findWindow(order, after), ...interval, size, limit };
  const rows = isUnconditional(conditions)
    ? await readSorted(db, order.isDescending, values)
    : await addConditions(selectSorted(db, order.isDescending, values), conditions).execute();
  return toEntries(rows);
}

const pickInterval = ({ from, to }: ValueInterval): ValueInterval => ({ from, to });

const isUnconditional = ({ present, absent }: EntryConditions): boolean =>
  present.length === 0 && absent === null;

/** Returns the entry that is `count` entries after the position, whatever its run; undefined near the end of the order. */
export async function findEntryAhead(
  db: Reader,
  order: EntryOrder,
  after: RunPosition | null,
  count: number,
): Promise<Entry | undefined> {
  const { by, isDescending } = order;
  const values = { ...findBounds(order, after), skipped: count - 1 };
  return toEntries(await readAhead(db, { by, isDescending }, values))[0];
}

function toEntries(rows: readonly { value: string; created_at: number; run_id: Entry['id'] }[]): Entry[] {
  return rows.map(({ value, created_at, run_id }) => ({ value, at: created_at, id: run_id }));
}

/** Returns the ends of the walk through an order after the position. The entries of one value are in the order of time. */
function findBounds(order: EntryOrder, after: RunPosition | null): Bounds {
  const { field, from, to, start, end, isDescending, by } = order;
  const isTimed = by === 'time' || from === to;
  const low = isTimed
    ? { value: from, at: start, id: NO_ID }
    : { value: from, at: Number.MIN_SAFE_INTEGER, id: NO_ID };
  const high = isTimed
    ? { value: to, at: end, id: NO_ID }
    : { value: to, at: Number.MAX_SAFE_INTEGER, id: LAST_ID };
  const next = isDescending ? high : low;
  if (after) Object.assign(next, { at: after.at, id: after.id, value: after.value ?? next.value });
  return {
    field,
    lowValue: low.value,
    lowAt: low.at,
    lowId: low.id,
    highValue: high.value,
    highAt: high.at,
    highId: high.id,
  };
}

/** Returns the ends of the time after the position; neither belongs to it. */
function findWindow(
  { isDescending, start, end }: Pick<EntryOrder, 'isDescending' | 'start' | 'end'>,
  after: RunPosition | null,
) {
  const [early, late] = isDescending ? [null, after] : [after, null];
  return {
    startAt: early?.at ?? start,
    startId: early?.id ?? NO_ID,
    endAt: late?.at ?? end,
    endId: late?.id ?? NO_ID,
  };
}

/**
 * Selects the entries between the bounds. These are tuples of all columns of the order, also for a single value. With
 * an equality both databases may choose the other index, and read all entries of the field.
 */
function selectEntries(db: Reader, { by, isDescending }: WalkShape, bounds: Bounds) {
  const { field, lowValue, lowAt, lowId, highValue, highAt, highId } = bounds;
  const direction = isDescending ? 'desc' : 'asc';
  const query = db
    .selectFrom('run_values')
    .select(['value', 'created_at', 'run_id'])
    .where('field', '=', field);
  if (by === 'time')
    return query
      .where(sql<SqlBool>`(created_at, run_id) > (${lowAt}, ${lowId})`)
      .where(sql<SqlBool>`(created_at, run_id) < (${highAt}, ${highId})`)
      .orderBy('created_at', direction)
      .orderBy('run_id', direction);
  return query
    .where(sql<SqlBool>`(value, created_at, run_id) > (${lowValue}, ${lowAt}, ${lowId})`)
    .where(sql<SqlBool>`(value, created_at, run_id) < (${highValue}, ${highAt}, ${highId})`)
    .orderBy('value', direction)
    .orderBy('created_at', direction)
    .orderBy('run_id', direction);
}

/** Selects entries of the interval and the window among the first `size` of a walk. */
function selectFromChunk(db: Reader, shape: WalkShape, values: ChunkValues) {
  const direction = shape.isDescending ? 'desc' : 'asc';
  const query = db
    .selectFrom(selectEntries(db, shape, values).limit(values.size).as('entry'))
    .select(['entry.value', 'entry.created_at', 'entry.run_id'])
    .where(sql<SqlBool>`entry.value >= ${values.from} and entry.value <= ${values.to}`)
    .where(isInWindow(values))
    .limit(values.limit);
  const ordered = shape.by === 'value' ? query.orderBy('entry.value', direction) : query;
  return ordered.orderBy('entry.created_at', direction).orderBy('entry.run_id', direction);
}

/** Selects entries of an interval in the order of the index. The bounds are values alone: tuples take a third longer. */
function selectInterval(db: Reader, isDescending: boolean, { field, from, to }: Interval) {
  const direction = isDescending ? 'desc' : 'asc';
  return db
    .selectFrom('run_values')
    .select(['value', 'created_at', 'run_id'])
    .where('field', '=', field)
    .where('value', '>=', from)
    .where('value', '<=', to)
    .orderBy('value', direction)
    .orderBy('created_at', direction)
    .orderBy('run_id', direction);
}

/** Selects entries of the interval and the window by time, from the first `size` by value. */
function selectSorted(db: Reader, isDescending: boolean, values: SortedValues) {
  const direction = isDescending ? 'desc' : 'asc';
  const { size, limit } = values;
  return db
    .selectFrom(selectInterval(db, isDescending, values).limit(size).as('entry'))
    .select(['entry.value', 'entry.created_at', 'entry.run_id'])
    .where(isInWindow(values))
    .orderBy('entry.created_at', direction)
    .orderBy('entry.run_id', direction)
    .limit(limit);
}

function isInWindow({ startAt, startId, endAt, endId }: Window): Expression<SqlBool> {
  return sql<SqlBool>`(entry.created_at, entry.run_id) > (${startAt}, ${startId})
    and (entry.created_at, entry.run_id) < (${endAt}, ${endId})`;
}

type MergeValues = Pick<ChunkValues, 'field' | keyof Window | 'limit'> & Record<`value${number}`, string>;

/** Selects the first entries of each value, and the first of these by time. */
function selectMerged(db: Reader, { isDescending, count }: MergeShape, values: MergeValues) {
  const direction = isDescending ? 'desc' : 'asc';
  const { field, startAt, startId, endAt, endId, limit } = values;
  const select = (value: string) => {
    const bounds = {
      field,
      lowValue: value,
      lowAt: startAt,
      lowId: startId,
      highValue: value,
      highAt: endAt,
      highId: endId,
    };
    const entries = selectEntries(db, { by: 'value', isDescending }, bounds).limit(limit);
    return db.selectFrom(entries.as('one')).selectAll();
  };
  const [first = NO_VALUE, ...others] = Array.from(
    { length: count },
    (_, index) => values[`value${index}`] ?? NO_VALUE,
  );
  const merged = others.reduce((query, value) => query.unionAll(select(value)), select(first));
  return db
    .selectFrom(merged.as('entry'))
    .select(['entry.value', 'entry.created_at', 'entry.run_id'])
    .orderBy('entry.created_at', direction)
    .orderBy('entry.run_id', direction)
    .limit(limit);
}

/** Adds conditions to a query for entries. */
function addConditions<Query extends { where(condition: Expression<SqlBool>): Query }>(
  query: Query,
  { present, absent }: EntryConditions,
): Query {
  const isPresent = present.reduce((added, condition) => added.where(hasEntry(condition)), query);
  return absent === null ? isPresent : isPresent.where(hasNoEntry(absent));
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
