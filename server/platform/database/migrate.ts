/**
 * Applies migrations. Each slice has its own in `schema.ts`, and `server/ops/migrations.ts` lists them all.
 *
 * Invariant: a released migration never changes in effect.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Migration as KyselyMigration, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import { makeAppendOnly, restrictStatus, type StatusRule } from './status-transitions.ts';

/** Column types and triggers whose SQL differs between the databases. */
interface ColumnTypes {
  bytes: RawBuilder<unknown>;
  /** A whole number that grows with every row, as the primary key. */
  sequence: RawBuilder<unknown>;
  /** Text in the order of its bytes, whatever the locale of the database. */
  orderedText: RawBuilder<unknown>;
  /** End of a table that is stored in the order of its primary key, where the database has such tables. */
  clustered: RawBuilder<unknown>;
  /** Makes the table append-only; a later update may fill in the columns of `once`, all together and one time. */
  makeAppendOnly(db: Kysely<unknown>, table: string, once: readonly [string, ...string[]]): Promise<void>;
  /** Makes the database refuse status values and status changes of the table that the transitions do not list. */
  restrictStatus(db: Kysely<unknown>, rule: StatusRule): Promise<void>;
}

export interface Migration {
  /** Number and effect, such as `0007-add-webhooks`; the names define the order. */
  name: string;
  up(db: Kysely<unknown>, types: ColumnTypes): Promise<void>;
  /**
   * Says what a server of an earlier release can no longer do after the migration; absent for one that only adds. The start
   * is refused while such a server is connected. `migrations.test.ts` checks the statements.
   */
  breaks?: string;
}

/** Executes the statements one after the other. */
export async function executeAll(
  db: Kysely<unknown>,
  statements: readonly RawBuilder<unknown>[],
): Promise<void> {
  for (const statement of statements) await statement.execute(db);
}

/** A migration failed and was rolled back; the message names it. */
export class MigrationError extends Error {}

/**
 * Applies the migrations that the database does not have yet and returns their names. Safe when several processes start at
 * the same time. Throws MigrationError when one fails.
 */
export async function migrate(
  database: Pick<Database, 'kind' | 'read'>,
  migrations: readonly Migration[],
): Promise<string[]> {
  if (await hasExactly(database, migrations)) return [];
  const types: ColumnTypes = {
    ...(database.kind === 'postgres'
      ? {
          bytes: sql`bytea`,
          sequence: sql`bigserial primary key`,
          orderedText: sql`text collate "C"`,
          clustered: sql``,
        }
      : {
          bytes: sql`blob`,
          sequence: sql`integer primary key autoincrement`,
          orderedText: sql`text`,
          clustered: sql`without rowid`,
        }),
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
    // A migration can arrive after one with a higher number. Each creates only its own tables, so their order does not matter.
    allowUnorderedMigrations: true,
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

/**
 * Returns true when the database has these migrations and no other. Kysely's migrator reads the columns of all tables before
 * it finds this out, which takes 20 ms of every start.
 */
async function hasExactly(
  { read }: Pick<Database, 'read'>,
  migrations: readonly Migration[],
): Promise<boolean> {
  // An empty database has no such table. The migrator reports every other error again.
  const result = await sql<{ name: string }>`select name from migrations`.execute(read).catch(() => null);
  const applied = new Set(result?.rows.map(({ name }) => name));
  return applied.size === migrations.length && migrations.every(({ name }) => applied.has(name));
}
