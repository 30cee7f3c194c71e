/** The state of the runs page in its address: filters, order, columns, the opened view and selected runs. */

import type { Query } from '@switchyard/contract/operation.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { RunViewTable } from '@switchyard/contract/runs/views/run-views.ts';
import { RUN_STATUSES_V2 } from '@switchyard/contract/states.ts';
import { readText } from '../../../client/read-text.ts';

/** The types of runs, as their own filter shows them. */
export const RUN_TYPE_CHOICES = ['standard', 'external', 'ensemble'] as const;

export const TIME_WINDOWS = ['1h', '24h', '7d', '30d'] as const;
export type TimeWindow = (typeof TIME_WINDOWS)[number];

/** The filters that are text, with the parameters of the server. */
const TEXT_FILTERS = {
  text: 'text',
  status: 'status',
  type: 'run_type',
  name: 'name',
  tag: 'tag',
  instance: 'instance_id',
  version: 'version_id',
  user: 'user_email',
  indicator: 'indicator',
  option: 'option',
  sort: 'sort',
} as const;
type TextFilter = keyof typeof TEXT_FILTERS;

/** The filters with few allowed values, and these values. */
const CHOICES: Partial<Record<TextFilter, readonly string[]>> = {
  status: RUN_STATUSES_V2,
  type: RUN_TYPE_CHOICES,
};

/** The filters and the order that the server applies. */
export interface RunFilters extends Partial<Record<TextFilter, string>> {
  within?: TimeWindow;
}

/** A change of filters; undefined removes one. */
export type FilterChange = { [Name in keyof RunFilters]?: RunFilters[Name] | undefined };

export interface RunsSearch extends RunFilters {
  /** Ids of the columns after status and run; the default is `DEFAULT_COLUMNS`. */
  columns?: string[];
  /** Id of the view that was opened or saved last. */
  view?: string;
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
  const texts = Object.entries(search).flatMap(([name, value]) => {
    const text = readText(value);
    return isTextFilter(name) && text !== undefined ? [[name, dropUnknown(name, text)]] : [];
  });
  return {
    ...(within && { within }),
    ...Object.fromEntries(texts.filter(([, value]) => value !== '')),
    ...(isText(search.view) && search.view !== '' && { view: search.view }),
    ...(Array.isArray(search.columns) && { columns: search.columns.filter(isText) }),
    ...(Array.isArray(search.selected) && { selected: search.selected.filter(isText) }),
  };
}

/** Drops values that the filter does not have, which the server refuses. */
function dropUnknown(name: TextFilter, value: string): string {
  const choices = CHOICES[name];
  if (!choices) return value;
  const values = value.split(',');
  return choices.filter((choice) => values.includes(choice)).join(',');
}

/** Returns the filters and the order alone: a change of columns or selection loads nothing. */
export function readFilters({ columns: _, selected: __, view: ___, ...filters }: RunsSearch): RunFilters {
  return filters;
}

/** Returns the query of the server for the filters, except the time window. */
export function formatQuery({ within: _, ...texts }: RunFilters): Query<Operations['listRuns']> {
  const parameters = Object.entries(texts).flatMap(([name, value]) =>
    isTextFilter(name) ? [[TEXT_FILTERS[name], value]] : [],
  );
  return Object.fromEntries(parameters);
}

/** Returns true if the filters exclude runs. */
export function hasFilter({ sort: _, ...filters }: RunFilters): boolean {
  return Object.keys(filters).length > 0;
}

/** Returns the address of a view's table. */
export function readView({ filters = {}, sort, created_within, columns }: RunViewTable): RunsSearch {
  const parameters: Record<string, string | undefined> = { ...filters, sort };
  const texts = Object.entries(TEXT_FILTERS).map(([name, parameter]) => [name, parameters[parameter]]);
  return parseRunsSearch({ ...Object.fromEntries(texts), within: created_within, columns });
}

/** Returns the table of an address, as a view stores it. */
export function formatView(search: RunsSearch): RunViewTable {
  const { sort, ...filters } = formatQuery(readFilters(search));
  return {
    filters,
    ...(sort !== undefined && { sort }),
    ...(search.within && { created_within: search.within }),
    ...(search.columns && { columns: search.columns }),
  };
}

/** Returns true if both tables have the same filters, order and columns. */
export function isSameTable(one: RunViewTable, other: RunViewTable): boolean {
  const [a, b] = [one, other].map((table) => JSON.stringify(formatView(readView(table))));
  return a === b;
}
