/** Rolling upgrades: servers of the release before continue to work while a new one applies its migrations. */
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Migration } from '../platform/database/migrate.ts';
import { findBreakingStatements, listStatements } from '../testing/database/migration-effects.ts';
import { migrations } from './migrations.ts';

describe('every migration only adds, or says what it breaks', () => {
  test.each(migrations.map((migration) => ({ migration, name: migration.name })))(
    '$name',
    async ({ migration }) => {
      const breaking = findBreakingStatements(await listStatements(migration));
      // Either make it additive, in two releases if it has to be, or set `breaks`, which demands a stop of all servers.
      if (migration.breaks === undefined) expect(breaking).toEqual([]);
      else expect(breaking).not.toEqual([]);
    },
  );
});

describe('breaking statements', () => {
  const migrate = (statement: string): Migration => ({
    name: '9000-test',
    up: async (db) => {
      await sql.raw(statement).execute(db);
    },
  });
  test.each([
    'alter table runs drop column status',
    'alter table runs rename to jobs',
    'alter table runs rename column status to state',
    'alter table runs alter column name set not null',
    'alter table runs add column "size" bigint not null',
    'alter table runs add column "size" bigint unique',
    'alter table runs add constraint positive check (size > 0)',
    'create unique index runs_by_name on runs (name)',
    'create trigger refuse before delete on runs for each row execute function refuse()',
    "update runs set status = 'gone'",
    'delete from runs',
    'drop table runs',
    "insert into runs (id) values ('one')",
    'truncate runs',
  ])('%s is found', async (statement) => {
    expect(findBreakingStatements(await listStatements(migrate(statement)))).toEqual([statement]);
  });

  test.each([
    'create index runs_by_name on runs (name)',
    'drop index runs_by_name',
    'alter table runs add column "size" bigint',
    'alter table runs add column "size" bigint default 0 not null',
  ])('%s only adds', async (statement) => {
    expect(findBreakingStatements(await listStatements(migrate(statement)))).toEqual([]);
  });

  test('a migration may fill its own columns and tables', async () => {
    const migration: Migration = {
      name: '9000-test',
      async up(db) {
        await db.schema.createTable('sizes').addColumn('id', 'text').execute();
        await db.schema.alterTable('runs').addColumn('size', 'bigint').execute();
        await sql`update runs set size = 0`.execute(db);
        await sql`insert into sizes select id from runs`.execute(db);
        await sql`create unique index sizes_by_id on sizes (id)`.execute(db);
        await sql`alter table sizes alter column id set not null`.execute(db);
      },
    };
    expect(findBreakingStatements(await listStatements(migration))).toEqual([]);
  });
});
