/** Creates accounts, at the first start and on sign-up: each starts with one joined member and one key of that member. */
import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../platform/database/database.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { NO_INVITE } from './invites.ts';
import { insertMember } from './member-store.ts';
import { type AccountsTable, type KeysTable, type MembersTable, normalizeEmail } from './schema.ts';
import { insertAccount, insertKey } from './store.ts';

/** The rows of an account that does not exist yet. */
export interface NewAccount {
  account: AccountsTable;
  member: MembersTable;
  key: KeysTable;
}

/** Builds the row of an account without members. */
export function buildAccount(random: Random, now: number, name: string): AccountsTable {
  return {
    id: makeId<AccountId>(random, 'account'),
    name,
    created_at: now,
    deleted_at: null,
    quotas_updated_at: null,
    licenses_updated_at: null,
    cost_rate_updated_at: null,
  };
}

/** Builds the rows of a new account; the key has the role of the member. */
export function buildNewAccount(
  random: Random,
  now: number,
  request: { name: string; email: string; role: Role; keyName?: string },
): NewAccount {
  const account = buildAccount(random, now, request.name);
  const member: MembersTable = {
    id: makeId<MemberId>(random, 'mem'),
    account_id: account.id,
    email: request.email,
    owner: normalizeEmail(request.email),
    name: '',
    role: request.role,
    joined_at: now,
    ...NO_INVITE,
    created_at: now,
    updated_at: now,
  };
  const key = buildFirstKey(member, makeId<KeyId>(random, 'key'), now);
  return { account, member, key: request.keyName ? { ...key, name: request.keyName } : key };
}

export async function insertNewAccount(tx: Writer, created: NewAccount): Promise<void> {
  await insertAccount(tx, created.account);
  await insertMember(tx, created.member);
  await insertKey(tx, created.key);
}

/** Builds a key with the role of the member and no creator: the first of an account, and that of single sign-on. */
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
    invite: null,
    created_at: now,
    last_used_at: null,
  };
}

/** Builds the key that a member gets with the open invite: it counts as created by the inviter, who could accept it too. */
export function buildKeyByInvite(member: MembersTable, id: KeyId, now: number): KeysTable {
  const isFirst = member.joined_at === null;
  return {
    ...buildFirstKey(member, id, now),
    name: isFirst ? 'First key' : 'Key by invite',
    created_by: member.invited_by_key,
    created_by_email: member.invited_by ?? '',
    descends_from: member.invited_by_key,
    invite: isFirst ? 'first' : 'additional',
  };
}
