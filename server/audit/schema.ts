/**
 * The tables of the audit log. The transaction of an action also inserts its entry; a job links the entry into the chain
 * about a second later (chain.ts). Triggers of the database refuse every other change of an entry, and its deletion.
 */
import type { AuditOutcome } from '@switchyard/contract/account/audit.ts';
import { FIRST_PREVIOUS_HASH } from '@switchyard/contract/account/audit.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, EntryId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { type Generated, sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** One row per audit entry. */
export interface AuditEntriesTable {
  /** Order of the chain. PostgreSQL draws it before the commit, so a lower value may become visible later. */
  seq: Generated<number>;
  id: EntryId;
  created_at: number;
  account_id: AccountId | null;
  /** The application of the action; null when there is none. */
  application_id: string | null;
  key_id: KeyId | null;
  key_name: string | null;
  role: Role | null;
  user_email: string | null;
  operation: string;
  outcome: AuditOutcome;
  /** JSON object: the ids of the action by their names in paths. */
  resource: string;
  request_id: string | null;
  address: string | null;
  /** Position in the chain, from 1. It and both hashes are null until the entry is chained. */
  number: number | null;
  previous_hash: string | null;
  hash: string | null;
}

/** One row: the last entry of the chain. The process that extends the chain locks it. */
export interface AuditHeadTable {
  id: 1;
  number: number;
  hash: string;
}

declare module '../database/database.ts' {
  interface Tables {
    audit_entries: AuditEntriesTable;
    audit_head: AuditHeadTable;
  }
}

/** The migrations of the audit log. */
export const migrations: readonly Migration[] = [
  {
    name: '0042-audit',
    async up(db, types) {
      await sql`create table audit_entries (
        seq ${types.sequence},
        id text not null,
        created_at bigint not null,
        account_id text,
        application_id text,
        key_id text,
        key_name text,
        role text,
        user_email text,
        operation text not null,
        outcome text not null,
        resource text not null,
        request_id text,
        address text,
        number bigint,
        previous_hash text,
        hash text
      )`.execute(db);
      await sql`create unique index audit_by_number on audit_entries (number) where number is not null`.execute(
        db,
      );
      await sql`create index audit_unchained on audit_entries (seq) where number is null`.execute(db);
      for (const [name, columns] of Object.entries({
        audit_by_age: [],
        audit_of_account: ['account_id'],
        audit_of_key: ['key_id'],
        audit_of_operation: ['account_id', 'operation'],
        audit_of_application: ['account_id', 'application_id'],
      }))
        await db.schema
          .createIndex(name)
          .on('audit_entries')
          .columns([...columns, 'created_at', 'id'])
          .execute();
      await types.makeAppendOnly(db, 'audit_entries', ['number', 'previous_hash', 'hash']);
      await sql`create table audit_head (id integer primary key, number bigint not null, hash text not null)`.execute(
        db,
      );
      await sql`insert into audit_head (id, number, hash) values (1, 0, ${sql.lit(FIRST_PREVIOUS_HASH)})`.execute(
        db,
      );
    },
  },
];
