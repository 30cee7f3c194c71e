/** Lists a page of the runs of an application: all of them by an index on their creation time, or those of a filter. */
import { findHiddenOptions } from '../../apps/applications/executables-store.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { type Page, slicePage } from '../../platform/http/lists/pagination.ts';
import * as store from '../store/runs.ts';
import { listFilteredRuns, type RunSource } from './list-filtered-runs.ts';
import type { RunFilter, RunPosition } from './run-filter.ts';
import { findVisibleFilter, listHiddenFields, type RunList } from './visible-filter.ts';

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
    ? await listVisibleRuns(parts, list.applicationUid, filter, request)
    : { items: [], next: null };
  const executables = items.map((run) => run.executable_id);
  const listHidden = await findHiddenOptions(read, executables, list.role);
  return { items: items.map((run) => ({ ...run, hiddenOptions: listHidden(run.executable_id) })), next };
}

async function listVisibleRuns(
  { database: { read, readInOrder }, clock }: ListParts,
  applicationUid: string,
  filter: RunFilter,
  request: { after: RunPosition | null; limit: number; isProduction: boolean },
): Promise<Page<store.ListedRun>> {
  if (isPlainFilter(filter)) {
    const rows = await store.listRuns(read, applicationUid, filter, request);
    return slicePage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  }
  const { ids, next } = await listFilteredRuns({ readInOrder, clock }, applicationUid, filter, request);
  const items = await store.findListedRuns(readInOrder, applicationUid, ids);
  return { items: request.isProduction ? items.filter(store.isProductionRun) : items, next };
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
export function isPlainFilter({ conditions, sort, isDescending }: RunFilter): boolean {
  return conditions.length === 0 && sort === null && isDescending;
}
