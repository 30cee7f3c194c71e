/**
 * Queries for one field in `run_values`, in the order of its values or of the creation time of the runs. Each walks an index
 * in its order: pass `Database.readInOrder`. The conditions apply to the entries of a walk of limited length, so that
 * neither database prefers an index with another order because of them.
 */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Database, Reader } from '../../platform/database/database.ts';
import { prepareStatement, prepareVariants } from '../../platform/database/prepared-statements.ts';
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

type Direction = Pick<EntryOrder, 'isDescending'>;
type WalkShape = Direction & Pick<EntryOrder, 'by'>;
type SortShape = Direction & { isFirst: boolean };

/** Both ends of a walk; neither belongs to it. A value may be a column. */
interface Bounds {
  field: number;
  lowValue: string | Expression<string>;
  lowAt: number;
  lowId: string;
  highValue: string | Expression<string>;
  highAt: number;
  highId: string;
}

type Interval = ValueInterval & { field: number };

/** The ends of a time, neither of which belongs to it. */
export interface Window {
  startAt: number;
  startId: string;
  endAt: number;
  endId: string;
}

type SortedValues = Interval & Window & { limit: number };
type ChunkValues = Bounds & SortedValues & { size: number };

const readAhead = prepareVariants(formatShape, (db, shape: WalkShape, values: Bounds & { skipped: number }) =>
  selectEntries(db, shape, values).limit(sql.lit(1)).offset(values.skipped),
);

const readWhole = prepareVariants(formatShape, (db, shape: WalkShape, values: Bounds & { limit: number }) =>
  selectEntries(db, shape, values).limit(values.limit),
);

const readChunk = prepareVariants(formatShape, selectFromChunk);
const readSorted = prepareVariants(formatShape, selectSorted);
const readWindow = prepareVariants(formatShape, selectInWindow);
const readIntervalAhead = prepareStatement((db, values: Interval & { skipped: number }) =>
  selectInterval(db, values).limit(sql.lit(1)).offset(values.skipped),
);

