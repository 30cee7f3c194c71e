/**
 * Finds the next entries of an order that satisfy conditions. A scan reads a bounded number of entries, and returns to the
 * event loop between chunks, so that no filter blocks other requests. It may therefore end before it has found enough.
 */
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Database, Reader } from '../../platform/database/database.ts';
import { memoizeByObject } from '../../platform/memoize.ts';
import { ANY_VALUE, isText } from '../values/encode-value.ts';
import type { RunPosition } from './run-filter.ts';
import { listEntriesOfFewValues, listEntriesOfValues } from './several-values.ts';
import {
  type Entry,
  type EntryConditions,
  type EntryOrder,
  findEntryAhead,
  hasMoreEntries,
  listEntries,
  listFromChunk,
  listInWindow,
  sortByTime,
} from './value-entries.ts';

/** SQLite reads a chunk in 1 to 5 ms, and nothing else runs meanwhile. */
const CHUNK_ENTRIES = 2000;
/** So many entries show how frequent the matching ones are. */
const FIRST_CHUNK_ENTRIES = 200;
/** Without conditions on other fields an entry takes a third of the time. */
const SIMPLE_CHUNK_ENTRIES = 8000;
/** Takes SQLite 0.08 ms and PostgreSQL 0.1 ms. */
const FIRST_SIMPLE_CHUNK_ENTRIES = 600;
const SCAN_ENTRIES_MAX = 50_000;
/**
 * A scan by time that finds few entries of an interval of values reads and sorts all entries of the interval once, if they
 * are at most so many. On SQLite that takes 0.2 ms for 2000 entries, and 0.4 ms for 6000.
 */
const SORTED_ENTRIES_MAX = 6000;
/**
 * With so many of the entries in the interval, both ways cost the same. SQLite counts and sorts 5000 entries of an interval in
 * 0.5 ms, and reads as many by time in 0.6 ms. PostgreSQL takes 1.9 and 0.8 ms.
 */
const FREQUENT_SHARES = { sqlite: 0.015, postgres: 0.006 };
const PAST_SCAN_MS = 60_000;
/** With fewer of the entries in the interval, sorting them is faster than reading up to the end of a page. */
const SHARES_TO_SCAN_AGAIN = { sqlite: 0.007, postgres: 0.006 };
/** Words with one beginning are often few. Then the newest entries of each are read. */
const MERGED_VALUES_MAX = 16;

/** The found entries in their order, and the position up to which the scan has read; null for the end of the order. */
export interface Scan {
  found: Entry[];
  through: RunPosition | null;
}

/** The database of the entries. */
export type EntrySource = Pick<Database, 'readInOrder' | 'kind'>;

/** The beginning of a scan, and the number of entries to find. */
export interface ScanRequest {
  after: RunPosition | null;
  count: number;
  /** The part of the maximum length that the scan may have; 1 by default. */
  share?: number;
}

/** Finds entries that have one of the values, by time. */
export async function findEntriesOfValues(
  source: EntrySource,
  order: EntryOrder,
  values: readonly string[],
  { after, count }: ScanRequest,
): Promise<Scan> {
  const found = await listEntriesOfValues(source, order, values, { after, limit: count });
  return endWhole(found, count);
}

