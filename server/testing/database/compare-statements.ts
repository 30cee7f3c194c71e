/**
 * Finds statements that the tests executed on SQLite and never on PostgreSQL. Many files of tests run on SQLite only, which is
 * right only while others execute their statements on PostgreSQL.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';

const parseText = createJsonParser(Type.String());

/**
 * Statements about the tables and functions of SQLite itself, for which PostgreSQL has others, and definitions of tables, whose
 * types differ: the migrations run on both.
 */
const OF_SQLITE =
  /^(create|alter|drop) |\bsqlite_master\b|\bpragma_?\w*|\bjson_each\(|\bjson_extract\(|\browid\b/;

/**
 * Returns the statement in a form that both databases share. Its values have no numbers, its lists, its chains of conditions and
 * the columns that it sets one item. Locks of rows, which SQLite lacks, are left out.
 */
export function normalizeStatement(text: string): string {
  return text
    .replaceAll(/\$\d+|\b\d+\b/g, '?')
    .replaceAll(/\bfor (no key )?(update|share)( of "\w+")?( skip locked)?/g, '')
    .replaceAll(/\(\?(, ?\?)+\)/g, '(?)')
    .replaceAll(/(\([^()]*\))(( or|,) ?\1)+/g, '$1')
    .replaceAll(/"\w+" = \?(, "\w+" = \?)+/g, '"columns" = ?')
    .replace(/ set "\w+" = \? where /, ' set "columns" = ? where ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Returns the recorded statements in the form that both databases share. */
function readStatements(folder: string, database: string): Set<string> {
  const files = readdirSync(folder).filter((name) => name.startsWith(`${database}-statements-`));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  return new Set(lines.filter(Boolean).map((line) => normalizeStatement(parseText(line, 'a statement'))));
}

/** Returns the statements of `record-statements.ts` that only SQLite executed, sorted. */
export function listUnprovenStatements(folder: string): string[] {
  const proven = readStatements(folder, 'postgres');
  return [...readStatements(folder, 'sqlite')]
    .filter((text) => !proven.has(text) && !OF_SQLITE.test(text))
    .sort();
}