/** Returns the key of a shape, for `prepareVariants`. */
export function formatShape(shape: object): string {
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
 * Lists the first entries of an interval in a window by time, whatever the length of the walk. Without the subquery of
 * listFromChunk it takes half as long.
 */
export async function listInWindow(
  { readInOrder: db, kind }: Pick<Database, 'readInOrder' | 'kind'>,
  order: EntryOrder,
  limit: number,
): Promise<Entry[]> {
  const { field, from, to, start, end, isDescending } = order;
  return toEntries(await readWindow(db, { isDescending, kind }, { field, from, to, start, end, limit }));
}

/** Returns true if the interval of the order has more than `size` entries, whatever their time. */
export async function hasMoreEntries(db: Reader, order: EntryOrder, size: number): Promise<boolean> {
  const interval = { field: order.field, ...pickInterval(order) };
  return (await readIntervalAhead(db, { ...interval, skipped: size })).length > 0;
}

/** Lists entries of the interval by time, although the order is by value. It reads the whole interval. */
export async function sortByTime(
  db: Reader,
  order: EntryOrder,
  after: RunPosition | null,
  { conditions, limit }: Conditional,
): Promise<Entry[]> {
  const interval = { field: order.field, ...pickInterval(order) };
  const values = { ...findWindow(order, after), ...interval, limit };
  const shape = { isDescending: order.isDescending, isFirst: after === null };
  const rows = isUnconditional(conditions)
    ? await readSorted(db, shape, values)
    : await addConditions(selectSorted(db, shape, values), conditions).execute();
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

/** Returns the entries of rows. */
export function toEntries(
  rows: readonly { value: string; created_at: number; run_id: Entry['id'] }[],
): Entry[] {
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
export function findWindow(
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
  if (by === 'time') {
    const times = { startAt: lowAt, startId: lowId, endAt: highAt, endId: highId };
    return query
      .where(isWithin(times, isDescending))
      .orderBy('created_at', direction)
      .orderBy('run_id', direction);
  }
  return query
    .where(sql<SqlBool>`(value, created_at, run_id) > (${lowValue}, ${lowAt}, ${lowId})`)
    .where(sql<SqlBool>`(value, created_at, run_id) < (${highValue}, ${highAt}, ${highId})`)
    .orderBy('value', direction)
    .orderBy('created_at', direction)
    .orderBy('run_id', direction);
}

/** Selects the entries of one value in the window, by time. */
export function selectEntriesOfValue(
  db: Reader,
  direction: Direction,
  value: string | Expression<string>,
  { field, startAt, startId, endAt, endId }: Window & { field: number },
) {
  const low = { lowValue: value, lowAt: startAt, lowId: startId };
  const high = { highValue: value, highAt: endAt, highId: endId };
  return selectEntries(db, { by: 'value', ...direction }, { field, ...low, ...high });
}

/**
 * The condition of a walk by time. Only the end where it begins has an id. Comparing tuples with both ends takes half as long
 * again on SQLite.
 */
export function isWithin(
  { startAt, startId, endAt, endId }: Window,
  isDescending: boolean,
): Expression<SqlBool> {
  return isDescending
    ? sql<SqlBool>`created_at >= ${startAt} and created_at <= ${endAt} and (created_at < ${endAt} or run_id < ${endId})`
    : sql<SqlBool>`created_at >= ${startAt} and created_at < ${endAt} and (created_at > ${startAt} or run_id > ${startId})`;
}

/** Selects entries of the interval and the window among the first `size` of a walk. */
function selectFromChunk(db: Reader, shape: WalkShape, values: ChunkValues) {
  const direction = shape.isDescending ? 'desc' : 'asc';
  const chunk = db
    .selectFrom(selectEntries(db, shape, values).limit(values.size).as('entry'))
    .select(['entry.value', 'entry.created_at', 'entry.run_id'])
    .where(sql<SqlBool>`entry.value >= ${values.from} and entry.value <= ${values.to}`)
    .limit(values.limit);
  // A walk by time is inside the window.
  const ordered =
    shape.by === 'value' ? chunk.where(isInWindow(values)).orderBy('entry.value', direction) : chunk;
  return ordered.orderBy('entry.created_at', direction).orderBy('entry.run_id', direction);
}

type WindowValues = Interval & Pick<EntryOrder, 'start' | 'end'> & { limit: number };

/**
 * The condition on the value comes first, because it excludes most entries: 5000 of them take SQLite 0.20 ms, and 0.33 ms with
 * the time first. Its plus keeps SQLite from the index of the values. PostgreSQL does not sort here, and so needs none.
 */
function selectInWindow(
  db: Reader,
  { isDescending, kind }: Direction & Pick<Database, 'kind'>,
  values: WindowValues,
) {
  const { field, from, to, start, end, limit } = values;
  const value = sql.raw(kind === 'sqlite' ? '+value' : 'value');
  const direction = isDescending ? 'desc' : 'asc';
  return db
    .selectFrom('run_values')
    .select(['value', 'created_at', 'run_id'])
    .where('field', '=', field)
    .where(sql<SqlBool>`${value} between ${from} and ${to}`)
    .where('created_at', '>=', start)
    .where('created_at', '<', end)
    .orderBy('created_at', direction)
    .orderBy('run_id', direction)
    .limit(limit);
}

/** Selects entries of an interval in the order of the index. The bounds are values alone: tuples take a third longer. */
function selectInterval(db: Reader, { field, from, to }: Interval) {
  return db
    .selectFrom('run_values')
    .select(['value', 'created_at', 'run_id'])
    .where('field', '=', field)
    .where('value', '>=', from)
    .where('value', '<=', to)
    .orderBy('value')
    .orderBy('created_at')
    .orderBy('run_id');
}

/**
 * Selects entries of the interval and the window by time. It reads the whole interval. The conditions on the time and the order
 * are expressions that no index has, so that both databases walk the index of the values: 5000 entries take SQLite 0.3 ms.
 */
function selectSorted(db: Reader, { isDescending, isFirst }: SortShape, values: SortedValues) {
  const direction = isDescending ? 'desc' : 'asc';
  const { field, from, to, limit } = values;
  return db
    .selectFrom('run_values as entry')
    .select(['entry.value', 'entry.created_at', 'entry.run_id'])
    .where('entry.field', '=', field)
    .where('entry.value', '>=', from)
    .where('entry.value', '<=', to)
    .where(isFirst ? isInWholeWindow(values) : isInWindow(values))
    .orderBy(sql`entry.created_at + 0`, direction)
    .orderBy('entry.run_id', direction)
    .limit(limit);
}

/** The condition has no tuples, for which the index of the times would be used. */
function isInWindow({ startAt, startId, endAt, endId }: Window): Expression<SqlBool> {
  return sql<SqlBool>`(entry.created_at > ${startAt} or entry.created_at = ${startAt} and entry.run_id > ${startId})
    and (entry.created_at < ${endAt} or entry.created_at = ${endAt} and entry.run_id < ${endId})`;
}

/** The condition of the window without a position. It takes SQLite a third of the time of the other one. */
function isInWholeWindow({ startAt, endAt }: Window): Expression<SqlBool> {
  return sql<SqlBool>`entry.created_at + 0 >= ${startAt} and entry.created_at + 0 < ${endAt}`;
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
