/** Lists a page of the runs of an application: all of them by an index on their creation time, or those of a filter. */
import type { Role } from '@switchyard/contract/roles.ts';
import { listHiddenColumns } from '../../apps/applications/executables-store.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { type Page, slicePage } from '../../platform/http/lists/pagination.ts';
import * as store from '../store/runs.ts';
import { listFilteredRuns } from './list-filtered-runs.ts';
import { listFilterOptions, listOptionOfField, type RunFilter, type RunPosition } from './run-filter.ts';

/** Returns true for all runs of the window, newest first. */
export function isPlainFilter({
  conditions,
  sort,
  isDescending,
}: Pick<RunFilter, 'conditions' | 'sort' | 'isDescending'>): boolean {
  return conditions.length === 0 && sort === null && isDescending;
}

/** A list of runs as one role sees it. */
export interface RunList {
  applicationUid: string;
  role: Role;
}

/**
 * Returns the page; with a filter it can have fewer runs than the limit although more follow. An option that is hidden from the
 * role is one that no run has: nothing satisfies a condition on it, and it orders nothing. So neither the runs of the page nor
 * the position of the next one depend on its values.
 */
export async function listRunPage(
  database: Pick<Database, 'read' | 'readInOrder' | 'kind'>,
  { applicationUid, role }: RunList,
  requested: RunFilter,
  request: { after: RunPosition | null; limit: number; isProduction: boolean },
): Promise<Page<store.ListedRun>> {
  const { read, readInOrder, kind } = database;
  const filter = await withoutHiddenColumns(read, { applicationUid, role }, requested);
  if (filter !== null && isPlainFilter(filter)) {
    const rows = await store.listRuns(read, applicationUid, filter, request);
    return slicePage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  }
  if (filter === null) return { items: [], next: null };
  const { ids, next } = await listFilteredRuns({ readInOrder, kind }, applicationUid, filter, request);
  const items = await store.findListedRuns(readInOrder, applicationUid, ids);
  return { items: request.isProduction ? items.filter(store.isProductionRun) : items, next };
}

/** Returns the filter without an order by a hidden option; null when a condition on one makes the list empty. */
async function withoutHiddenColumns(
  db: Reader,
  { applicationUid, role }: RunList,
  filter: RunFilter,
): Promise<RunFilter | null> {
  const names = listFilterOptions(filter);
  if (names.length === 0) return filter;
  const hidden = await listHiddenColumns(db, applicationUid, role);
  const isHidden = (field: string): boolean => listOptionOfField(field).some((name) => hidden.has(name));
  if (filter.conditions.some(({ field }) => isHidden(field))) return null;
  // Runs without the field of an order come newest first.
  return filter.sort !== null && isHidden(filter.sort)
    ? { ...filter, sort: null, isDescending: true }
    : filter;
}
