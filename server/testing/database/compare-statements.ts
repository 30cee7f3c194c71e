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
 * Definitions of tables, because the migrations run on both databases. Tables of SQLite itself, of its adapter (`opened`) and of
 * its tests. Statements of a restore, which empties every table: on PostgreSQL it runs in a process of its own.
 */
const OF_SQLITE =
  /^(create|alter|drop) |\bsqlite_\w+|\bpragma_?\w*|\b(from|into|join) "?(opened|blobs|rows|series)\b|^delete from "\w+"$|^insert into "backups"/;

/**
 * Returns what the statement does, with the tables that it names, such as `update runs workers`. Filters are left out: their
 * combinations depend on requests and on chance, and a first try that compared whole texts found 480 differences of that kind.
 */
export function summarizeStatement(text: string): string {
  const statement = text.trim().replaceAll(/'(?:[^']|'')*'/g, "''");
  const [verb = ''] = /^\w+/.exec(statement) ?? [];
  const tables = [...statement.matchAll(/\b(?:from|join|into|(?<!for )update) "?(\w+)"?/gi)].map(
    ([, table]) => table,
  );
  return [verb.toLowerCase(), ...new Set(tables.toSorted())].join(' ');
}

/** Returns the recorded statements. */
function readStatements(folder: string, database: string): string[] {
  const files = readdirSync(folder).filter((name) => name.startsWith(`${database}-statements-`));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  return lines.filter(Boolean).map((line) => parseText(line, 'a statement').trim());
}

/** Returns one statement of `record-statements.ts` for each summary that only SQLite has. */
export function listUnprovenStatements(folder: string): string[] {
  const proven = new Set(readStatements(folder, 'postgres').map(summarizeStatement));
  const unproven = new Map<string, string>();
  for (const text of readStatements(folder, 'sqlite')) {
    const summary = summarizeStatement(text);
    if (!proven.has(summary) && !OF_SQLITE.test(text)) unproven.set(summary, text);
  }
  return [...unproven].map(([summary, text]) => `${summary}: ${text}`);
}
