/** Tables of accounts, members and keys. */
import type { KeyInvite } from '@switchyard/contract/account/account.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface AccountsTable {
  id: AccountId;
  name: string;
  created_at: number;
  /** When set, the keys and members are deleted, and clean-up jobs delete everything that the account owned. */
  deleted_at: number | null;
  /** Last changes of the settings of the account, also of their removal; null for one that nobody has changed. */
  quotas_updated_at: number | null;
  licenses_updated_at: number | null;
  cost_rate_updated_at: number | null;
}

export interface MembersTable {
  id: MemberId;
  account_id: AccountId;
  email: string;
  /** The address after `normalizeEmail`; finds the keys of the member. Unique in the account. */
  owner: string;
  name: string;
  role: Role;
  /** null until the member accepts an invite. */
  joined_at: number | null;
  /** The open invite; null when there is none. */
  invite_id: string | null;
  invite_expires_at: number | null;
  /** The owner of the key that created the open invite. */
  invited_by: string | null;
  /** That key, or its nearest ancestor that is not revoked; null when unknown. */
  invited_by_key: KeyId | null;
  created_at: number;
  updated_at: number;
}

export interface KeysTable {
  id: KeyId;
  account_id: AccountId;
  name: string;
  role: Role;
  email: string;
  /** The address after `normalizeEmail`. */
  owner: string;
  /** The key that created this one, or the invite behind it; null for the first key of an account and for single sign-on. */
  created_by: KeyId | null;
  /** The address of the creator, also after its revocation; empty when unknown. */
  created_by_email: string;
  /** The nearest ancestor that is not revoked: the creator, its creator, and so on. */
  descends_from: KeyId | null;
  /** How an invite made the key; null for a key without one. */
  invite: KeyInvite | null;
  created_at: number;
  last_used_at: number | null;
}

/** Returns the form in which addresses are compared, because people write theirs with and without capitals. */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

/** Members who were removed, so that single sign-on does not add them again. An invite removes the row. */
export interface RemovedMembersTable {
  account_id: AccountId;
  /** The address after `normalizeEmail`. */
  owner: string;
  removed_at: number;
}

/** One row with the check value of the master key that created the database. */
export interface InstallationTable {
  id: 1;
  key_check: string;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table accounts (
      id text primary key, name text not null, created_at bigint not null, deleted_at bigint,
      quotas_updated_at bigint, licenses_updated_at bigint, cost_rate_updated_at bigint
    )`,
    sql`create index accounts_deleted on accounts (deleted_at) where deleted_at is not null`,
    sql`create table keys (
      id text primary key, account_id text not null references accounts (id), name text not null,
      role text not null, email text not null, created_by text, created_at bigint not null, last_used_at bigint,
      owner text not null default '', created_by_email text not null default '', descends_from text, invite text
    )`,
    sql`create index keys_of_account on keys (account_id, created_at, id)`,
    sql`create index keys_of_owner on keys (account_id, owner)`,
    sql`create index keys_by_creator on keys (created_by)`,
    sql`create index keys_by_descent on keys (descends_from)`,
    sql`create table installation (id integer primary key, key_check text not null)`,
    sql`create table members (
      id text primary key, account_id text not null references accounts (id), email text not null,
      owner text not null, name text not null, role text not null, joined_at bigint, invite_id text,
      invite_expires_at bigint, invited_by text, created_at bigint not null, updated_at bigint not null,
      invited_by_key text
    )`,
    sql`create unique index members_by_owner on members (account_id, owner)`,
    sql`create index members_of_account on members (account_id, created_at, id)`,
    sql`create table removed_members (
      account_id text not null, owner text not null, removed_at bigint not null,
      constraint removed_members_by_owner primary key (account_id, owner)
    )`,
  ]);
