/** Parses the query of a list of runs. Pure. */
import { RUN_CONDITIONS_MAX, RUN_FILTER_VALUES_MAX } from '@switchyard/contract/limits.ts';
import type { Query } from '@switchyard/contract/operation.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { RUN_FILTER_CHOICES, RUN_SORT_COLUMNS } from '@switchyard/contract/runs/run-filters.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import {
  encodeText,
  encodeValue,
  lieBetween,
  parseDecimal,
  splitWords,
  startWith,
  type ValueInterval,
} from '../values/encode-value.ts';
import { indicatorField, optionField, TAG_FIELD } from '../values/run-values.ts';
import type { RunCondition, RunFilter } from './run-filter.ts';

type RunsQuery = Query<Operations['listRuns']>;

/** By the number of runs that usually have one value, many first. */
const COLUMNS = [
  'status',
  'run_type',
  'instance_id',
  'version_id',
  'ensemble_id',
  'user_email',
  'name',
] as const;
const CREATED_AT = 'created_at';

/** Parses the filter and the order of the query. Throws a 400 for an invalid condition, and for too many. */
export function parseRunFilter(query: RunsQuery, window: { start: number; end: number }): RunFilter {
  const indicators = parseConditions('indicator', query.indicator, indicatorField);
  const options = parseConditions('option', query.option, optionField);
  const conditions = [
    ...COLUMNS.flatMap((field) => {
      const value = query[field];
      return value === undefined ? [] : [matchTexts(field, splitValues(field, value))];
    }),
    ...parseTags(query.tag),
    ...parseText(query.text),
    ...indicators,
    ...options,
  ];
  if (conditions.length > RUN_CONDITIONS_MAX)
    throw badRequest(
      `The query has ${conditions.length} conditions; it may have ${RUN_CONDITIONS_MAX}. Each word of text counts.`,
    );
  return { conditions, ...parseSort(query.sort ?? `-${CREATED_AT}`), ...window };
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

/** Splits the values of a column at commas. A name may contain commas, so it is one value. */
function splitValues(field: (typeof COLUMNS)[number], text: string): string[] {
  if (field === 'name') return [text];
  const values = limitValues(field, text.split(','));
  const allowed: readonly string[] | undefined = isChosen(field) ? RUN_FILTER_CHOICES[field] : undefined;
  const unknown = allowed && values.find((value) => !allowed.includes(value));
  if (allowed && unknown !== undefined)
    throw badRequest(
      `${field} is ${quoteValue(unknown)}; give ${allowed.join(', ')}, several separated by commas.`,
    );
  return values;
}

/** Returns the distinct values. Throws a 400 for too many. */
function limitValues(parameter: string, texts: readonly string[]): string[] {
  const values = [...new Set(texts)];
  if (values.length > RUN_FILTER_VALUES_MAX)
    throw badRequest(
      `${parameter} has ${values.length} values; it may have ${RUN_FILTER_VALUES_MAX}, separated by commas.`,
    );
  return values;
}

function parseTags(text: string | undefined): RunCondition[] {
  if (text === undefined) return [];
  const tags = limitValues(TAG_FIELD, splitUnescaped(text, ',').map(removeBackslashes));
  if (tags.length === 0) throw badRequest(`tag is ${quoteValue(text)}, without a tag; give one or several.`);
  return [matchTexts(TAG_FIELD, tags)];
}

function isChosen(field: string): field is keyof typeof RUN_FILTER_CHOICES {
  return Object.hasOwn(RUN_FILTER_CHOICES, field);
}

function matchTexts(field: string, values: readonly string[]): RunCondition {
  return { field, intervals: values.map(encodeText).map((value) => ({ from: value, to: value })) };
}

function parseText(text: string | undefined): RunCondition[] {
  if (text === undefined) return [];
  const words = splitWords(text.replace(/\brun-/gi, ' '));
  if (words.length === 0)
    throw badRequest(
      `text is ${quoteValue(text)}, without a letter or a digit; give the beginning of a word.`,
    );
  // The longest word is on the fewest runs.
  return words
    .sort((one, other) => one.length - other.length)
    .map((word) => ({ field: 'text', intervals: [startWith(word)] }));
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
      intervals: [parseInterval(parameter, removeBackslashes(rest.join(':')))],
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