/** Finds entries of the order that satisfy the conditions. */
export async function scanEntries(
  source: EntrySource,
  order: EntryOrder,
  conditions: EntryConditions,
  { after, count, share = 1 }: ScanRequest,
): Promise<Scan> {
  const { readInOrder: db, kind } = source;
  const isUnconditional = conditions.present.length === 0 && conditions.absent === null;
  const isWhole = order.by === 'time' ? isAnyValue(order) : order.from === order.to;
  if (isUnconditional && isWhole) return endWhole(await listEntries(db, order, after, count), count);
  const chunkMax = isUnconditional ? SIMPLE_CHUNK_ENTRIES : CHUNK_ENTRIES;
  const firstChunk = isUnconditional ? FIRST_SIMPLE_CHUNK_ENTRIES : FIRST_CHUNK_ENTRIES;
  const entriesMax = Math.max(firstChunk, Math.floor(SCAN_ENTRIES_MAX * share));
  let mayGoBack = isUnconditional;
  let maySort = order.by === 'time' && !isAnyValue(order);
  if (maySort && isUnconditional && isText(order)) {
    const few = await listEntriesOfFewValues(source, order, MERGED_VALUES_MAX, { after, limit: count });
    if (few) return endWhole(few, count);
  }
  const sortRare = async (shareFound: number): Promise<Scan | undefined> => {
    if (!maySort || shareFound >= FREQUENT_SHARES[kind]) return undefined;
    maySort = false;
    if (!past.scan?.isSorted && (await hasMoreEntries(db, order, SORTED_ENTRIES_MAX))) return undefined;
    const sorted = await sortByTime(db, order, after, { conditions, limit: count });
    past.store({ share: shareFound, last: sorted.at(count - 1), isSorted: true });
    return endWhole(sorted, count);
  };
  const past = findPastScan(db, maySort && isUnconditional && after === null ? order : null);
  const again =
    past.scan && ((await scanAgain(source, order, count, past.scan)) ?? (await sortRare(past.scan.share)));
  if (again) return again;
  const found: Entry[] = [];
  let position = after;
  const first = past.scan ? Math.max(firstChunk, estimateEntries(count, past.scan.share)) : firstChunk;
  for (let read = 0, size = Math.min(chunkMax, first); read < entriesMax; ) {
    if (read > 0) await setImmediate();
    const walk = { after: position, size: Math.min(size, entriesMax - read) };
    const limit = count - found.length;
    found.push(...(await listFromChunk(db, order, walk, { conditions, limit })));
    if (found.length >= count) {
      const shareFound = past.scan?.share ?? count / (read + walk.size);
      past.store({ share: shareFound, last: found.at(-1), isSorted: false });
      return { found, through: found.at(-1) ?? null };
    }
    read += walk.size;
    const shareFound = found.length / read;
    past.store({ share: shareFound, last: undefined, isSorted: false });
    const sorted = await sortRare(shareFound);
    if (sorted) return sorted;
    size = Math.min(
      chunkMax,
      Math.max(FIRST_CHUNK_ENTRIES, estimateEntries(count - found.length, shareFound)),
    );
    if (mayGoBack) {
      // Reading the entries after the last found one again costs less than the statement that finds where the chunk ended.
      mayGoBack = false;
      position = found.at(-1) ?? after;
      if (found.length === 0) read = 0;
      size = Math.min(chunkMax, walk.size + size);
      continue;
    }
    const last = await findEntryAhead(db, order, position, walk.size);
    if (!last) return { found, through: null };
    position = last;
  }
  return { found, through: position };
}

/** The first page of an interval by time, as an earlier scan found it. */
interface PastScan {
  /** The time at which its window began, in the order of the scan. */
  begin: number;
  /** The share of the entries that was in the interval. */
  share: number;
  /** The last entry of the page; undefined when the scan did not fill it. */
  last: Entry | undefined;
  /** True if the interval had few enough entries to sort them. */
  isSorted: boolean;
}

/**
 * The past scans of intervals. The next scan begins by them, because a page of the console reads the same list again and
 * again. They only decide between ways to the same entries.
 */
const getPastScans = memoizeByObject(
  (_db: Reader) => new LRUCache<string, PastScan>({ max: 10_000, ttl: PAST_SCAN_MS, noUpdateTTL: true }),
);

/** Returns the past scan of the order, and a function that stores one. A scan without an order has none. */
function findPastScan(db: Reader, order: EntryOrder | null) {
  const scans = getPastScans(db);
  const key = order && `${order.field} ${order.from} ${order.to} ${order.isDescending}`;
  return {
    scan: key === null ? undefined : scans.get(key),
    store(result: Omit<PastScan, 'begin'>): void {
      if (order === null || key === null) return;
      this.scan = { ...result, begin: getBegin(order) };
      scans.set(key, this.scan);
    },
  };
}

const getBegin = ({ isDescending, start, end }: EntryOrder): number => (isDescending ? end : start);

/**
 * Reads up to the end of the past page. Returns undefined if the page is no longer full, and for a rare interval. So it does for a
 * window that begins much earlier in the order, because very many entries may come before the page.
 */
async function scanAgain(
  source: EntrySource,
  order: EntryOrder,
  count: number,
  { begin, share, last }: PastScan,
): Promise<Scan | undefined> {
  const { isDescending, start, end } = order;
  const isBefore = isDescending ? end > begin + PAST_SCAN_MS : start < begin;
  const isInside = last !== undefined && last.at >= start && last.at < end;
  if (isBefore || !isInside || share < SHARES_TO_SCAN_AGAIN[source.kind]) return undefined;
  const near = { ...order, ...(isDescending ? { start: last.at } : { end: last.at + 1 }) };
  const found = await listInWindow(source, near, count);
  return found.length < count ? undefined : endWhole(found, count);
}

/** Returns in how many entries a scan finds so many, and half as many again: they are not spread evenly. */
function estimateEntries(count: number, shareFound: number): number {
  return Math.ceil((1.5 * count) / shareFound);
}

function endWhole(found: Entry[], count: number): Scan {
  return { found, through: found.length < count ? null : (found.at(-1) ?? null) };
}

function isAnyValue({ from, to }: EntryOrder): boolean {
  return from === ANY_VALUE.from && to === ANY_VALUE.to;
}
