/** Parses the query of a list of runs. Pure. */

import { RUN_CONDITIONS_MAX } from '@switchyard/contract/limits.ts';
import type { Query } from '@switchyard/contract/operation.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { RUN_SORT_COLUMNS } from '@switchyard/contract/runs/run-filters.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import {
  encodeText,
  encodeValue,
  lieBetween,
  parseDecimal,
  splitWords,
  startWith,
  type ValueInterval,
} from '../values/encode-value.ts';
import { indicatorField, optionField } from '../values/list-run-values.ts';
import type { RunCondition, RunFilter } from './run-filter.ts';

type RunsQuery = Query<Operations['listRuns']>;

const COLUMNS = ['status', 'instance_id', 'version_id', 'user_email', 'run_type', 'name'] as const;
const CREATED_AT = 'created_at';

/** A filter, and the names of the options that it reads, which may be hidden from the caller. */
export interface ParsedRunFilter extends RunFilter {
  options: readonly string[];
}

/** Parses the filter and the order of the query. Throws a 400 for an invalid condition, and for too many. */
export function parseRunFilter(query: RunsQuery, window: { start: number; end: number }): ParsedRunFilter {
  const indicators = parseConditions('indicator', query.indicator, indicatorField);
  const options = parseConditions('option', query.option, optionField);
  const conditions = [
    ...COLUMNS.flatMap((field) => {
      const value = query[field];
      return value === undefined ? [] : [matchText(field, value)];
    }),
    ...parseText(query.text),
    ...indicators,
    ...options,
  ];
  if (conditions.length > RUN_CONDITIONS_MAX)
    throw badRequest(
      `The query has ${conditions.length} conditions; it may have ${RUN_CONDITIONS_MAX}. Each word of text counts.`,
    );
  const order = parseSort(query.sort ?? `-${CREATED_AT}`);
  const named = [order.sort ?? '', ...options.map(({ field }) => field)];
  return { conditions, ...order, ...window, options: named.flatMap(readOptionName) };
}

/** Returns the later start and the earlier end of the two windows that a query may give. */
export function readWindow({ start, end, created_after, created_before }: RunsQuery) {
  const latest = [start, created_after]
    .filter((time) => time !== undefined)
    .sort(byTime)
    .at(-1);
  const earliest = [end, created_before].filter((time) => time !== undefined).sort(byTime)[0];
  return { ...(latest && { start: latest }), ...(earliest && { end: earliest }) };
}

const byTime = (one: string, other: string): number => Date.parse(one) - Date.parse(other);

function readOptionName(field: string): string[] {
  return field.startsWith(optionField('')) ? [field.slice(optionField('').length)] : [];
}

function matchText(field: string, value: string): RunCondition {
  const encoded = encodeText(value);
  return { field, from: encoded, to: encoded };
}

function parseText(text: string | undefined): RunCondition[] {
  if (text === undefined) return [];
  const words = splitWords(text.replace(/\brun-/gi, ' '));
  if (words.length === 0)
    throw badRequest(
      `text is ${quoteValue(text)}, without a letter or a digit; give the beginning of a word.`,
    );
  // The longest word is on the fewest runs, and the first condition decides what is read.
  return words
    .sort((one, other) => other.length - one.length)
    .map((word) => ({ field: 'text', ...startWith(word) }));
}

function parseConditions(
  parameter: string,
  text: string | undefined,
  formatField: (name: string) => string,
): RunCondition[] {
  if (text === undefined) return [];
  return splitUnescaped(text, ',').map((part) => {
    const [name = '', ...rest] = splitUnescaped(part, ':');
    if (name === '' || rest.length === 0)
      throw badRequest(
        `${parameter} is ${quoteValue(text)}; give NAME:VALUE or NAME:MIN..MAX, several separated by commas, with a backslash before a comma or colon that belongs to a name.`,
      );
    return {
      field: formatField(removeBackslashes(name)),
      ...parseInterval(parameter, removeBackslashes(rest.join(':'))),
    };
  });
}

/** Parses `MIN..MAX`, either of which may be missing, or one value. */
function parseInterval(parameter: string, text: string): ValueInterval {
  const [from = '', to, ...rest] = text.split('..');
  const ends = [from, to ?? ''].map((end) => (end === '' ? undefined : (parseDecimal(end) ?? null)));
  if (to === undefined || rest.length > 0 || ends.includes(null)) {
    if (to !== undefined && (parseDecimal(from) !== undefined || parseDecimal(to) !== undefined))
      throw badRequest(
        `${parameter} has the range ${quoteValue(text)}; both ends must be numbers, as in 10..20.`,
      );
    const value = encodeValue(text);
    return { from: value, to: value };
  }
  const [min, max] = ends.map((end) => end ?? undefined);
  if (min !== undefined && max !== undefined && min > max)
    throw badRequest(
      `${parameter} has the range ${quoteValue(text)}, which is empty; give the lower end first.`,
    );
  return lieBetween(min, max);
}

/** Splits at a separator that no backslash precedes. */
function splitUnescaped(text: string, separator: ',' | ':'): string[] {
  return text.match(separator === ',' ? /(?:\\.|[^,\\]|\\$)+/gs : /(?:\\.|[^:\\]|\\$)+/gs) ?? [];
}

const removeBackslashes = (text: string): string => text.replaceAll(/\\(.)/gs, '$1');

function parseSort(text: string): { sort: string | null; isDescending: boolean } {
  const isDescending = text.startsWith('-');
  const field = isDescending ? text.slice(1) : text;
  const isNamed = [indicatorField(''), optionField('')].some(
    (prefix) => field.startsWith(prefix) && field.length > prefix.length,
  );
  if (field === CREATED_AT) return { sort: null, isDescending };
  if (!isNamed && !RUN_SORT_COLUMNS.some((column) => column === field))
    throw badRequest(
      `sort is ${quoteValue(text)}; give one of ${RUN_SORT_COLUMNS.join(', ')}, indicator.NAME and option.NAME, with "-" before it for descending order.`,
    );
  return { sort: field, isDescending };
}
