/** The order every list has: newest first, ties by id. */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Tables } from './database.ts';

/** Where a page of such a list begins: right after this row. */
export interface ListPosition {
  at: number;
  id: string;
}

/** True for rows that come after the position; the table has the columns `created_at` and `id`. */
export function isAfter(table: keyof Tables, position: ListPosition): Expression<SqlBool> {
  const at = sql.ref(`${table}.created_at`);
  const id = sql.ref(`${table}.id`);
  return sql<SqlBool>`(${at}, ${id}) < (${position.at}, ${position.id})`;
}
