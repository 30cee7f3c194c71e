/** Transactions, notifications, migrations and locks of both databases. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderInUseError } from '@switchyard/worker/folder-lock.ts';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { createDatabase, dropDatabase } from '../../testing/database/postgres-server.ts';
import { createLog } from '../log.ts';
import type { Database, Reader, Writer } from './database.ts';
import { lockDataFolder } from './folder-lock.ts';
import { listOlderServers } from './maintenance/connected-servers.ts';
import { type Migration, MigrationError, migrate } from './migrate.ts';
import { openPostgres } from './postgres/postgres.ts';
import { prepareStatement } from './prepared-statements.ts';
import { openSqlite } from './sqlite/sqlite.ts';

const postgres = inject('postgres');
let folder: string;
let address = '';
let name = '';
const opened: Database[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-database-'));
  name = `database_${process.pid}_${performance.now().toFixed(0)}`;
  address = postgres ? await createDatabase(postgres, name) : '';
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  rmSync(folder, { recursive: true, force: true });
  if (postgres) await dropDatabase(postgres, name);
});

async function open(): Promise<Database> {
  const database = postgres
    ? await openPostgres(address, createLog('silent'))
    : openSqlite(join(folder, 'test.db'));
  opened.push(database);
  return database;
}

async function openWithTable(): Promise<Database> {
  const database = await open();
  await database.transact((tx) => sql`create table numbers (n integer primary key)`.execute(tx));
  return database;
}

const add = (tx: Writer, n: number) => sql`insert into numbers (n) values (${n})`.execute(tx);
const numbers = async (db: Reader): Promise<number[]> =>
  (await sql<{ n: number }>`select n from numbers order by n`.execute(db)).rows.map((row) => row.n);

describe('a transaction', () => {
  test('stores all rows before it resolves, and returns the result of its work', async () => {
    const database = await openWithTable();
    const result = await database.transact(async (tx) => {
      await add(tx, 1);
      await add(tx, 2);
      return 'done';
    });
    expect(result).toBe('done');
    expect(await numbers(database.read)).toEqual([1, 2]);
  });

  test('stores nothing when its work throws, and throws the same error', async () => {
    const database = await openWithTable();
    const failure = new Error('work failed');
    const work = database.transact(async (tx) => {
      await add(tx, 1);
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await numbers(database.read)).toEqual([]);
  });

  test('is invisible to readers before its commit', async () => {
    const database = await openWithTable();
    const seen: number[][] = [];
    await database.transact(async (tx) => {
      await add(tx, 1);
      seen.push(await numbers(database.read));
    });
    expect(seen).toEqual([[]]);
  });

  test('fails alone among two hundred concurrent transactions', async () => {
    const database = await openWithTable();
    await database.transact((tx) => add(tx, 0));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, index) =>
        database.transact(async (tx) => {
          await add(tx, index + 1);
          if (index % 5 === 0) await add(tx, 0);
          if (index % 7 === 0) throw new Error('work failed after its insert');
        }),
      ),
    );
    const fails = (index: number): boolean => index % 5 === 0 || index % 7 === 0;
    expect(outcomes.map((one) => one.status)).toEqual(
      outcomes.map((_, index) => (fails(index) ? 'rejected' : 'fulfilled')),
    );
    const stored = outcomes.flatMap((_, index) => (fails(index) ? [] : [index + 1]));
    expect(await numbers(database.read)).toEqual([0, ...stored]);
  });

  test('fails alone although it shares a transaction with other inserts', async () => {
    const database = await openWithTable();
    await database.transact((tx) => add(tx, 0));
    const insert = prepareStatement((db, { n }: { n: number }) => ({
      compile: () => sql`insert into "numbers" ("n") values (${n})`.compile(db),
    }));
    const fails = (index: number): boolean => index % 50 === 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, index) =>
        database.transact((tx) => insert(tx, { n: fails(index) ? 0 : index }), { insertOnly: true }),
      ),
    );
    expect(outcomes.map((one) => one.status)).toEqual(
      outcomes.map((_, index) => (fails(index) ? 'rejected' : 'fulfilled')),
    );
    const stored = outcomes.flatMap((_, index) => (fails(index) ? [] : [index]));
    expect(await numbers(database.read)).toEqual([0, ...stored]);
  });

  test('is stored after close and open, also when it did not wait for the disk', async () => {
    const database = await openWithTable();
    await database.transact((tx) => add(tx, 7), { durable: false });
    await database.close();
    opened.length = 0;
    expect(await numbers((await open()).read)).toEqual([7]);
  });
});

describe('a notification', () => {
  test('reaches each listener of its topic, but none of another topic and none that stopped', async () => {
    const database = await open();
    const received: string[] = [];
    const stop = database.listen('runs-ended', () => received.push('stopped'));
    stop();
    database.listen('log-lines', () => received.push('other'));
    database.listen('runs-ended', () => received.push('first'));
    const notified = new Promise<void>((resolve) => database.listen('runs-ended', () => resolve()));
    database.notify('runs-ended');
    await notified;
    expect(received).toEqual(['first']);
  });

  test.runIf(postgres)('reaches other processes, and many together become fewer', async () => {
    const [here, there] = [await open(), await open()];
    let received = 0;
    const notified = new Promise<void>((resolve) =>
      there.listen('runs-queued', () => {
        received += 1;
        resolve();
      }),
    );
    for (let n = 0; n < 1000; n += 1) here.notify('runs-queued');
    await notified;
    expect(received).toBeGreaterThanOrEqual(1);
    expect(received).toBeLessThan(1000);
  });

  test.runIf(postgres)(
    'of every topic follows after the LISTEN connection broke and connected again',
    async () => {
      const database = await open();
      const again = new Promise<void>((resolve) => database.listen('runs-queued', resolve));
      await sql`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'switchyard listen'
      and datname = ${name}
    `.execute(database.read);
      await again;
      const notified = new Promise<void>((resolve) => database.listen('runs-ended', resolve));
      database.notify('runs-ended');
      await notified;
      const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_stat_activity where application_name = 'switchyard listen'
      and datname = ${name}
    `.execute(database.read);
      expect(rows[0]?.count).toBe(1);
    },
  );
});

test.runIf(postgres)('servers that know fewer migrations are found by their connections', async () => {
  const database = await open();
  for (const count of [3, 5]) opened.push(await openPostgres(address, createLog('silent'), count));
  const count = async (known: number) => (await listOlderServers(database.read, known)).length;
  expect([await count(3), await count(5), await count(6)]).toEqual([1, 2, 3]);
  // An earlier release names no number.
  expect(await listOlderServers(database.read, 3)).toEqual([
    { address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/), since: expect.any(Number) },
  ]);
  await opened.pop()?.close();
  await vi.waitFor(async () => expect(await count(6)).toBe(2));
});

test('a ping succeeds until the database is closed', async () => {
  const database = await open();
  await database.ping();
  await database.close();
  opened.length = 0;
  await expect(database.ping()).rejects.toThrow();
});

describe('migrations', () => {
  const migrations: readonly Migration[] = ['0001-first', '0002-second', '0003-third'].map((one) => ({
    name: one,
    async up(db, types) {
      await db.schema
        .createTable(one)
        .addColumn('seq', types.sequence)
        .addColumn('data', types.bytes)
        .execute();
    },
  }));
  test('run once and in order when several processes migrate at the same time', async () => {
    const databases = postgres ? await Promise.all([open(), open(), open(), open()]) : [await open()];
    const applied = await Promise.all(databases.map((database) => migrate(database, migrations)));
    expect(applied.flat().sort()).toEqual(migrations.map((one) => one.name).sort());
    expect(await migrate(databases[0] as Database, migrations)).toEqual([]);
  });

  test('roll back when they fail, and the error names them', async () => {
    const database = await open();
    const broken: Migration = {
      name: '9999-broken',
      async up(db) {
        await sql`create table half (n integer)`.execute(db);
        await sql`this is no statement`.execute(db);
      },
    };
    const failed = migrate(database, [...migrations, broken]);
    await expect(failed).rejects.toThrow(MigrationError);
    await expect(failed).rejects.toThrow('9999-broken');
    await expect(sql`select * from half`.execute(database.read)).rejects.toThrow();
  });
});

test('a data folder has one lock holder at a time, and keeps its id', () => {
  const first = lockDataFolder(folder);
  expect(() => lockDataFolder(folder)).toThrow(FolderInUseError);
  expect(() => lockDataFolder(folder)).toThrow(folder);
  first.release();
  const second = lockDataFolder(folder);
  expect(second.folderId).toBe(first.folderId);
  second.release();
});

test.runIf(!postgres)('the WAL stays bounded under twenty thousand transactions', async () => {
  const database = await open();
  const wal = join(folder, 'test.db-wal');
  await database.transact((tx) => sql`create table blobs (n integer primary key, data blob)`.execute(tx));
  let longestBytes = 0;
  let written = 0;
  const data = Buffer.alloc(8192, 1);
  await Promise.all(
    Array.from({ length: 50 }, async (_, client) => {
      for (let n = 0; n < 400; n += 1) {
        await database.transact((tx) =>
          sql`insert into blobs (n, data) values (${client * 400 + n}, ${data})`.execute(tx),
        );
        written += data.length;
        longestBytes = Math.max(longestBytes, statSync(wal).size);
      }
    }),
  );
  // At least 164 MB of rows went through the WAL.
  expect(written).toBe(20_000 * 8192);
  expect(longestBytes).toBeLessThan(128 * 1024 * 1024);
});
