/** The state of the runs page in its address: filters, columns and selected runs. */

export const TIME_WINDOWS = ['1h', '24h', '7d', '30d'] as const;
export type TimeWindow = (typeof TIME_WINDOWS)[number];

/** The filters that the server applies. */
export interface RunFilters {
  within?: TimeWindow;
}

export interface RunsSearch extends RunFilters {
  /** Ids of the columns after status and run; the default is `DEFAULT_COLUMNS`. */
  columns?: string[];
  /** Ids of the selected runs. */
  selected?: string[];
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns the parts of the address that the page knows, and drops everything else. */
export function parseRunsSearch(search: Record<string, unknown>): RunsSearch {
  const within = TIME_WINDOWS.find((window) => window === search.within);
  return {
    ...(within && { within }),
    ...(Array.isArray(search.columns) && { columns: search.columns.filter(isText) }),
    ...(Array.isArray(search.selected) && { selected: search.selected.filter(isText) }),
  };
}

/** Returns the filters alone: a change of columns or selection loads nothing. */
export function readFilters({ within }: RunsSearch): RunFilters {
  return within ? { within } : {};
}
