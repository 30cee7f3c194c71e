/**
 * Finds the next entries of an order that satisfy conditions. A scan reads a bounded number of entries, and returns to the
 * event loop between chunks, so that no filter blocks other requests. It may therefore end before it has found enough.
 */
import { setImmediate } from 'node:timers/promises';
import type { Reader } from '../../database/database.ts';
import { ANY_VALUE } from '../values/encode-value.ts';
import { comparePositions, type RunPosition } from './run-filter.ts';
import {
  type Entry,
  type EntryConditions,
  type EntryOrder,
  type EntryRange,
  findEntryAhead,
  listEntries,
} from './value-entries.ts';

/** SQLite reads a chunk in 1 to 5 ms, and nothing else runs meanwhile. */
const CHUNK_ENTRIES = 2000;
const CHUNKS_MAX = 25;
/**
 * A scan by time of an interval of values stops before these chunks and looks how many entries the interval has. If they
 * are at most so many, it reads and sorts them, rather than all entries of the field.
 */
const SORTED_ENTRIES_MAX = new Map([
  [1, 500],
  [8, 5000],
]);

/** The found entries in their order, and the position up to which the scan has read; null for the end of the order. */
export interface Scan {
  found: Entry[];
  through: RunPosition | null;
}

/** The beginning of a scan, and the number of entries to find. */
export interface ScanRequest {
  after: RunPosition | null;
  count: number;
}

/** Finds entries of the order that satisfy the conditions. */
export async function scanEntries(
  db: Reader,
  order: EntryOrder,
  conditions: EntryConditions,
  { after, count }: ScanRequest,
): Promise<Scan> {
  const isUnconditional = conditions.present.length === 0 && conditions.absent === null;
  const isWhole = order.by === 'time' ? isAnyValue(order) : order.from === order.to;
  if (isUnconditional && isWhole) {
    const found = await listEntries(db, order, { after, until: null }, { conditions, limit: count });
    return { found, through: found.length < count ? null : (found.at(-1) ?? null) };
  }
  const found: Entry[] = [];
  let position = after;
  for (let chunk = 0; chunk < CHUNKS_MAX; chunk += 1) {
    if (chunk > 0) await setImmediate();
    const sortedMax = SORTED_ENTRIES_MAX.get(chunk);
    if (sortedMax !== undefined && order.by === 'time' && !isAnyValue(order)) {
      const request = { after: position, count: count - found.length, entriesMax: sortedMax };
      const rest = await sortEntries(db, order, conditions, request);
      if (rest) return { found: [...found, ...rest.found], through: rest.through };
    }
    const until: Entry | null = (await findEntryAhead(db, order, position, CHUNK_ENTRIES)) ?? null;
    const range: EntryRange = { after: position, until };
    found.push(...(await listEntries(db, order, range, { conditions, limit: count - found.length })));
    if (found.length >= count) return { found, through: found.at(-1) ?? null };
    if (until === null) return { found, through: null };
    position = until;
  }
  return { found, through: position };
}

function isAnyValue({ from, to }: EntryOrder): boolean {
  return from === ANY_VALUE.from && to === ANY_VALUE.to;
}

/** Reads all entries between the values and sorts them by time; returns undefined if there are too many. */
async function sortEntries(
  db: Reader,
  order: EntryOrder,
  conditions: EntryConditions,
  { after, count, entriesMax }: ScanRequest & { entriesMax: number },
): Promise<Scan | undefined> {
  const { isDescending } = order;
  const entries = await listEntries(
    db,
    { ...order, by: 'value' },
    { after: null, until: null },
    { conditions, limit: entriesMax + 1 },
  );
  if (entries.length > entriesMax) return undefined;
  const later = entries
    .filter((entry) => after === null || comparePositions(after, entry, isDescending) < 0)
    .sort((one, other) => comparePositions(one, other, isDescending));
  const found = later.slice(0, count);
  return { found, through: later.length <= count ? null : (found.at(-1) ?? null) };
}
