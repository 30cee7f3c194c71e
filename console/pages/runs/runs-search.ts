/** The state of the runs page in its address: filters, order, columns and selected runs. */
import type { Query } from '@switchyard/contract/operation.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { RUN_STATUSES_V2, type RunStatusV2 } from '@switchyard/contract/states.ts';

export const TIME_WINDOWS = ['1h', '24h', '7d', '30d'] as const;
export type TimeWindow = (typeof TIME_WINDOWS)[number];

/** The filters that are text, with the parameters of the server. */
const TEXT_FILTERS = {
  text: 'text',
  instance: 'instance_id',
  version: 'version_id',
  user: 'user_email',
  indicator: 'indicator',
  option: 'option',
  sort: 'sort',
} as const;
type TextFilter = keyof typeof TEXT_FILTERS;

/** The filters and the order that the server applies. */
export interface RunFilters extends Partial<Record<TextFilter, string>> {
  within?: TimeWindow;
  status?: RunStatusV2;
}

/** A change of filters; undefined removes one. */
export type FilterChange = { [Name in keyof RunFilters]?: RunFilters[Name] | undefined };

export interface RunsSearch extends RunFilters {
  /** Ids of the columns after status and run; the default is `DEFAULT_COLUMNS`. */
  columns?: string[];
  /** Ids of the selected runs. */
  selected?: string[];
}

const isText = (value: unknown): value is string => typeof value === 'string';

function isTextFilter(name: string): name is TextFilter {
  return Object.hasOwn(TEXT_FILTERS, name);
}

/** Returns the parts of the address that the page knows, and drops everything else. */
export function parseRunsSearch(search: Record<string, unknown>): RunsSearch {
  const within = TIME_WINDOWS.find((window) => window === search.within);
  const status = RUN_STATUSES_V2.find((one) => one === search.status);
  // The router reads a number in the address as a number.
  const texts = Object.entries(search).flatMap(([name, value]) =>
    isTextFilter(name) && (isText(value) || typeof value === 'number') && value !== ''
      ? [[name, String(value)]]
      : [],
  );
  return {
    ...(within && { within }),
    ...(status && { status }),
    ...Object.fromEntries(texts),
    ...(Array.isArray(search.columns) && { columns: search.columns.filter(isText) }),
    ...(Array.isArray(search.selected) && { selected: search.selected.filter(isText) }),
  };
}

/** Returns the filters and the order alone: a change of columns or selection loads nothing. */
export function readFilters({ columns: _, selected: __, ...filters }: RunsSearch): RunFilters {
  return filters;
}

/** Returns the query of the server for the filters, except the time window. */
export function formatQuery({ within: _, status, ...texts }: RunFilters): Query<Operations['listRuns']> {
  const parameters = Object.entries(texts).flatMap(([name, value]) =>
    isTextFilter(name) ? [[TEXT_FILTERS[name], value]] : [],
  );
  return { ...(status && { status }), ...Object.fromEntries(parameters) };
}

/** Returns true if the filters exclude runs. */
export function hasFilter({ sort: _, ...filters }: RunFilters): boolean {
  return Object.keys(filters).length > 0;
}
