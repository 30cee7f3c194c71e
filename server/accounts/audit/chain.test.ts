/** The audit chain in the database: refused changes, concurrent chaining, and the detection of every forgery. */
import { createHash } from 'node:crypto';
import { hashEntry } from '@switchyard/contract/account/proofs/audit-chain.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Database, Writer } from '../../platform/database/database.ts';
import { systemRandom } from '../../platform/random.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { chainEntries } from './chain.ts';
import { formatEntry, systemEntry } from './entry.ts';
import { insertEntry, listChained, listUnchained } from './store.ts';
import { verifyChain } from './verify-chain.ts';

const postgres = inject('postgres');
const START = { number: 0, seq: 0 };
const ZEROS = '0'.repeat(64);
let testDatabase: TestDatabase;
/** Two connection pools on PostgreSQL, as of two processes; SQLite has one. */
let databases: [Database, Database];

beforeAll(async () => {
  testDatabase = await openTestDatabase();
  databases = [testDatabase.database, await testDatabase.connectAgain()];
});
afterAll(() => testDatabase.close());

const random = systemRandom;
const add = (database: Database, operation: string) =>
  database.transact((tx) =>
    insertEntry(
      tx,
      systemEntry({ random, now: 1_800_000_000_000 }, operation, 'account-1' as AccountId, { a: 'ü' }),
    ),
  );

/** Drops the triggers and empties the log, as a database administrator can. */
async function dropGuards(): Promise<void> {
  await databases[0].transact(async (tx) => {
    for (const trigger of ['unchanged', 'kept', ...(postgres ? ['whole'] : [])])
      await sql`drop trigger if exists ${sql.id(`audit_entries_${trigger}`)} ${postgres ? sql`on audit_entries` : sql``}`.execute(
        tx,
      );
    await sql`delete from audit_entries`.execute(tx);
    await sql`update audit_head set number = 0, hash = ${ZEROS}`.execute(tx);
  });
}

describe('the database refuses', () => {
  test.each<[string, RawBuilder<unknown>]>([
    ['to change an entry', sql`update audit_entries set operation = 'getAccount'`],
    ['to change a chained entry', sql`update audit_entries set hash = ${ZEROS}`],
    ['to unchain an entry', sql`update audit_entries set number = null`],
    ['to delete an entry', sql`delete from audit_entries`],
    ...(postgres
      ? [['to truncate the table', sql`truncate audit_entries`] satisfies [string, RawBuilder<unknown>]]
      : []),
  ])('%s', async (_, statement) => {
    await add(databases[0], 'createRun');
    await chainEntries(databases[0]);
    const before = await listChained(databases[0].read, START, 100);
    await expect(databases[0].transact((tx) => statement.execute(tx))).rejects.toThrow(/only added, never/);
    expect(await listChained(databases[0].read, START, 100)).toEqual(before);
  });

  test('to change the content of an entry in the statement that chains it', async () => {
    await add(databases[0], 'createRun');
    const statement = sql`update audit_entries set number = 99, hash = '', previous_hash = '', role = 'root' where number is null`;
    await expect(databases[0].transact((tx) => statement.execute(tx))).rejects.toThrow(/only added, never/);
    await chainEntries(databases[0]);
  });
});

test('an entry has the hash of the entry before it and the hash of its own canonical JSON', async () => {
  await dropGuards();
  await add(databases[0], 'createRun');
  await add(databases[0], 'deleteRun');
  await chainEntries(databases[0]);
  const [first, second] = (await listChained(databases[0].read, START, 10)).map(formatEntry);
  expect(first?.previous_hash).toBe(ZEROS);
  expect(second?.previous_hash).toBe(first?.hash);
  const text =
    '{"account_id":"account-1","address":null,"created_at":"2027-01-15T08:00:00.000Z",' +
    `"id":"${first?.id}","key_id":null,"key_name":null,"number":1,"operation":"createRun","outcome":"done",` +
    `"previous_hash":"${ZEROS}","request_id":null,"resource":{"a":"ü"},"role":null,"user_email":null}`;
  expect(first?.hash).toBe(createHash('sha256').update(text).digest('hex'));
});

test('two processes that chain concurrently build one chain of all entries', async () => {
  await dropGuards();
  const added = Array.from({ length: 600 }, (_, at) => add(databases[at % 2] as Database, `operation-${at}`));
  // Each process chains after every entry that it added.
  await Promise.all(added.map((entry, at) => entry.then(() => chainEntries(databases[at % 2] as Database))));
  await chainEntries(databases[0]);
  const found = await verifyChain(databases[0].read, null);
  expect(found).toMatchObject({ entries: 600, unchained: 0, problem: null });
  const operations = (await listChained(databases[0].read, START, 1000)).map((one) => one.operation);
  expect(new Set(operations).size).toBe(600);
});

test.runIf(postgres)(
  'an entry that commits late is chained after entries that committed before it',
  async () => {
    await dropGuards();
    const [one, other] = databases;
    await one.transact(async (tx) => {
      await insertEntry(tx, systemEntry({ random, now: 1 }, 'late', 'account-1' as AccountId, {}));
      await add(other, 'early');
      await chainEntries(other);
    });
    await chainEntries(other);
    const rows = await listChained(one.read, START, 10);
    expect(rows.map((row) => [row.number, row.operation])).toEqual([
      [1, 'early'],
      [2, 'late'],
    ]);
    expect(await verifyChain(one.read, null)).toMatchObject({ entries: 2, problem: null });
  },
);

