/** All SQL statements on the audit log. */
import type { AccountId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { type Selectable, sql } from 'kysely';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isInWindow } from '../../platform/database/list-order.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { AuditEntriesTable, AuditHeadTable } from './schema.ts';

/** A row of the audit log. */
export type EntryRow = Selectable<AuditEntriesTable>;
/** A row before it is chained. */
export type NewEntry = Omit<EntryRow, 'seq' | 'number' | 'previous_hash' | 'hash'>;
/** The position of an entry in the chain, with both hashes. */
export type ChainLink = Pick<EntryRow, 'seq'> & { number: number; previous_hash: string; hash: string };

const insert = prepareStatement((db, row: NewEntry) => db.insertInto('audit_entries').values(row));

/** Inserts an unchained entry in the transaction of its action. */
export async function insertEntry(tx: Writer, entry: NewEntry): Promise<void> {
  await insert(tx, entry);
}

/** The conditions of a list; null means any value. */
export interface EntryFilter {
  account: AccountId | null;
  key: KeyId | null;
  operation: string | null;
  application: string | null;
}

/** Lists the entries in a time window, newest first: one more than the page has, to tell if another page follows. */
export function listEntries(
  db: Reader,
  { account, key, operation, application }: EntryFilter,
  window: { start: number; end: number },
  page: PageRequest & { limit: number },
): Promise<EntryRow[]> {
  let query = db
    .selectFrom('audit_entries')
    .selectAll()
    .where(isInWindow('audit_entries', window, page.after))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (account !== null) query = query.where('account_id', '=', account);
  if (key !== null) query = query.where('key_id', '=', key);
  if (operation !== null) query = query.where('operation', '=', operation);
  if (application !== null) query = query.where('application_id', '=', application);
  return query.execute();
}

/** Lists the persons and resources of the last effects of the operations in the window, newest first. */
export function listEffects(
  db: Reader,
  filter: {
    account: AccountId | null;
    operations: readonly string[];
    window: { start: number; end: number };
  },
  limit: number,
): Promise<Pick<EntryRow, 'id' | 'user_email' | 'resource'>[]> {
  return db
    .selectFrom('audit_entries')
    .select(['id', 'user_email', 'resource'])
    .where('account_id', '=', filter.account)
    .where('operation', 'in', filter.operations)
    .where('created_at', '>=', filter.window.start)
    .where('created_at', '<=', filter.window.end)
    .where('outcome', '=', 'done')
    .orderBy('created_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
}

/** Returns true while a committed entry waits for the chain. */
export async function hasUnchained(db: Reader): Promise<boolean> {
  const query = db.selectFrom('audit_entries').select('seq').where('number', 'is', null);
  return (await query.orderBy('seq').limit(1).executeTakeFirst()) !== undefined;
}

/** Lists committed entries that are not chained, in the order of the chain. */
export function listUnchained(db: Reader, limit: number): Promise<EntryRow[]> {
  const query = db.selectFrom('audit_entries').selectAll().where('number', 'is', null);
  return query.orderBy('seq').limit(limit).execute();
}

/** Counts committed entries that are not chained. */
export async function countUnchained(db: Reader): Promise<number> {
  const { count } = await db
    .selectFrom('audit_entries')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('number', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Lists chained entries after a position. `seq` breaks ties, because a forged chain may have a number twice. */
export function listChained(
  db: Reader,
  after: { number: number; seq: number },
  limit: number,
): Promise<EntryRow[]> {
  return db
    .selectFrom('audit_entries')
    .selectAll()
    .where(sql<boolean>`(number, seq) > (${after.number}, ${after.seq})`)
    .where('number', 'is not', null)
    .orderBy('number')
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Returns the last entry of the chain; undefined when its row is missing. */
export function findHead(db: Reader): Promise<AuditHeadTable | undefined> {
  return db.selectFrom('audit_head').selectAll().executeTakeFirst();
}

/** Locks and returns the head of the chain until the transaction ends; undefined while another process holds it. */
export function lockHead(tx: Writer): Promise<AuditHeadTable | undefined> {
  const query = tx.selectFrom('audit_head').selectAll();
  return locked(tx, query, 'update skip locked').executeTakeFirst();
}

/** Moves the head to the last link; the caller holds its lock. */
export async function updateHead(
  tx: Writer,
  { number, hash }: Pick<ChainLink, 'number' | 'hash'>,
): Promise<void> {
  await tx.updateTable('audit_head').set({ number, hash }).where('id', '=', 1).execute();
}

/** Stores the links of several entries with one statement. */
export async function linkEntries(tx: Writer, links: readonly ChainLink[]): Promise<void> {
  const rows = links.map(
    (link) =>
      sql`(cast(${link.seq} as bigint), cast(${link.number} as bigint), ${link.previous_hash}, ${link.hash})`,
  );
  await sql`update audit_entries set number = given.column2, previous_hash = given.column3, hash = given.column4
    from (values ${sql.join(rows)}) as given where audit_entries.seq = given.column1`.execute(tx);
}
