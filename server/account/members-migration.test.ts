/** The migration of a database from before there were members. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../database/migrate.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database/test-database.ts';
import { migrations } from './schema.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await openTestDatabase({ isEmpty: true });
});
afterAll(() => testDatabase.close());

test('the owner of keys becomes a member with the strongest role among them', async () => {
  const { database } = testDatabase;
  await migrate(
    database,
    migrations.filter((one) => one.name < '0016'),
  );
  const { read: db } = database;
  for (const id of ['one', 'two']) await sql`insert into accounts values (${id}, ${id}, 1)`.execute(db);
  const keys = [
    ['one', 'viewer', 'Ada@Example.com', 5],
    ['one', 'admin', 'ada@example.com', 9],
    ['one', 'developer', 'ADA@example.com', 7],
    ['one', 'unassigned', 'a service', 3],
    ['two', 'root', 'ada@example.com', 4],
  ] as const;
  for (const [at, [account, role, email, created]] of keys.entries()) {
    await sql`insert into keys (id, account_id, name, role, email, created_at)
      values (${`key-${at}`}, ${account}, 'Any name', ${role}, ${email}, ${created})`.execute(db);
  }
  await migrate(database, migrations);

  const members = await db.selectFrom('members').selectAll().orderBy('created_at').execute();
  const rows = members.map((one) => [one.account_id, one.owner, one.role, one.created_at, one.joined_at]);
  expect(rows).toEqual([
    ['one', 'a service', 'unassigned', 3, 3],
    ['two', 'ada@example.com', 'root', 4, 4],
    ['one', 'ada@example.com', 'admin', 5, 5],
  ]);
  const owners = await db.selectFrom('keys').select('owner').orderBy('id').execute();
  expect(owners.map((one) => one.owner)).toEqual([
    'ada@example.com',
    'ada@example.com',
    'ada@example.com',
    'a service',
    'ada@example.com',
  ]);
  const accounts = await db.selectFrom('accounts').select('deleted_at').execute();
  expect(accounts).toEqual([{ deleted_at: null }, { deleted_at: null }]);
});
