/**
 * Conditions of a filter that a statement checks on the rows of active runs, so that the database returns few of a long
 * queue. A rule never excludes a run that satisfies the filter, and may include others.
 */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Database } from '../../platform/database/database.ts';
import { decodePrefix, decodeText } from '../values/encode-value.ts';
import { listFieldColumns, optionField } from '../values/list-run-values.ts';
import type { RunCondition } from './run-filter.ts';

/** Rules of columns have one of these numbers of values, because each statement is prepared once. */
const VALUES_PER_RULE = [1, 2, 4, 8, 20];

/** The shape of a rule, without its values. */
export interface RuleShape {
  /** all: every row. column: has one of the texts. word: has a word that begins so. option: the option has a value that begins with the text. */
  kind: 'all' | 'column' | 'word' | 'option';
  column: string;
  /** The number of its values. */
  count: number;
}

/** A rule with its values by name, as its statement needs them. */
export interface RowRule {
  shape: RuleShape;
  values: RuleValues;
}

export type RuleValues = Record<`rule${number}`, string>;

const EVERY_ROW: RowRule = { shape: { kind: 'all', column: '', count: 0 }, values: {} };

/** Returns a rule for the first of the conditions that has one. */
export function findRowRule(conditions: readonly RunCondition[]): RowRule {
  for (const condition of conditions) {
    const rule = createColumnRule(condition) ?? createWordRule(condition) ?? createOptionRule(condition);
    if (rule) return rule;
  }
  return EVERY_ROW;
}

/** Returns the condition of the rule on a row of `runs`. */
export function formatRowRule(
  { kind, column, count }: RuleShape,
  database: Database['kind'],
  values: RuleValues,
): Expression<SqlBool> {
  if (kind === 'all') return sql<SqlBool>`true`;
  // SQLite compiles a statement again for each execution if the pattern of LIKE is a parameter.
  const position = sql.raw(database === 'postgres' ? 'strpos' : 'instr');
  const contains = (text: Expression<string>): Expression<SqlBool> =>
    sql<SqlBool>`${position}(${text}, ${values.rule0}) > 0`;
  if (kind === 'option') return contains(sql.ref('options_summary'));
  if (kind === 'word') {
    // Lower case of other texts than ASCII depends on the database and its collation, so every such row is included.
    const collation = sql.raw(database === 'postgres' ? 'collate "C"' : '');
    const includes = ['name', 'description'].map((column) => {
      const text = sql.ref(column);
      return sql<SqlBool>`${text} <> '' and (${contains(sql`lower(${text} ${collation})`)} or octet_length(${text}) <> length(${text}))`;
    });
    // Ids are in lower case.
    return sql<SqlBool>`(${contains(sql.ref('id'))} or ${sql.join(includes, sql` or `)})`;
  }
  const texts = Array.from({ length: count }, (_, index) => values[`rule${index}`]);
  return sql<SqlBool>`${sql.ref(column)} in (${sql.join(texts)})`;
}

function createColumnRule({ field, intervals }: RunCondition): RowRule | null {
  const [column, other] = field === 'name' ? ['name' as const] : listFieldColumns(field);
  const texts = intervals.flatMap((interval) => decodeText(interval) ?? []);
  const count = VALUES_PER_RULE.find((size) => size >= texts.length);
  const [first] = texts;
  const isColumn = column !== undefined && other === undefined && !isJson(column);
  if (!isColumn || texts.length < intervals.length || first === undefined || count === undefined) return null;
  return {
    shape: { kind: 'column', column, count },
    values: nameValues(Array.from({ length: count }, (_, index) => texts[index] ?? first)),
  };
}

const isJson = (column: string): boolean => column === 'options_summary' || column === 'indicators';

function createWordRule({ field, intervals }: RunCondition): RowRule | null {
  const [interval] = intervals;
  const prefix = interval && field === 'text' && intervals.length === 1 ? decodePrefix(interval) : null;
  // Other characters may have several forms in lower case.
  if (prefix === null || !/^[a-z0-9]+$/.test(prefix)) return null;
  return { shape: { kind: 'word', column: '', count: 1 }, values: nameValues([prefix]) };
}

function createOptionRule({ field, intervals }: RunCondition): RowRule | null {
  const [interval] = intervals;
  const isOption = field.startsWith(optionField('')) && intervals.length === 1;
  const text = interval && isOption ? decodeText(interval) : null;
  if (text === null) return null;
  return {
    shape: { kind: 'option', column: '', count: 1 },
    // With its name: a search for the text alone would take time by the values of options that the caller may not see. Without
    // the last quote, because the text of a long value is its beginning.
    values: nameValues([
      JSON.stringify({ name: field.slice(optionField('').length), value: text }).slice(1, -2),
    ]),
  };
}

function nameValues(texts: readonly string[]): RuleValues {
  return Object.fromEntries(texts.map((text, index) => [`rule${index}`, text]));
}
