/** Counts the newest runs of a list, by status, and finds the median of their execution times. */
import { setImmediate } from 'node:timers/promises';
import { COUNTED_RUNS_MAX } from '@switchyard/contract/limits.ts';
import { findMedian } from '@switchyard/contract/presentation/estimate-time.ts';
import type { RunListCounts } from '@switchyard/contract/runs/run-counts.ts';
import { type Page, slicePage } from '../../platform/http/lists/pagination.ts';
import * as store from '../store/runs.ts';
import { listFilteredRuns } from './list-filtered-runs.ts';
import { isPlainFilter, type ListParts } from './list-run-page.ts';
import type { RunFilter, RunPosition } from './run-filter.ts';
import { findVisibleFilter, type RunList } from './visible-filter.ts';

/** SQLite reads this many rows in 2 ms, and nothing else runs meanwhile. */
const PAGE_RUNS = 500;
/** A page of a filter takes up to 150 ms, and the counts are promised in 300 ms. */
const COUNT_MS_MAX = 90;

/** Counts the runs that satisfy the filter and that the role may find, up to a number and a time. */
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
    const limit = Math.min(PAGE_RUNS, COUNTED_RUNS_MAX - runs);
    const page = await readPage(parts, list.applicationUid, filter, { after, limit, isProduction });
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

async function readPage(
  { database: { read, readInOrder }, clock }: ListParts,
  applicationUid: string,
  filter: RunFilter,
  request: { after: RunPosition | null; limit: number; isProduction: boolean },
): Promise<Page<store.CountedRun>> {
  if (isPlainFilter(filter)) {
    const rows = await store
      .selectRuns(read, applicationUid, filter, request)
      .select(store.COUNTED_COLUMNS)
      .execute();
    return slicePage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  }
  const { ids, next } = await listFilteredRuns({ readInOrder, clock }, applicationUid, filter, request);
  return { items: await store.findCountedRuns(readInOrder, ids, request.isProduction), next };
}
