/** Statements on accounts and keys. */
import { hasRight, type Role } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import { locked, lockTableOrName } from '../../platform/database/row-locks.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import type { AccountsTable, KeysTable } from './schema.ts';

export async function insertAccount(tx: Writer, account: AccountsTable): Promise<void> {
  await tx.insertInto('accounts').values(account).execute();
}

/** Returns the account unless it is deleted. */
export function findAccount(db: Reader, id: AccountId): Promise<AccountsTable | undefined> {
  return db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Returns the id of the oldest account that is not deleted; undefined on a server without one. */
export async function findFirstAccountId(db: Reader): Promise<AccountId | undefined> {
  const query = db
    .selectFrom('accounts')
    .select('id')
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1);
  return (await query.executeTakeFirst())?.id;
}

/** Locks the account, and with it its members and keys, until the transaction ends; undefined when it is deleted. */
export function lockAccount(tx: Writer, id: AccountId): Promise<AccountsTable | undefined> {
  const query = tx.selectFrom('accounts').selectAll().where('id', '=', id).where('deleted_at', 'is', null);
  return locked(tx, query, 'update').executeTakeFirst();
}

/** Lists accounts, newest first; one row more than the limit shows that more follow. */
export function listAccounts(db: Reader, page: PageRequest): Promise<AccountsTable[]> {
  let query = db
    .selectFrom('accounts')
    .selectAll()
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('accounts', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/**
 * Returns true if a caller with the role manages what all accounts share, such as the workers: root, and every member on a
 * server with one account. The role still needs the right to do it.
 */
export async function managesServer(db: Reader, role: Role): Promise<boolean> {
  if (hasRight(role, 'server')) return true;
  const accounts = db.selectFrom('accounts').select('id').where('deleted_at', 'is', null).limit(2);
  return (await accounts.execute()).length === 1;
}

export async function updateAccount(
  tx: Writer,
  id: AccountId,
  changes: Partial<AccountsTable>,
): Promise<void> {
  await tx.updateTable('accounts').set(changes).where('id', '=', id).execute();
}

/** Deletes all keys and members of the account, so that nobody can use it. */
export async function deleteKeysAndMembers(tx: Writer, account: AccountId): Promise<void> {
  await tx.deleteFrom('keys').where('account_id', '=', account).execute();
  await tx.deleteFrom('members').where('account_id', '=', account).execute();
  await tx.deleteFrom('removed_members').where('account_id', '=', account).execute();
}

/** Lists at most 100 accounts that are marked as deleted, oldest first. */
export function listDeletedAccounts(db: Reader): Promise<AccountsTable[]> {
  return db
    .selectFrom('accounts')
    .selectAll()
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .limit(100)
    .execute();
}

/** Removes the row of a deleted account, after everything that refers to it. */
export async function removeAccount(tx: Writer, id: AccountId): Promise<void> {
  await tx.deleteFrom('accounts').where('id', '=', id).execute();
}

/** Blocks every other transaction that creates an account until this one ends. */
export async function lockAccountsTable(tx: Writer): Promise<void> {
  await lockTableOrName(tx, { table: 'accounts' });
}

export async function hasNoAccounts(db: Reader): Promise<boolean> {
  return (await db.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) === undefined;
}

export async function insertKey(tx: Writer, key: KeysTable): Promise<void> {
  await tx.insertInto('keys').values(key).execute();
}

const selectKey = prepareStatement(
  (db, { id }: { id: KeyId }) => db.selectFrom('keys').selectAll().where('id', '=', id),
  { isReusable: true },
);

export async function findKey(db: Reader, id: KeyId): Promise<KeysTable | undefined> {
  return (await selectKey(db, { id }))[0];
}

/** Lists keys of the account, newest first; with `only`, that key and the keys that it created. */
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

/** Lists the keys of an owner: a person or a service. */
export function listKeysByOwner(tx: Writer, account: AccountId, owner: string): Promise<KeysTable[]> {
  return tx
    .selectFrom('keys')
    .selectAll()
    .where('account_id', '=', account)
    .where('owner', '=', owner)
    .execute();
}

export async function countKeysByOwner(tx: Writer, account: AccountId, owner: string): Promise<number> {
  const { count } = await tx
    .selectFrom('keys')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('account_id', '=', account)
    .where('owner', '=', owner)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Lists all keys of the account. */
export function listAccountKeys(db: Reader, account: AccountId): Promise<KeysTable[]> {
  return db.selectFrom('keys').selectAll().where('account_id', '=', account).execute();
}

/** Lists the keys of the account that have one of the roles. */
export function listKeysByRole(
  tx: Writer,
  account: AccountId,
  roles: readonly Role[],
): Promise<Pick<KeysTable, 'id' | 'role'>[]> {
  return tx
    .selectFrom('keys')
    .select(['id', 'role'])
    .where('account_id', '=', account)
    .where('role', 'in', roles)
    .execute();
}

/** Deletes the keys. The keys that a deleted key created then descend from its parent, so that a cascade still reaches them. */
export async function deleteKeys(tx: Writer, ids: readonly KeyId[]): Promise<void> {
  for (const id of ids) {
    const key = await tx.deleteFrom('keys').where('id', '=', id).returningAll().executeTakeFirst();
    if (!key) continue;
    const { descends_from } = key;
    await tx.updateTable('keys').set({ descends_from }).where('descends_from', '=', id).execute();
    await tx
      .updateTable('members')
      .set({ invited_by_key: descends_from })
      .where('account_id', '=', key.account_id)
      .where('invited_by_key', '=', id)
      .execute();
  }
}

/** Changes the role of a key that has no token; the token of any other key contains its role. */
export async function updateKeyRole(tx: Writer, id: KeyId, role: Role): Promise<void> {
  await tx.updateTable('keys').set({ role }).where('id', '=', id).execute();
}

/** Stores the last use of the key, in milliseconds since the epoch. */
export async function storeKeyUse(tx: Writer, id: KeyId, at: number): Promise<void> {
  await tx.updateTable('keys').set({ last_used_at: at }).where('id', '=', id).execute();
}
