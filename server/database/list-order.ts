/** The order every list has: newest first, ties by id. */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Tables } from './database.ts';

/** Where a page of such a list begins: right after this row. */
export interface ListPosition {
  at: number;
  id: string;
}

/**
 * True for rows made in the window, from its start on and before its end, that come after the position where there is one,
 * which is before the end then. Only one of the two is said: of two upper bounds SQLite may seek by the end, and walk from
 * there to where the page begins, the longer the farther the page is.
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

/** True for rows that come after the position; the table has the columns `created_at` and `id`. */
export function isAfter(table: keyof Tables, position: ListPosition): Expression<SqlBool> {
  const at = sql.ref(`${table}.created_at`);
  const id = sql.ref(`${table}.id`);
  return sql<SqlBool>`(${at}, ${id}) < (${position.at}, ${position.id})`;
}
