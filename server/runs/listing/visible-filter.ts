/**
 * The rules by which lists of runs keep hidden options from a role. An option that is hidden from the role is one that no run
 * has: nothing satisfies a condition on it, and it orders nothing.
 */
import type { Role } from '@switchyard/contract/roles.ts';
import { listHiddenColumns } from '../../apps/applications/executables-store.ts';
import type { Reader } from '../../platform/database/database.ts';
import { optionField } from '../values/run-values.ts';
import type { RunFilter } from './run-filter.ts';

/** A list of runs as one role sees it. */
export interface RunList {
  applicationUid: string;
  role: Role;
}

type FilterFields = Pick<RunFilter, 'conditions' | 'sort'>;

const isOption = (field: string): boolean => field.startsWith(optionField(''));

/** Returns a function that lists the fields of a filter and its order that are hidden from the role. */
export async function findHiddenFields(
  db: Reader,
  { applicationUid, role }: RunList,
): Promise<(filter: FilterFields) => string[]> {
  const names = await listHiddenColumns(db, applicationUid, role);
  const hidden = new Set([...names].map(optionField));
  return (filter) => listFields(filter).filter((field) => hidden.has(field));
}

/** Lists the fields of the filter and its order that are hidden from the role. */
export async function listHiddenFields(db: Reader, list: RunList, filter: FilterFields): Promise<string[]> {
  return listFields(filter).some(isOption) ? (await findHiddenFields(db, list))(filter) : [];
}

/** Returns the filter without an order by a hidden option; null when a condition on one makes the list empty. */
export async function findVisibleFilter(
  db: Reader,
  list: RunList,
  filter: RunFilter,
): Promise<RunFilter | null> {
  const hidden = await listHiddenFields(db, list, filter);
  if (filter.conditions.some(({ field }) => hidden.includes(field))) return null;
  // Runs without the field of an order come newest first.
  return hidden.length > 0 ? { ...filter, sort: null, isDescending: true } : filter;
}

function listFields({ conditions, sort }: FilterFields): string[] {
  return [...conditions.map(({ field }) => field), ...(sort === null ? [] : [sort])];
}