test('the next process chains entries that a killed process committed but did not chain', async () => {
  await dropGuards();
  await add(databases[0], 'first');
  await chainEntries(databases[0]);
  await add(databases[0], 'second');
  // Rolls back, as after a kill in the transaction that chains.
  const rolledBack = databases[0].transact(async (tx) => {
    await sql`update audit_entries set number = 2, previous_hash = '', hash = '' where number is null`.execute(
      tx,
    );
    throw new Error('killed');
  });
  await expect(rolledBack).rejects.toThrow('killed');
  expect(await verifyChain(databases[1].read, null)).toMatchObject({
    entries: 1,
    unchained: 1,
    problem: null,
  });
  expect(await listUnchained(databases[1].read, 10)).toHaveLength(1);
  await chainEntries(databases[1]);
  expect(await verifyChain(databases[0].read, null)).toMatchObject({
    entries: 2,
    unchained: 0,
    problem: null,
  });
});

describe('verifying 5 entries detects', () => {
  let anchor: { number: number; hash: string };
  beforeEach(async () => {
    await dropGuards();
    for (let at = 1; at <= 5; at += 1) await add(databases[0], `operation-${at}`);
    const last = await chainEntries(databases[0]);
    anchor = { number: 5, hash: last?.hash ?? '' };
  });
  const swap = (tx: Writer, columns: string[]) => {
    const parts = columns.map((column) => {
      const other = sql`(select ${sql.ref(column)} from audit_entries o where o.number = 6 - audit_entries.number)`;
      return sql`${sql.ref(column)} = ${other}`;
    });
    return sql`update audit_entries set ${sql.join(parts)} where number in (2, 4)`.execute(tx);
  };
  /** Recomputes the whole chain after a change, as an attacker with full access to the database can. */
  const rewrite = async (tx: Writer) => {
    await sql`update audit_entries set operation = 'getAccount' where number = 2`.execute(tx);
    let hash = ZEROS;
    for (const row of await listChained(tx, START, 10)) {
      const previous_hash = hash;
      hash = hashEntry(formatEntry({ ...row, previous_hash }));
      await tx.updateTable('audit_entries').set({ previous_hash, hash }).where('seq', '=', row.seq).execute();
    }
    await tx.updateTable('audit_head').set({ hash }).execute();
  };
  const dropTail = async (tx: Writer) => {
    await sql`delete from audit_entries where number > 3`.execute(tx);
  };
  const each = [
    'created_at = created_at + 1',
    "account_id = 'account-2'",
    "key_id = 'key-1'",
    "key_name = 'root'",
    "role = 'root'",
    "user_email = 'a@example.com'",
    "operation = 'getAccount'",
    "outcome = 'refused'",
    `resource = '{"a":"u"}'`,
    "resource = 'rubbish'",
    "request_id = 'request-1'",
    "address = '127.0.0.1'",
    "id = 'entry-1'",
  ].map((change): [string, (tx: Writer) => Promise<unknown>, string, number] => [
    change,
    (tx) => sql`update audit_entries set ${sql.raw(change)} where number = 3`.execute(tx),
    'Entry 3 ',
    2,
  ]);

  test.each<[string, (tx: Writer) => Promise<unknown>, string, number]>([
    ...each,
    [
      'a forged hash',
      (tx) => sql`update audit_entries set hash = ${'a'.repeat(64)} where number = 3`.execute(tx),
      'Entry 3 ',
      2,
    ],
    [
      'a forged previous hash',
      (tx) => sql`update audit_entries set previous_hash = ${ZEROS} where number = 3`.execute(tx),
      'Entry 3 ',
      2,
    ],
    [
      'a deleted entry',
      (tx) => sql`delete from audit_entries where number = 3`.execute(tx),
      'Entry 3 is missing',
      2,
    ],
    [
      'a deleted first entry',
      (tx) => sql`delete from audit_entries where number = 1`.execute(tx),
      'Entry 1 is missing',
      0,
    ],
    ['two entries with swapped content', (tx) => swap(tx, ['operation', 'id']), 'Entry 2 ', 1],
    ['deleted last entries', dropTail, 'ends at entry 3, but 5 were chained', 3],
    ['a deleted head', (tx) => sql`delete from audit_head`.execute(tx), 'audit_head', 0],
  ])('%s', async (_, change, message, intact) => {
    try {
      await databases[0].transact(change);
      const found = await verifyChain(databases[0].read, null);
      expect(found.problem).toContain(message);
      expect(found.entries).toBe(intact);
    } finally {
      await databases[0].transact((tx) =>
        sql`insert into audit_head (id, number, hash) values (1, 0, '') on conflict do nothing`.execute(tx),
      );
    }
  });

  test('deleted last entries with a moved head only by the anchor', async () => {
    await databases[0].transact(async (tx) => {
      await dropTail(tx);
      const [last] = (await listChained(tx, START, 10)).slice(-1);
      await sql`update audit_head set number = 3, hash = ${last?.hash}`.execute(tx);
    });
    expect((await verifyChain(databases[0].read, null)).problem).toBeNull();
    expect((await verifyChain(databases[0].read, anchor)).problem).toContain('before entry 5 of the anchor');
  });

  test('a rewritten chain only by the anchor', async () => {
    expect((await verifyChain(databases[0].read, anchor)).problem).toBeNull();
    await databases[0].transact(rewrite);
    expect((await verifyChain(databases[0].read, null)).problem).toBeNull();
    expect((await verifyChain(databases[0].read, anchor)).problem).toContain('the chain was rewritten');
  });
});
