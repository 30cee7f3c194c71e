/** Tables of accounts, members and keys. */
import { createHash } from 'node:crypto';
import { ROLES, type Role } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import { type Kysely, sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';

export interface AccountsTable {
  id: AccountId;
  name: string;
  created_at: number;
  /** When set, the keys and members are deleted, and clean-up jobs delete everything that the account owned. */
  deleted_at: number | null;
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
  /** The key that created this one; null for the first key of an account and for a key from an invite. */
  created_by: KeyId | null;
  /** The address of the creator, also after its revocation; empty when unknown. */
  created_by_email: string;
  /** The nearest ancestor that is not revoked: the creator, its creator, and so on. */
  descends_from: KeyId | null;
  created_at: number;
  last_used_at: number | null;
}

/** Returns the form in which addresses are compared, because people write theirs with and without capitals. */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

/** Members who were removed, so that single sign-on does not add them again. An invite removes the row. */
interface RemovedMembersTable {
  account_id: AccountId;
  /** The address after `normalizeEmail`. */
  owner: string;
  removed_at: number;
}

/** One row with the check value of the master key that created the database. */
interface InstallationTable {
  id: 1;
  key_check: string;
}

declare module '../database/database.ts' {
  interface Tables {
    accounts: AccountsTable;
    keys: KeysTable;
    members: MembersTable;
    removed_members: RemovedMembersTable;
    installation: InstallationTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0002-accounts',
    async up(db) {
      await db.schema
        .createTable('accounts')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('keys')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('email', 'text', (column) => column.notNull())
        .addColumn('created_by', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_used_at', 'bigint')
        .execute();
      await db.schema
        .createIndex('keys_of_account')
        .on('keys')
        .columns(['account_id', 'created_at', 'id'])
        .execute();
    },
  },
  {
    name: '0010-installation',
    async up(db) {
      await db.schema
        .createTable('installation')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('key_check', 'text', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '0016-members',
    async up(db) {
      await db.schema
        .createTable('members')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
        .addColumn('email', 'text', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('joined_at', 'bigint')
        .addColumn('invite_id', 'text')
        .addColumn('invite_expires_at', 'bigint')
        .addColumn('invited_by', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute();
      await sql`create unique index members_by_owner on members (account_id, owner)`.execute(db);
      await db.schema
        .createIndex('members_of_account')
        .on('members')
        .columns(['account_id', 'created_at', 'id'])
        .execute();
      await db.schema
        .alterTable('keys')
        .addColumn('owner', 'text', (column) => column.notNull().defaultTo(''))
        .execute();
      await insertMembersOfKeys(db);
      await db.schema.createIndex('keys_of_owner').on('keys').columns(['account_id', 'owner']).execute();
    },
  },
  {
    name: '0017-deleted-accounts',
    async up(db) {
      await db.schema.alterTable('accounts').addColumn('deleted_at', 'bigint').execute();
      await sql`create index accounts_deleted on accounts (deleted_at) where deleted_at is not null`.execute(
        db,
      );
    },
  },
  {
    name: '0054-creators-of-keys',
    async up(db) {
      await db.schema
        .alterTable('keys')
        .addColumn('created_by_email', 'text', (column) => column.notNull().defaultTo(''))
        .execute();
      await sql`update keys set created_by_email = coalesce(
        (select creator.email from keys as creator where creator.id = keys.created_by), '')`.execute(db);
      await db.schema.createIndex('keys_by_creator').on('keys').column('created_by').execute();
    },
  },
  {
    // The ancestors of a key whose creator was revoked are unknown.
    name: '0055-descent-of-keys',
    async up(db) {
      await db.schema.alterTable('keys').addColumn('descends_from', 'text').execute();
      await sql`update keys set descends_from =
        (select creator.id from keys as creator where creator.id = keys.created_by)`.execute(db);
      await db.schema.createIndex('keys_by_descent').on('keys').column('descends_from').execute();
    },
  },
  {
    name: '0132-removed-members',
    async up(db) {
      await db.schema
        .createTable('removed_members')
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('removed_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('removed_members_by_owner', ['account_id', 'owner'])
        .execute();
    },
  },
];

/** Inserts one member for each address that has keys, with the strongest role among them. */
async function insertMembersOfKeys(db: Kysely<unknown>): Promise<void> {
  const query = sql<{ account_id: AccountId; email: string; role: Role; at: number }>`
    select account_id, email, role, min(created_at) as at from keys
    group by account_id, email, role order by min(created_at), email`;
  const members = new Map<string, { account: AccountId; email: string; role: Role; at: number }>();
  for (const { account_id, email, role, at } of (await query.execute(db)).rows) {
    const owner = normalizeEmail(email);
    await sql`update keys set owner = ${owner} where account_id = ${account_id} and email = ${email}`.execute(
      db,
    );
    const accountAndOwner = JSON.stringify([account_id, owner]);
    const member = members.get(accountAndOwner) ?? { account: account_id, email, role, at: Number(at) };
    if (ROLES.indexOf(role) < ROLES.indexOf(member.role)) member.role = role;
    members.set(accountAndOwner, member);
  }
  for (const [accountAndOwner, { account, email, role, at }] of members) {
    const id = `mem-${createHash('sha256').update(accountAndOwner).digest('hex').slice(0, 20)}`;
    await sql`insert into members (id, account_id, email, owner, name, role, joined_at, created_at, updated_at)
      values (${id}, ${account}, ${email}, ${normalizeEmail(email)}, '', ${role}, ${at}, ${at}, ${at})`.execute(
      db,
    );
  }
}
