/** Finds the entries of several values of a field by time: each value has its own order in the index. */
import { type SqlBool, sql } from 'kysely';
import type { Database, Reader } from '../../platform/database/database.ts';
import { prepareVariants } from '../../platform/database/prepared-statements.ts';
import { listDistinctValues, withDistinctValues } from './distinct-values.ts';
import type { RunPosition } from './run-filter.ts';
import {
  type Entry,
  type EntryOrder,
  findWindow,
  formatShape,
  isWithin,
  selectEntriesOfValue,
  toEntries,
  type Window,
} from './value-entries.ts';

/** No value is empty. */
const NO_VALUE = '';
/** Entries of each value: this many times the average, and some more. Few lists have a value that exceeds them. */
const SHARE_FACTOR = 2;
const FEW_ENTRIES = 6;
/** Statements of several values have one of these numbers of them, because each is prepared once. */
const VALUES_PER_STATEMENT = [1, 2, 4, 8, 12, 16, 32];

interface MergeShape {
  isDescending: boolean;
  count: number;
}

type CompoundShape = MergeShape & { isFirst: boolean };

type CompoundValues = Window & { field: number; limit: number } & Record<`value${number}`, string>;
type MergeValues = CompoundValues & { limitOfValue: number };

const readFewValues = prepareVariants(formatShape, selectFewValues);
const readMerged = prepareVariants(formatShape, selectMerged);
const readCompound = prepareVariants(formatShape, selectCompound);

/**
 * Lists the first entries after the position that have one of the values, by time. SQLite merges the values in the order of
 * their index. On PostgreSQL it reads a few entries of each value, and as many as are wanted only if these do not suffice.
 */
export async function listEntriesOfValues(
  { readInOrder: db, kind }: Pick<Database, 'readInOrder' | 'kind'>,
  order: EntryOrder,
  values: readonly string[],
  { after, limit }: { after: RunPosition | null; limit: number },
): Promise<Entry[]> {
  const count = VALUES_PER_STATEMENT.find((size) => size >= values.length) ?? values.length;
  const shape = { isDescending: order.isDescending, count };
  const named = { field: order.field, limit, ...findWindow(order, after), ...nameValues(values, count) };
  if (kind === 'sqlite')
    return toEntries(await readCompound(db, { ...shape, isFirst: after === null }, named));
  const listMerged = async (limitOfValue: number): Promise<Entry[]> =>
    toEntries(await readMerged(db, shape, { ...named, limitOfValue }));
  const share = computeShare(limit, values.length);
  const first = await listMerged(share);
  return isComplete(first, { limit, share }) ? first : listMerged(limit);
}

/**
 * Lists the first entries after the position in an interval of at most `valuesMax` values, by time. Returns null for more values.
 * On PostgreSQL it is one statement, because each of them wakes another process.
 */
export async function listEntriesOfFewValues(
  source: Pick<Database, 'readInOrder' | 'kind'>,
  order: EntryOrder,
  valuesMax: number,
  { after, limit }: { after: RunPosition | null; limit: number },
): Promise<Entry[] | null> {
  const { readInOrder: db, kind } = source;
  if (kind === 'sqlite') {
    const values = await listDistinctValues(db, order, valuesMax + 1);
    return values.length > valuesMax ? null : listEntriesOfValues(source, order, values, { after, limit });
  }
  const { field, from, to, isDescending } = order;
  const named = {
    field,
    from,
    to,
    limit,
    valuesMax,
    valuesLimit: valuesMax + 1,
    ...findWindow(order, after),
  };
  const read = async (shareFactor: number): Promise<{ entries: Entry[]; values: number }> => {
    const rows = await readFewValues(db, { isDescending }, { ...named, shareFactor });
    const entries = rows.flatMap(({ value, created_at, run_id }) =>
      value === null || created_at === null || run_id === null ? [] : [{ value, at: created_at, id: run_id }],
    );
    return { entries, values: Number(rows[0]?.values ?? 0) };
  };
  const { entries, values } = await read(SHARE_FACTOR);
  if (values > valuesMax) return null;
  if (isComplete(entries, { limit, share: computeShare(limit, values) })) return entries;
  // With this factor the share is the limit.
  return (await read(valuesMax)).entries;
}

/** Returns the number of entries to read of each value. */
function computeShare(limit: number, values: number): number {
  return Math.min(limit, Math.floor((SHARE_FACTOR * limit) / Math.max(1, values)) + FEW_ENTRIES);
}

