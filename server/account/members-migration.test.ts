/** The migration of a database from before there were members. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Database } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import { openPostgres } from '../database/postgres/postgres.ts';
import { openSqlite } from '../database/sqlite/sqlite.ts';
import { createLog } from '../log.ts';
import { createDatabase, dropDatabase } from '../testing/database/postgres-server.ts';
import { migrations } from './schema.ts';

const postgres = inject('postgres');
const name = `upgrade_${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'switchyard-upgrade-'));
let database: Database;
beforeAll(async () => {
  database = postgres
    ? await openPostgres(await createDatabase(postgres, name), createLog('silent'))
    : await openSqlite(join(folder, 'test.db'));
});
afterAll(async () => {
  await database.close();
  if (postgres) await dropDatabase(postgres, name);
  rmSync(folder, { recursive: true, force: true });
});

test('the owner of keys becomes a member with the strongest role among them', async () => {
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
