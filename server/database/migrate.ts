/**
 * Migrations: numbered by name, kept by the slice they belong to, listed by hand where the server is put together.
 * One that has been applied is never changed.
 */
import { type ColumnDataType, type Kysely, type RawBuilder, sql } from 'kysely';
import { type Migration as KyselyMigration, Migrator } from 'kysely/migration';
import { makeAppendOnly } from './append-only.ts';
import type { Database } from './database.ts';
import { restrictStatus, type StatusRule } from './status-transitions.ts';

/** What is said differently in the two databases. */
interface ColumnTypes {
  bytes: ColumnDataType | RawBuilder<unknown>;
  /** A whole number that grows with every row; make it the primary key. */
  sequence: RawBuilder<unknown>;
  /**
   * From now on rows are only added to the table; the columns of `once` may be filled in later, together and once.
   */
  makeAppendOnly(db: Kysely<unknown>, table: string, once: readonly [string, ...string[]]): Promise<void>;
  /** Makes the database refuse status values and status changes of the table that the transitions do not list. */
  restrictStatus(db: Kysely<unknown>, rule: StatusRule): Promise<void>;
}

export interface Migration {
  /** `0007-what-it-does`; they are applied in the order of their names. */
  name: string;
  up(db: Kysely<unknown>, types: ColumnTypes): Promise<void>;
}

export class MigrationError extends Error {}

/** Applies what has not been applied yet; safe when several processes start at once. */
export async function migrate(
  database: Pick<Database, 'kind' | 'read'>,
  migrations: readonly Migration[],
): Promise<string[]> {
  const types: ColumnTypes = {
    ...(database.kind === 'postgres'
      ? { bytes: sql`bytea`, sequence: sql`bigserial primary key` }
      : { bytes: 'blob', sequence: sql`integer primary key autoincrement` }),
    makeAppendOnly: (db, table, once) => makeAppendOnly(db, database.kind, table, once),
    restrictStatus: (db, rule) => restrictStatus(db, database.kind, rule),
  };
  const entries = migrations.map((one): [string, KyselyMigration] => [
    one.name,
    { up: (db) => one.up(db, types) },
  ]);
  const migrator = new Migrator({
    db: database.read,
    provider: { getMigrations: async () => Object.fromEntries(entries) },
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const failed = results?.find((one) => one.status === 'Error')?.migrationName ?? 'before the first';
    throw new MigrationError(
      `Migration ${failed} failed: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  return (results ?? []).map((one) => one.migrationName);
}
