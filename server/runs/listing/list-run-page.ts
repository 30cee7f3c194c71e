/** Lists or counts the runs of an application: all of them by an index on their creation time, or those of a filter. */
import { setImmediate } from 'node:timers/promises';
import { COUNTED_RUNS_MAX } from '@switchyard/contract/limits.ts';
import { findMedian } from '@switchyard/contract/presentation/estimate-time.ts';
import type { RunListCounts } from '@switchyard/contract/runs/run-counts.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { findHiddenOptions } from '../../apps/applications/executables-store.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { type Page, type PageRequest, slicePage } from '../../platform/http/lists/pagination.ts';
import * as store from '../store/runs.ts';
import { listFilteredRuns, type RunSource } from './list-filtered-runs.ts';
import type { RunFilter, RunPosition } from './run-filter.ts';
import { findVisibleFilter, listHiddenFields, type RunList } from './visible-filter.ts';

/** SQLite reads this many rows in 2 ms, and nothing else runs meanwhile. */
const COUNT_PAGE_RUNS = 500;
/** A page of a filter takes up to 150 ms, and the counts are promised in 300 ms. */
const COUNT_MS_MAX = 90;

/** A run of a page, and the names of its options that the role does not see. */
export type VisibleRun = store.ListedRun & { hiddenOptions: ReadonlySet<string> };

/** The database and the clock of lists. */
export interface ListParts {
  database: Pick<Database, 'read' | 'readInOrder'>;
  clock: RunSource['clock'];
}

/**
 * Returns the page; with a filter it can have fewer runs than the limit although more follow. Neither its runs nor the position
 * of the next page depend on the values of options that are hidden from the role.
 */
export async function listRunPage(
  parts: ListParts,
  list: RunList,
  requested: RunFilter,
  request: { after: RunPosition | null; limit: number; isProduction: boolean },
): Promise<Page<VisibleRun>> {
  const { read } = parts.database;
  const filter = await findVisibleFilter(read, list, requested);
  const { items, next } = filter
    ? await readPage(parts, { applicationUid: list.applicationUid, filter }, request, LISTED)
    : { items: [], next: null };
  const executables = items.map((run) => run.executable_id);
  const listHidden = await findHiddenOptions(read, executables, list.role);
  return { items: items.map((run) => ({ ...run, hiddenOptions: listHidden(run.executable_id) })), next };
}

/** The statements that read runs as a list or a count needs them. */
interface Statements<Row> {
  list: (
    db: Reader,
    applicationUid: string,
    window: RunFilter,
    page: PageRequest & { limit: number; isProduction: boolean },
  ) => Promise<Row[]>;
  find: (db: Reader, applicationUid: string, ids: readonly RunId[], isProduction: boolean) => Promise<Row[]>;
}

const LISTED: Statements<store.ListedRun> = {
  list: store.listRuns,
  async find(db, applicationUid, ids, isProduction) {
    const runs = await store.findListedRuns(db, applicationUid, ids);
    return isProduction ? runs.filter(store.isProductionRun) : runs;
  },
};

const COUNTED: Statements<store.CountedRun> = {
  list: (db, applicationUid, window, page) =>
    store.selectRuns(db, applicationUid, window, page).select(store.COUNTED_COLUMNS).execute(),
  find: (db, _, ids, isProduction) => store.findCountedRuns(db, ids, isProduction),
};

async function readPage<Row extends { id: string; created_at: number }>(
  { database: { read, readInOrder }, clock }: ListParts,
  { applicationUid, filter }: { applicationUid: string; filter: RunFilter },
  request: { after: RunPosition | null; limit: number; isProduction: boolean },
  { list, find }: Statements<Row>,
): Promise<Page<Row>> {
  if (isPlainFilter(filter)) {
    const rows = await list(read, applicationUid, filter, request);
    return slicePage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  }
  const { ids, next } = await listFilteredRuns({ readInOrder, clock }, applicationUid, filter, request);
  return { items: await find(readInOrder, applicationUid, ids, request.isProduction), next };
}

/** Counts the runs that satisfy the filter and that the role may find, newest first, up to a number and a time. */
export async function countFilteredRuns(
  parts: ListParts,
  list: RunList,
  requested: RunFilter,
  isProduction: boolean,
): Promise<RunListCounts> {
  const begin = parts.clock.elapsed();
  const filter = await findVisibleFilter(parts.database.read, list, { ...requested, sort: null });
  const statuses = { none: 0, queued: 0, running: 0, succeeded: 0, failed: 0, canceled: 0 };
  const durations: number[] = [];
  let runs = 0;
  let after: RunPosition | null = null;
  let isComplete = filter === null;
  while (filter && !isComplete && runs < COUNTED_RUNS_MAX && parts.clock.elapsed() - begin < COUNT_MS_MAX) {
    const request = { after, limit: Math.min(COUNT_PAGE_RUNS, COUNTED_RUNS_MAX - runs), isProduction };
    const { applicationUid } = list;
    const page: Page<store.CountedRun> = await readPage(parts, { applicationUid, filter }, request, COUNTED);
    for (const { status, execution_ms } of page.items) {
      statuses[status] += 1;
      if (status === 'succeeded' && execution_ms !== null) durations.push(execution_ms);
    }
    runs += page.items.length;
    after = page.next;
    isComplete = after === null;
    await setImmediate();
  }
  const median_execution_duration = findMedian(durations) ?? null;
  return { runs, is_complete: isComplete, statuses, median_execution_duration };
}

/**
 * Returns the scope of the page tokens of a filter and its order. A token of a role that sees an option is invalid for a role
 * that does not: its position depends on the values of the option.
 */
export async function formatTokenScope(db: Reader, list: RunList, filter: RunFilter): Promise<string> {
  const { start: _start, end: _end, ...order } = filter;
  const requested = isPlainFilter(filter) ? '' : ` ${JSON.stringify(order)}`;
  const hidden = await listHiddenFields(db, list, filter);
  return hidden.length === 0 ? requested : `${requested} without ${JSON.stringify(hidden)}`;
}

/** Returns true for all runs of the window, newest first. */
function isPlainFilter({ conditions, sort, isDescending }: RunFilter): boolean {
  return conditions.length === 0 && sort === null && isDescending;
}
