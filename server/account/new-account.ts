/** How an account begins, at the first start and by sign-up: with a member who has come in, and a key of theirs. */

import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../database/database.ts';
import { makeId, type Random } from '../random.ts';
import { insertMember } from './member-store.ts';
import { type AccountsTable, type KeysTable, type MembersTable, normalizeEmail } from './schema.ts';
import { insertAccount, insertKey } from './store.ts';

export interface NewAccount {
  account: AccountsTable;
  member: MembersTable;
  key: KeysTable;
}

/** The rows of a new account. */
export function buildNewAccount(
  random: Random,
  now: number,
  given: { name: string; email: string; role: Role; keyName?: string },
): NewAccount {
  const account: AccountsTable = {
    id: makeId<AccountId>(random, 'account'),
    name: given.name,
    created_at: now,
    deleted_at: null,
  };
  const member: MembersTable = {
    id: makeId<MemberId>(random, 'mem'),
    account_id: account.id,
    email: given.email,
    owner: normalizeEmail(given.email),
    name: '',
    role: given.role,
    joined_at: now,
    invite_id: null,
    invite_expires_at: null,
    invited_by: null,
    created_at: now,
    updated_at: now,
  };
  const key = buildFirstKey(member, makeId<KeyId>(random, 'key'), now);
  return { account, member, key: given.keyName ? { ...key, name: given.keyName } : key };
}

export async function insertNewAccount(tx: Writer, made: NewAccount): Promise<void> {
  await insertAccount(tx, made.account);
  await insertMember(tx, made.member);
  await insertKey(tx, made.key);
}

/** The key that somebody who comes in is given. */
export function buildFirstKey(member: MembersTable, id: KeyId, now: number): KeysTable {
  return {
    id,
    account_id: member.account_id,
    name: 'First key',
    role: member.role,
    email: member.email,
    owner: member.owner,
    created_by: null,
    created_by_email: '',
    descends_from: null,
    created_at: now,
    last_used_at: null,
  };
}
