/** Lists a page of the runs of an application: all of them by an index on their creation time, or those of a filter. */
import type { Database } from '../../database/database.ts';
import { type Page, slicePage } from '../../http/lists/pagination.ts';
import * as store from '../store/runs.ts';
import { assertBackfilled } from './backfill.ts';
import { listFilteredRuns } from './list-filtered-runs.ts';
import type { RunFilter, RunPosition } from './run-filter.ts';

/** Returns true for all runs of the window, newest first. */
export function isPlainFilter({
  conditions,
  sort,
  isDescending,
}: Pick<RunFilter, 'conditions' | 'sort' | 'isDescending'>): boolean {
  return conditions.length === 0 && sort === null && isDescending;
}

/** Returns the page; with a filter it can have fewer runs than the limit although more follow. */
export async function listRunPage(
  { read, readInOrder, kind }: Pick<Database, 'read' | 'readInOrder' | 'kind'>,
  applicationUid: string,
  filter: RunFilter,
  request: { after: RunPosition | null; limit: number },
): Promise<Page<store.ListedRun>> {
  if (isPlainFilter(filter)) {
    const rows = await store.listRuns(read, applicationUid, filter, request);
    return slicePage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  }
  const [{ ids, next }] = await Promise.all([
    listFilteredRuns({ readInOrder, kind }, applicationUid, filter, request),
    assertBackfilled(read, applicationUid),
  ]);
  return { items: await store.findListedRuns(readInOrder, applicationUid, ids), next };
}