/**
 * Returns true if no entry can be missing of which only `share` of each value were read. The next entry of a value stands after
 * those of it, so it is missing only if all of these are listed.
 */
function isComplete(entries: readonly Entry[], { limit, share }: { limit: number; share: number }): boolean {
  if (share === limit) return true;
  const counts = new Map<string, number>();
  for (const { value } of entries) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()].every((count) => count < share);
}

function nameValues(values: readonly string[], count: number): Record<`value${number}`, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`value${index}`, values[index] ?? NO_VALUE]),
  );
}

function listSlots(values: CompoundValues, count: number): string[] {
  return Array.from({ length: count }, (_, index) => values[`value${index}`] ?? NO_VALUE);
}

type FewValues = Window & {
  field: number;
  from: string;
  to: string;
  limit: number;
  valuesMax: number;
  valuesLimit: number;
  shareFactor: number;
};

/**
 * Selects the first entries of each distinct value, and the first of these by time, each with the number of values. It reads
 * no entries of more values than the maximum.
 */
function selectFewValues(db: Reader, { isDescending }: Pick<EntryOrder, 'isDescending'>, values: FewValues) {
  const direction = isDescending ? 'desc' : 'asc';
  const { field, from, to, limit, valuesMax, valuesLimit, shareFactor } = values;
  const count = sql<number>`(select count(*) from few)`;
  const share = sql<number>`(select least(${limit}::bigint, ${shareFactor}::bigint * ${limit}::bigint / count(*) + ${sql.lit(FEW_ENTRIES)}) from few)`;
  return withDistinctValues(db, { field, from, to })
    .with('few', (query) =>
      query
        .selectFrom('distinct_values')
        .select('distinct_values.value')
        .where('distinct_values.value', 'is not', null)
        .limit(valuesLimit),
    )
    .selectFrom('few')
    .leftJoinLateral(
      () =>
        selectEntriesOfValue(db, { isDescending }, sql.ref('few.value'), values)
          .where(sql<SqlBool>`${count} <= ${valuesMax}`)
          .limit(share)
          .as('entry'),
      (join) => join.onTrue(),
    )
    .select(['entry.value', 'entry.created_at', 'entry.run_id'])
    .select(count.as('values'))
    .orderBy('entry.created_at', (order) => (isDescending ? order.desc().nullsLast() : order.asc()))
    .orderBy('entry.run_id', direction)
    .limit(limit);
}

/** Selects the first entries of each value, and the first of these by time. */
function selectMerged(db: Reader, { isDescending, count }: MergeShape, values: MergeValues) {
  const direction = isDescending ? 'desc' : 'asc';
  const { limit, limitOfValue } = values;
  const select = (value: string) => {
    const entries = selectEntriesOfValue(db, { isDescending }, value, values).limit(limitOfValue);
    return db.selectFrom(entries.as('one')).selectAll();
  };
  const [first = NO_VALUE, ...others] = listSlots(values, count);
  const merged = others.reduce((query, value) => query.unionAll(select(value)), select(first));
  return db
    .selectFrom(merged.as('entry'))
    .select(['entry.value', 'entry.created_at', 'entry.run_id'])
    .orderBy('entry.created_at', direction)
    .orderBy('entry.run_id', direction)
    .limit(limit);
}

/**
 * Selects the first entries of all values by time. SQLite walks the index of each value, and merges them as it reads: 51 entries
 * of eleven values take 0.1 ms, and 0.3 ms by selectMerged. PostgreSQL would sort them, which takes 1 ms. Without a position,
 * the condition has no ids, which would take a third longer.
 */
function selectCompound(db: Reader, { isDescending, isFirst, count }: CompoundShape, values: CompoundValues) {
  const direction = isDescending ? 'desc' : 'asc';
  const { field, limit, startAt, endAt } = values;
  const isInside = isFirst
    ? sql<SqlBool>`created_at >= ${startAt} and created_at < ${endAt}`
    : isWithin(values, isDescending);
  const select = (value: string) =>
    db
      .selectFrom('run_values')
      .select(['value', 'created_at', 'run_id'])
      .where('field', '=', field)
      .where('value', '=', value)
      .where(isInside);
  const [first = NO_VALUE, ...others] = listSlots(values, count);
  const compound = others
    .reduce((query, value) => query.unionAll(select(value)), select(first))
    .orderBy('created_at', direction)
    .orderBy('run_id', direction)
    .limit(limit);
  return db.selectFrom(compound.as('entry')).select(['entry.value', 'entry.created_at', 'entry.run_id']);
}
