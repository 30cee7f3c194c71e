/**
 * Row and table locks. A statement names the lock it needs, and its connection decides whether the database has that lock.
 * SQLite has one writer at a time: it needs no lock, and its syntax has none.
 */
import { type SelectQueryBuilder, SqliteAdapter, sql } from 'kysely';
import type { Reader, Tables, Writer } from './database.ts';

/** The locking clauses of PostgreSQL that are in use, without their `for`. */
export type RowLock = 'update' | 'update skip locked' | 'share' | 'key share';

/**
 * Returns the query with the lock on the rows it finds, held until the transaction ends. With `of` only the rows of that
 * table are locked. `tx` is the transaction, or the database that builds a prepared statement for transactions.
 */
export function locked<DB, TB extends keyof DB, O>(
  tx: Reader,
  query: SelectQueryBuilder<DB, TB, O>,
  lock: RowLock,
  of?: TB & string,
): SelectQueryBuilder<DB, TB, O> {
  if (hasOneWriter(tx)) return query;
  switch (lock) {
    case 'update':
      return query.forUpdate(of);
    case 'update skip locked':
      return query.forUpdate(of).skipLocked();
    case 'share':
      return query.forShare(of);
    case 'key share':
      return query.forKeyShare(of);
  }
}

/** Locks the rows that the query finds until the transaction ends, and returns none of them. Executes nothing on SQLite. */
export async function lockRows<DB, TB extends keyof DB, O>(
  tx: Writer,
  query: SelectQueryBuilder<DB, TB, O>,
  lock: RowLock,
): Promise<void> {
  if (!hasOneWriter(tx)) await locked(tx, query, lock).execute();
}

/**
 * Lets one transaction at a time change a table, or pass for a name, until it ends. The lock of a name comes before any lock on
 * rows. Executes nothing on SQLite.
 */
export async function lockTableOrName(
  tx: Writer,
  target: { table: keyof Tables & string } | { name: string },
): Promise<void> {
  if (hasOneWriter(tx)) return;
  if ('table' in target)
    await sql`lock table ${sql.table(target.table)} in share row exclusive mode`.execute(tx);
  else await sql`select pg_advisory_xact_lock(hashtextextended(${target.name}, 0))`.execute(tx);
}

/** Every database but SQLite gets the lock: one without locks refuses the statement, while a missing lock stays unnoticed. */
function hasOneWriter(db: Reader): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter;
}
