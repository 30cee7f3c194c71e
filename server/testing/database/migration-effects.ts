/**
 * The effects of a migration on servers of an earlier release, which work on the same PostgreSQL database while a new release
 * is rolled out. A migration is additive if it only adds: tables, columns that an earlier release need not write, indexes.
 */
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import type { Migration } from '../../platform/database/migrate.ts';
import { makeAppendOnly, restrictStatus } from '../../platform/database/status-transitions.ts';

/** Returns the statements of the migration on PostgreSQL. No database executes them, and every read finds no row. */
export async function listStatements(migration: Migration): Promise<string[]> {
  const statements: string[] = [];
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log({ query }) {
      statements.push(query.sql);
    },
  });
  await migration.up(db, {
    bytes: sql`bytea`,
    sequence: sql`bigserial primary key`,
    orderedText: sql`text collate "C"`,
    clustered: sql``,
    makeAppendOnly: (kysely, table, once) => makeAppendOnly(kysely, 'postgres', table, once),
    restrictStatus: (kysely, rule) => restrictStatus(kysely, 'postgres', rule),
  });
  return statements.map((one) => one.replace(/\s+/g, ' ').trim());
}

/** Statements that change nothing which an earlier release relies on, whatever the table. */
const HARMLESS = [
  /^(select|with) /,
  /^create( or replace)? function /,
  /^create index /,
  /^drop index /,
  /^create table /,
];
/** A statement on a table: its name is the first group. */
const ON_TABLE = [
  /^create unique index \S+ on "?(\w+)"?/,
  /^alter table "?(\w+)"?/,
  /^insert into "?(\w+)"?/,
  /^(?:update|delete from) "?(\w+)"?/,
  /^create(?: constraint)? trigger .*? on "?(\w+)"?/,
  /^lock table "?(\w+)"?/,
];
const ADDED_COLUMN = /^alter table "?(\w+)"? add column "?(\w+)"? (.*)$/;
const SET_COLUMN = /^update "?(\w+)"? set "?(\w+)"? =/;

/** Returns the statements that an earlier release may not tolerate; none for an additive migration. */
export function findBreakingStatements(statements: readonly string[]): string[] {
  const newTables = new Set(
    statements.flatMap((one) => /^create table (?:if not exists )?"?(\w+)"?/.exec(one)?.[1] ?? []),
  );
  const newColumns = new Set(
    statements.flatMap((one) => {
      const [, table, column] = ADDED_COLUMN.exec(one) ?? [];
      return table === undefined ? [] : [`${table}.${column}`];
    }),
  );
  return statements.filter((one) => {
    if (HARMLESS.some((pattern) => pattern.test(one))) return false;
    const table = ON_TABLE.map((pattern) => pattern.exec(one)?.[1]).find((name) => name !== undefined);
    if (table !== undefined && newTables.has(table)) return false;
    const definition = ADDED_COLUMN.exec(one)?.[3];
    // An insert of an earlier release does not have the column.
    if (definition !== undefined)
      return (
        / add column | unique| check |references /.test(definition) ||
        (/not null/.test(definition) && !/default/.test(definition))
      );
    const [, updated, column] = SET_COLUMN.exec(one) ?? [];
    return !newColumns.has(`${updated}.${column}`);
  });
}
