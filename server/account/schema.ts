/** Accounts and their keys. */
import type { AccountId, KeyId } from '@switchyard/contract/ids.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { Migration } from '../database/migrate.ts';

export interface AccountsTable {
  id: AccountId;
  name: string;
  created_at: number;
}

export interface KeysTable {
  id: KeyId;
  account_id: AccountId;
  name: string;
  role: Role;
  email: string;
  /** The key that made this one; null for the first of an account. */
  created_by: KeyId | null;
  created_at: number;
  last_used_at: number | null;
}

/** One row: what tells whether this server has the master key that the database was made with. */
export interface InstallationTable {
  id: 1;
  key_check: string;
}

declare module '../database/database.ts' {
  interface Tables {
    accounts: AccountsTable;
    keys: KeysTable;
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
];
