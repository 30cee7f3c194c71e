/** Tables of single sign-on: the identities that have signed in, and the states that were used. */
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

/** The binding of a person at the identity provider to a member. */
export interface SsoIdentitiesTable {
  account_id: AccountId;
  issuer: string;
  /** The provider's name for the person, which it never gives to another one. */
  subject: string;
  /** The address after `normalizeEmail`. */
  owner: string;
  /** A member who was removed and invited again has another id, so an old row binds nobody. */
  member_id: MemberId;
  /** The key whose role the sessions and ID tokens of the person have. Nobody has a token of it. */
  key_id: KeyId;
  /** Issue time of the newest ID token, in milliseconds since the epoch. */
  issued_at: number;
  created_at: number;
}

/** The states of completed sign-ins, so that each works once. */
export interface SsoUsedStatesTable {
  /** SHA-256 of the state, in base64url. */
  state_hash: string;
  expires_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table sso_identities (
      account_id text not null, issuer text not null, subject text not null, owner text not null,
      member_id text not null, key_id text not null, issued_at bigint not null, created_at bigint not null
    )`,
    sql`create unique index sso_identities_by_subject on sso_identities (account_id, issuer, subject)`,
    sql`create unique index sso_identities_by_owner on sso_identities (account_id, issuer, owner)`,
    sql`create table sso_used_states (state_hash text primary key, expires_at bigint not null)`,
  ]);
