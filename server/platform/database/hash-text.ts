/**
 * Hashes of texts for indexes. An entry of an index of PostgreSQL has at most 2,704 bytes, so a longer text makes an insert
 * fail. SQLite has no such bound and no such function: there the text stands for itself.
 */
import { type RawBuilder, SqliteAdapter, sql } from 'kysely';

/** Returns an expression with the same value for equal texts only. `db` is any handle of the database. */
export function hashText(
  db: { getExecutor(): { adapter: unknown } },
  text: RawBuilder<string>,
): RawBuilder<string> {
  if (db.getExecutor().adapter instanceof SqliteAdapter) return sql`(${text})`;
  // Not md5(), which fails where OpenSSL is restricted to FIPS. The cast reads a backslash as an escape.
  return sql`encode(sha256(replace((${text})::text, '\\', '\\\\')::bytea), 'hex')`;
}
