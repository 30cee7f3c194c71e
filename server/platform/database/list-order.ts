/** The order of every list: newest first, then by id. */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Tables } from './database.ts';

/** The row right before a page of a list. `at` is its `created_at`, in milliseconds since the epoch. */
export interface ListPosition {
  at: number;
  id: string;
}

/**
 * Returns a condition for rows created in the window, start included and end excluded. With a position, which is inside the
 * window, only rows after it match. The condition then omits the end: with two upper bounds SQLite may seek to the end and
 * scan from there to the page. That takes longer for each further page.
 */
export function isInWindow(
  table: keyof Tables,
  window: { start: number; end: number },
  after: ListPosition | null,
): Expression<SqlBool> {
  const at = sql.ref(`${table}.created_at`);
  const before = after ? isAfter(table, after) : sql<SqlBool>`${at} < ${window.end}`;
  return sql<SqlBool>`${at} >= ${window.start} and ${before}`;
}

/** Returns a condition for rows after the position; the table has the column `created_at`, and `idColumn` for the id. */
export function isAfter(table: keyof Tables, position: ListPosition, idColumn = 'id'): Expression<SqlBool> {
  const at = sql.ref(`${table}.created_at`);
  const id = sql.ref(`${table}.${idColumn}`);
  return sql<SqlBool>`(${at}, ${id}) < (${position.at}, ${position.id})`;
}
