/** The state of the runs page in its address: filters, order, columns, the opened view and selected runs. */

import type { Query } from '@switchyard/contract/operation.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { RunViewTable } from '@switchyard/contract/runs/views/run-views.ts';
import { RUN_VIEW_WINDOWS, type RunWindow } from '@switchyard/contract/runs/views/run-windows.ts';
import { RUN_STATUSES_V2 } from '@switchyard/contract/states.ts';
import { readText } from '../../../client/read-text.ts';

/** The types of runs, as their own filter shows them. */
export const RUN_TYPE_CHOICES = ['standard', 'external', 'ensemble'] as const;

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
  within?: RunWindow;
  /** The first and the last instant of creation, in RFC 3339, instead of `within`. */
  from?: string;
  to?: string;
  /** true: runs of experiments too. */
  experiments?: true;
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
  const within = RUN_VIEW_WINDOWS.find((window) => window === search.within);
  const texts = Object.entries(search).flatMap(([name, value]) => {
    const text = readText(value);
    return isTextFilter(name) && text !== undefined ? [[name, dropUnknown(name, text)]] : [];
  });
  return {
    ...(within ? { within } : { ...readInstant('from', search.from), ...readInstant('to', search.to) }),
    ...(search.experiments === true && { experiments: true }),
    ...Object.fromEntries(texts.filter(([, value]) => value !== '')),
    ...(isText(search.view) && search.view !== '' && { view: search.view }),
    ...(Array.isArray(search.columns) && { columns: search.columns.filter(isText) }),
    ...(Array.isArray(search.selected) && { selected: search.selected.filter(isText) }),
  };
}

function readInstant(name: 'from' | 'to', value: unknown): { from?: string; to?: string } {
  return isText(value) && !Number.isNaN(Date.parse(value)) ? { [name]: new Date(value).toISOString() } : {};
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
export function formatQuery({
  from,
  to,
  experiments,
  ...filters
}: RunFilters): Query<Operations['listRuns']> {
  return {
    ...formatTexts(filters),
    ...(from !== undefined && { created_after: from }),
    ...(to !== undefined && { created_before: to }),
    production: experiments !== true,
  };
}

function formatTexts(filters: RunFilters): NonNullable<RunViewTable['filters']> & { sort?: string } {
  const parameters = Object.entries(filters).flatMap(([name, value]) =>
    isTextFilter(name) ? [[TEXT_FILTERS[name], value]] : [],
  );
  return Object.fromEntries(parameters);
}

/** Returns true if the reader's filters exclude runs. */
export function hasFilter({ sort: _, experiments: __, ...filters }: RunFilters): boolean {
  return Object.keys(filters).length > 0;
}

/** Returns the address of a view's table. */
export function readView({
  filters = {},
  sort,
  created_within,
  columns,
  experiments,
}: RunViewTable): RunsSearch {
  const parameters: Record<string, string | undefined> = { ...filters, sort };
  const texts = Object.entries(TEXT_FILTERS).map(([name, parameter]) => [name, parameters[parameter]]);
  return parseRunsSearch({ ...Object.fromEntries(texts), within: created_within, columns, experiments });
}

/** Returns the table of an address, as a view stores it: its time counts from now, so two instants are no part of it. */
export function formatView(search: RunsSearch): RunViewTable {
  const { sort, ...filters } = formatTexts(readFilters(search));
  return {
    filters,
    ...(sort !== undefined && { sort }),
    ...(search.within && { created_within: search.within }),
    ...(search.columns && { columns: search.columns }),
    ...(search.experiments && { experiments: true }),
  };
}

/** Returns true if both tables have the same filters, order and columns. */
export function isSameTable(one: RunViewTable, other: RunViewTable): boolean {
  const [a, b] = [one, other].map((table) => JSON.stringify(formatView(readView(table))));
  return a === b;
}

/** Splits the conditions of a filter at commas that no backslash precedes. */
export function splitConditions(text = ''): string[] {
  return text.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? [];
}

/** Returns the values of a filter that may have several. */
export const splitValues = (text = ''): string[] => splitConditions(text).map(removeBackslashes);

/** Returns the text of a filter with the values. */
export const joinValues = (values: readonly string[]): string =>
  values.map((value) => value.replaceAll(/[\\,]/g, '\\$&')).join(',');

const removeBackslashes = (text: string): string => text.replaceAll(/\\(.)/gs, '$1');

/** Returns the condition that an indicator or an option has the value or a value in the range, such as `cost:..1000`. */
export function formatCondition(name: string, value: string): string {
  return [name, value].map((part) => part.replaceAll(/[\\,:]/g, '\\$&')).join(':');
}

/** Returns the name and the value of a condition. */
export function parseCondition(condition: string): { name: string; value: string } {
  const [name = '', ...rest] = condition.match(/(?:\\.|[^:\\]|\\$)+/gs) ?? [];
  return { name: removeBackslashes(name), value: removeBackslashes(rest.join(':')) };
}
