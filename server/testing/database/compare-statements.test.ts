import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listUnprovenStatements, normalizeStatement } from './compare-statements.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-statements-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['select "id" from "runs" where "id" = ?', 'select "id" from "runs" where "id" = $1'],
  ['select "id" from "runs" where "id" in (?, ?, ?)', 'select "id" from "runs" where "id" in ($1)'],
  ['select "id" from "runs"', 'select "id" from "runs" for update skip locked'],
  ['select "id" from "runs"', 'select "id" from "runs" for no key update of "runs"'],
  ['insert into "runs" ("id") values (?)', 'insert into "runs" ("id") values ($1), ($2)'],
  [
    'insert into "runs" ("id", "at") values (?, ?), (?, ?)',
    'insert into "runs" ("id", "at") values ($1, $2)',
  ],
  [
    'update "runs" set "name" = ?, "error" = ? where "id" = ?',
    'update "runs" set "error" = $1 where "id" = $2',
  ],
  ['select 1 where (("a" = ?) or ("a" = ?))', 'select 1 where (("a" = $1))'],
  [
    'update "runs" set "at" = coalesce("at", 1796078790758)',
    'update "runs" set "at" = coalesce("at", 1796078792280)',
  ],
])('%s is the same statement as %s', (sqlite, postgres) => {
  expect(normalizeStatement(sqlite)).toBe(normalizeStatement(postgres));
});

test('a statement that only SQLite executed is found, unless it is about SQLite itself', () => {
  const record = (file: string, text: string) =>
    appendFileSync(join(folder, `${file}.jsonl`), `${JSON.stringify(text)}\n`);
  record('sqlite-statements-1', 'select "id" from "runs" where "id" = ?');
  record('sqlite-statements-1', 'select "name" from "sqlite_master"');
  record('sqlite-statements-1', 'create table "runs" ("id" blob)');
  record('sqlite-statements-2', 'delete from "runs" where "id" = ?');
  record('postgres-statements-3', 'select "id" from "runs" where "id" = $1');
  expect(listUnprovenStatements(folder)).toEqual(['delete from "runs" where "id" = ?']);
});
