/** Every statement on the audit log. */
import type { AccountId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { type Selectable, sql } from 'kysely';
import type { Reader, Writer } from '../database/database.ts';
import { isInWindow } from '../database/list-order.ts';
import { prepareStatement } from '../database/prepared-statements.ts';
import { locked } from '../database/row-locks.ts';
import type { PageRequest } from '../http/lists/pagination.ts';
import type { AuditEntriesTable, AuditHeadTable } from './schema.ts';

export type EntryRow = Selectable<AuditEntriesTable>;
export type NewEntry = Omit<EntryRow, 'seq' | 'number' | 'previous_hash' | 'hash'>;
export type ChainLink = Pick<EntryRow, 'seq'> & { number: number; previous_hash: string; hash: string };

const insert = prepareStatement((db, row: NewEntry) => db.insertInto('audit_entries').values(row));

export async function insertEntry(tx: Writer, entry: NewEntry): Promise<void> {
  await insert(tx, entry);
}

export interface EntryFilter {
  /** null: of every account. */
  account: AccountId | null;
  key: KeyId | null;
  operation: string | null;
  application: string | null;
}

/** Newest first. */
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

export async function hasUnchained(db: Reader): Promise<boolean> {
  const query = db.selectFrom('audit_entries').select('seq').where('number', 'is', null);
  return (await query.orderBy('seq').limit(1).executeTakeFirst()) !== undefined;
}

/** Committed entries that have no place yet, in the order they get theirs. */
export function listUnchained(db: Reader, limit: number): Promise<EntryRow[]> {
  const query = db.selectFrom('audit_entries').selectAll().where('number', 'is', null);
  return query.orderBy('seq').limit(limit).execute();
}

export async function countUnchained(db: Reader): Promise<number> {
  const { n } = await db
    .selectFrom('audit_entries')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('number', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Entries with a place after this one, by their numbers. */
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

export function findHead(db: Reader): Promise<AuditHeadTable | undefined> {
  return db.selectFrom('audit_head').selectAll().executeTakeFirst();
}

/** The end of the chain, which nobody else makes longer until the transaction is over; undefined while somebody does. */
export function lockHead(tx: Writer): Promise<AuditHeadTable | undefined> {
  const query = tx.selectFrom('audit_head').selectAll();
  return locked(tx, query, 'update skip locked').executeTakeFirst();
}

export async function updateHead(
  tx: Writer,
  { number, hash }: Pick<ChainLink, 'number' | 'hash'>,
): Promise<void> {
  await tx.updateTable('audit_head').set({ number, hash }).where('id', '=', 1).execute();
}

/** Gives entries their places, with one statement for all. */
export async function linkEntries(tx: Writer, links: readonly ChainLink[]): Promise<void> {
  const rows = links.map(
    (one) =>
      sql`(cast(${one.seq} as bigint), cast(${one.number} as bigint), ${one.previous_hash}, ${one.hash})`,
  );
  await sql`update audit_entries set number = given.column2, previous_hash = given.column3, hash = given.column4
    from (values ${sql.join(rows)}) as given where audit_entries.seq = given.column1`.execute(tx);
}
