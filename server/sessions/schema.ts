/** Tables of sessions of the console, and of the links that sign in to it. */
import type { AccountId, KeyId, SessionId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../database/migrate.ts';

export interface SessionsTable {
  id: SessionId;
  account_id: AccountId;
  /** The session has the role of this key, and ends when the key is revoked. */
  key_id: KeyId;
  /** The owner of the key, to bound the sessions of a member. */
  owner: string;
  /** SHA-256 of the secret in the cookie, in base64url: the database never holds the secret. */
  secret_hash: string;
  user_agent: string;
  address: string;
  created_at: number;
  last_used_at: number;
  /** Moves with each use, up to the longest life of a session. */
  expires_at: number;
}

export interface SignInTicketsTable {
  /** SHA-256 of the ticket, in base64url. */
  ticket_hash: string;
  key_id: KeyId;
  expires_at: number;
}

declare module '../database/database.ts' {
  interface Tables {
    sessions: SessionsTable;
    sign_in_tickets: SignInTicketsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0080-sessions',
    async up(db) {
      await db.schema
        .createTable('sessions')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('secret_hash', 'text', (column) => column.notNull())
        .addColumn('user_agent', 'text', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_used_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('sessions_by_secret')
        .on('sessions')
        .column('secret_hash')
        .unique()
        .execute();
      await db.schema
        .createIndex('sessions_of_account')
        .on('sessions')
        .columns(['account_id', 'created_at', 'id'])
        .execute();
      await db.schema.createIndex('sessions_by_expiry').on('sessions').column('expires_at').execute();
      await db.schema
        .createTable('sign_in_tickets')
        .addColumn('ticket_hash', 'text', (column) => column.primaryKey())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('sign_in_tickets_by_expiry')
        .on('sign_in_tickets')
        .column('expires_at')
        .execute();
    },
  },
];
