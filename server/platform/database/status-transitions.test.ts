/** The triggers on status columns: they allow exactly the statuses and transitions of the tables in the contract. */
import {
  BATCH_TRANSITIONS,
  BISECT_TRANSITIONS,
  ONLINE_TEST_TRANSITIONS,
  RUN_TRANSITIONS,
} from '@switchyard/contract/states.ts';
import { sql, type TableMetadata } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { migrateAll } from '../../testing/database/migrate-all.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import type { Database, Writer } from './database.ts';
import type { AllowedTransitions } from './status-transitions.ts';

const postgres = inject('postgres');
let testDatabase: TestDatabase;
let database: Database;
let tables: TableMetadata[];

beforeAll(async () => {
  testDatabase = await openTestDatabase();
  database = testDatabase.database;
  tables = await database.read.introspection.getTables();
});
afterAll(() => testDatabase.close());

/** Inserts a row of the status; its other required columns are empty or 0. */
async function insertRow(tx: Writer, table: string, status: string): Promise<void> {
  const required = (tables.find((one) => one.name === table)?.columns ?? []).filter(
    (column) => !column.isNullable && !column.hasDefaultValue,
  );
  const values = required.map((column) => {
    if (column.name === 'status') return sql.lit(status);
    return column.dataType.toLowerCase() === 'text' ? sql.lit('') : sql.lit(0);
  });
  const names = required.map((column) => sql.ref(column.name));
  await sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(values)})`.execute(tx);
}

class RollBack extends Error {}

/** Runs the work in a transaction that is rolled back; returns whether the database refused a status of the table. */
async function isRefused(table: string, work: (tx: Writer) => Promise<unknown>): Promise<boolean> {
  try {
    await database.transact(async (tx) => {
      await work(tx);
      throw new RollBack();
    });
    throw new Error('The transaction was committed.');
  } catch (error) {
    if (error instanceof RollBack) return false;
    if (String(error).includes(`The table ${table} does not allow this status`)) return true;
    throw error;
  }
}

/** Experiments of every kind share a table, which allows the transitions of all of them. */
const TABLES: Record<string, AllowedTransitions> = {
  runs: RUN_TRANSITIONS,
  experiments: {
    ...ONLINE_TEST_TRANSITIONS,
    ...BATCH_TRANSITIONS,
    started: [
      ...new Set([
        ...BATCH_TRANSITIONS.started,
        ...ONLINE_TEST_TRANSITIONS.started,
        ...BISECT_TRANSITIONS.started,
      ]),
    ],
  },
  acceptance_tests: BATCH_TRANSITIONS,
};

describe.each(Object.entries(TABLES))('the table %s', (table, transitions) => {
  const statuses = Object.keys(transitions);
  const pairs = statuses.flatMap((from) =>
    statuses.map((to) => ({ from, to, allowed: from === to || transitions[from]?.includes(to) === true })),
  );

  test.each(pairs)('from $from to $to: allowed $allowed', async ({ from, to, allowed }) => {
    const refused = await isRefused(table, async (tx) => {
      await insertRow(tx, table, from);
      await sql`update ${sql.table(table)} set status = ${to}`.execute(tx);
    });
    expect(refused).toBe(!allowed);
  });

  test('refuses to insert an unknown status, except SQLite for runs', async () => {
    const refused = await isRefused(table, (tx) => insertRow(tx, table, 'paused'));
    expect(refused).toBe(postgres !== '' || table !== 'runs');
  });

  test('refuses to update to an unknown status', async () => {
    const known = statuses[0] ?? '';
    const updated = isRefused(table, async (tx) => {
      await insertRow(tx, table, known);
      await sql`update ${sql.table(table)} set status = 'paused'`.execute(tx);
    });
    expect(await updated).toBe(true);
  });
});

test('rows with an unknown status survive the migration and keep their status', async () => {
  await migrateAll(database, [
    {
      name: '9999-tasks',
      async up(db, types) {
        await sql`create table tasks (id integer, status text, note text)`.execute(db);
        await sql`insert into tasks (id, status, note) values (1, 'paused', 'old'), (2, 'open', 'old')`.execute(
          db,
        );
        await types.restrictStatus(db, { table: 'tasks', transitions: { open: ['closed'], closed: [] } });
      },
    },
  ]);
  const rows = await database.transact(async (tx) => {
    await sql`update tasks set note = 'new', status = status`.execute(tx);
    return (await sql`select status, note from tasks order by id`.execute(tx)).rows;
  });
  expect(rows).toEqual([
    { status: 'paused', note: 'new' },
    { status: 'open', note: 'new' },
  ]);
});
