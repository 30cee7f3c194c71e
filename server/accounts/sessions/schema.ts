/** Tables of sessions of the console, and of the links that sign in to it. */
import type { AccountId, KeyId, SessionId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

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

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table sessions (
      id text primary key, account_id text not null, key_id text not null, owner text not null,
      secret_hash text not null, user_agent text not null, address text not null, created_at bigint not null,
      last_used_at bigint not null, expires_at bigint not null
    )`,
    sql`create unique index sessions_by_secret on sessions (secret_hash)`,
    sql`create index sessions_of_account on sessions (account_id, created_at, id)`,
    sql`create index sessions_by_expiry on sessions (expires_at)`,
    sql`create table sign_in_tickets (
      ticket_hash text primary key, key_id text not null, expires_at bigint not null
    )`,
    sql`create index sign_in_tickets_by_expiry on sign_in_tickets (expires_at)`,
  ]);
