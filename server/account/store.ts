/** Every statement on accounts and keys. */
import type { AccountId, KeyId } from '@switchyard/contract/ids.ts';
import { sql } from 'kysely';
import type { Reader, Writer } from '../database/database.ts';
import { isAfter } from '../database/list.ts';
import { prepared } from '../database/prepared.ts';
import type { PageRequest } from '../http/paging.ts';
import type { AccountsTable, KeysTable } from './schema.ts';

export async function insertAccount(tx: Writer, account: AccountsTable): Promise<void> {
  await tx.insertInto('accounts').values(account).execute();
}

export function findAccount(db: Reader, id: AccountId): Promise<AccountsTable | undefined> {
  return db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Nobody else makes an account until the transaction ends; PostgreSQL only. */
export async function lockAccounts(tx: Writer): Promise<void> {
  await sql`lock table accounts in share row exclusive mode`.execute(tx);
}

export async function isEmpty(db: Reader): Promise<boolean> {
  return (await db.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) === undefined;
}

export async function insertKey(tx: Writer, key: KeysTable): Promise<void> {
  await tx.insertInto('keys').values(key).execute();
}

const selectKey = prepared((db, { id }: { id: KeyId }) =>
  db.selectFrom('keys').selectAll().where('id', '=', id),
);

export async function findKey(db: Reader, id: KeyId): Promise<KeysTable | undefined> {
  return (await selectKey(db, { id }))[0];
}

/** Keys of the account, or only the key itself and those it made. */
export function listKeys(
  db: Reader,
  account: AccountId,
  only: KeyId | null,
  page: PageRequest,
): Promise<KeysTable[]> {
  let query = db
    .selectFrom('keys')
    .selectAll()
    .where('account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (only !== null) query = query.where((eb) => eb.or([eb('id', '=', only), eb('created_by', '=', only)]));
  const { after } = page;
  if (after) query = query.where(isAfter('keys', after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** With `locks` nobody else revokes one of them until this transaction is over. */
export async function countRootKeys(tx: Writer, account: AccountId, locks: boolean): Promise<number> {
  const query = tx
    .selectFrom('keys')
    .select('id')
    .where('account_id', '=', account)
    .where('role', '=', 'root')
    .orderBy('id');
  return (await (locks ? query.forUpdate() : query).execute()).length;
}

export async function deleteKey(tx: Writer, id: KeyId): Promise<void> {
  await tx.deleteFrom('keys').where('id', '=', id).execute();
}

export async function touchKey(tx: Writer, id: KeyId, at: number): Promise<void> {
  await tx.updateTable('keys').set({ last_used_at: at }).where('id', '=', id).execute();
}
