import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listUnprovenStatements, summarizeStatement } from './compare-statements.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-statements-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['select "id" from "runs" where "id" in (?, ?)', 'select runs'],
  ['select "id" from "runs" where "id" = $1 for update skip locked', 'select runs'],
  ['insert into "runs" ("id") select "id" from "planned_runs"', 'insert planned_runs runs'],
  ['update "runs" set "error" = \'from "workers"\' where "id" = ?', 'update runs'],
  ['\n  Delete from assets where run_id in (select id from runs)', 'delete assets runs'],
  ['select 1 from "runs" join "workers" on true join "runs" as "other" on true', 'select runs workers'],
])('%j is summed up as %s', (text, summary) => {
  expect(summarizeStatement(text)).toBe(summary);
});

test('a statement that only SQLite executed is found, unless it is of SQLite itself', () => {
  const record = (file: string, text: string) =>
    appendFileSync(join(folder, `${file}.jsonl`), `${JSON.stringify(text)}\n`);
  record('sqlite-statements-1', 'select "id" from "runs" where "id" = ?');
  record('sqlite-statements-1', 'select "name" from "sqlite_master"');
  record('sqlite-statements-1', 'create table "runs" ("id" blob)');
  record('sqlite-statements-2', 'delete from "runs" where "id" = ?');
  record('postgres-statements-3', 'select "id" from "runs" where "id" = $1');
  expect(listUnprovenStatements(folder)).toEqual(['delete runs: delete from "runs" where "id" = ?']);
});
