/** Tables of single sign-on: the identities that have signed in, and the states that were used. */
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../database/migrate.ts';

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
interface SsoUsedStatesTable {
  /** SHA-256 of the state, in base64url. */
  state_hash: string;
  expires_at: number;
}

declare module '../database/database.ts' {
  interface Tables {
    sso_identities: SsoIdentitiesTable;
    sso_used_states: SsoUsedStatesTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0133-single-sign-on',
    async up(db) {
      await db.schema
        .createTable('sso_identities')
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('issuer', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('member_id', 'text', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('issued_at', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute();
      for (const column of ['subject', 'owner'])
        await db.schema
          .createIndex(`sso_identities_by_${column}`)
          .on('sso_identities')
          .columns(['account_id', 'issuer', column])
          .unique()
          .execute();
      await db.schema
        .createTable('sso_used_states')
        .addColumn('state_hash', 'text', (column) => column.primaryKey())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
];
