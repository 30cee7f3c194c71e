/** New rows wait while a reader looks at others. */
import { expect, test } from 'vitest';
import { holdRows } from './steady-rows.ts';

/** Rows by their ids; a capital letter is the changed row of the same id. */
const list = (letters: string) =>
  [...letters].map((letter) => ({ id: letter.toLowerCase(), isChanged: letter !== letter.toLowerCase() }));

test.each([
  { change: 'nothing has changed', held: 'dcba', latest: 'dcba', rows: 'dcba', newCount: 0 },
  { change: 'a row has changed', held: 'dcba', latest: 'dCba', rows: 'dCba', newCount: 0 },
  { change: 'rows are new at the top', held: 'dcba', latest: 'fedcba', rows: 'dcba', newCount: 2 },
  { change: 'a new row is between others', held: 'dcba', latest: 'dcxba', rows: 'dcba', newCount: 1 },
  { change: 'the last rows moved to the next page', held: 'dcba', latest: 'fedc', rows: 'dcba', newCount: 2 },
  { change: 'more rows were loaded', held: 'dcba', latest: 'dcba98', rows: 'dcba98', newCount: 0 },
  {
    change: 'rows are new, and more were loaded',
    held: 'dcba',
    latest: 'edcba98',
    rows: 'dcba98',
    newCount: 1,
  },
  { change: 'a row between others was deleted', held: 'dcba', latest: 'dba', rows: 'dba', newCount: 0 },
  { change: 'all rows are new', held: 'dcba', latest: 'zyxw', rows: 'dcba', newCount: 4 },
  { change: 'no row is left', held: 'dcba', latest: '', rows: 'dcba', newCount: 0 },
])('when $change, the held rows stay', ({ held, latest, rows, newCount }) => {
  expect(holdRows(list(held), list(latest))).toEqual({ rows: list(rows), newCount });
});
