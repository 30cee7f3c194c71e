/** Row locks: PostgreSQL gets the clause that a statement names, and SQLite the statement without it. */
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import type { Database, Reader, Writer } from './database.ts';
import { prepareStatement } from './prepared-statements.ts';
import { locked, lockRows, lockTableOrName, type RowLock } from './row-locks.ts';

// A type, not an interface: `withTables` needs its index signature.
type NumberTables = { numbers: { n: number } };

const postgres = inject('postgres');
let testDatabase: TestDatabase;
let database: Database;

beforeEach(async () => {
  testDatabase = await openTestDatabase({ isEmpty: true });
  database = testDatabase.database;
  await database.transact(async (tx) => {
    await sql`create table numbers (n integer primary key)`.execute(tx);
    await sql`insert into numbers (n) values (1), (2)`.execute(tx);
  });
});
afterEach(() => testDatabase.close());

const asNumbers = (db: Reader) => db.withTables<NumberTables>();
const selectNumber = (db: Reader, n: number) =>
  asNumbers(db).selectFrom('numbers').select('n').where('n', '=', n);
const selectPlain = (db: Reader) => asNumbers(db).selectFrom('numbers').select('n').orderBy('n');

const CLAUSES: [RowLock, string][] = [
  ['update', 'for update'],
  ['update skip locked', 'for update skip locked'],
  ['share', 'for share'],
  ['key share', 'for key share'],
];

describe.each(CLAUSES)('the lock %s', (lock, clause) => {
  test('adds its clause on PostgreSQL and nothing on SQLite', async () => {
    const statements = await database.transact(async (tx) => {
      expect(await locked(tx, selectPlain(tx), lock).execute()).toEqual([{ n: 1 }, { n: 2 }]);
      return {
        plain: selectPlain(tx).compile().sql,
        locking: locked(tx, selectPlain(tx), lock).compile().sql,
      };
    });
    expect(statements.locking).toBe(postgres ? `${statements.plain} ${clause}` : statements.plain);
  });

  test('works in a prepared statement, which may be built outside a transaction', async () => {
    const select = prepareStatement((db, { n }: { n: number }) => locked(db, selectNumber(db, n), lock));
    expect(await select(database.read, { n: 1 })).toEqual([{ n: 1 }]);
    expect(await database.transact((tx) => select(tx, { n: 2 }))).toEqual([{ n: 2 }]);
  });
});

test('a lock on one table of a join names the table', async () => {
  await database.transact(async (tx) => {
    const join = asNumbers(tx)
      .selectFrom('numbers')
      .innerJoin('numbers as others', 'others.n', 'numbers.n')
      .select('others.n')
      .orderBy('others.n');
    const query = locked(tx, join, 'share', 'others');
    expect(query.compile().sql.endsWith(' for share of "others"')).toBe(Boolean(postgres));
    expect(await query.execute()).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

test('lockRows and lockTableOrName succeed on both databases', async () => {
  await database.transact(async (tx) => {
    await lockRows(tx, selectPlain(tx), 'update');
    await lockTableOrName(tx, { table: 'numbers' as never });
  });
  expect(await selectPlain(database.read).execute()).toEqual([{ n: 1 }, { n: 2 }]);
});

// SQLite has one writer: a second transaction begins when the first has ended.
describe.skipIf(!postgres)('during another transaction', () => {
  const find = async (tx: Writer): Promise<number[]> => {
    const rows = await locked(tx, selectPlain(tx), 'update skip locked').execute();
    return rows.map((row) => row.n);
  };
  const findDuring = (lock: (tx: Writer) => Promise<unknown>): Promise<number[]> =>
    database.transact(async (tx) => {
      await lock(tx);
      return database.transact(find);
    });

  test.each<RowLock>(['update', 'update skip locked', 'share', 'key share'])(
    '%s locks the row',
    async (lock) => {
      expect(await findDuring((tx) => locked(tx, selectNumber(tx, 1), lock).execute())).toEqual([2]);
    },
  );

  test('lockRows locks the rows', async () => {
    expect(await findDuring((tx) => lockRows(tx, selectNumber(tx, 2), 'update'))).toEqual([1]);
  });

  test('lockTableOrName keeps another transaction from writing until the first has ended', async () => {
    const refused = database.transact(async (tx) => {
      await lockTableOrName(tx, { table: 'numbers' as never });
      await database.transact(async (other) => {
        await sql`set local lock_timeout = '50ms'`.execute(other);
        await sql`insert into numbers (n) values (3)`.execute(other);
      });
    });
    await expect(refused).rejects.toThrow('lock timeout');
  });
});
