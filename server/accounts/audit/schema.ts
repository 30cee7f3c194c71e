/**
 * The tables of the audit log. The transaction of an action also inserts its entry; a job links the entry into the chain
 * about a second later (chain.ts). Triggers of the database refuse every other change of an entry, and its deletion.
 */
import type { AuditOutcome } from '@switchyard/contract/account/audit.ts';
import { FIRST_PREVIOUS_HASH } from '@switchyard/contract/account/audit.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, EntryId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { type Generated, sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

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

/** The migrations of the audit log. */
export const createTables: Migration['up'] = async (db, { sequence, makeAppendOnly }) => {
  await executeAll(db, [
    sql`create table audit_entries (
      seq ${sequence}, id text not null, created_at bigint not null, account_id text, application_id text,
      key_id text, key_name text, role text, user_email text, operation text not null, outcome text not null,
      resource text not null, request_id text, address text, number bigint, previous_hash text, hash text
    )`,
    sql`create unique index audit_by_number on audit_entries (number) where number is not null`,
    sql`create index audit_unchained on audit_entries (seq) where number is null`,
    sql`create index audit_by_age on audit_entries (created_at, id)`,
    sql`create index audit_of_account on audit_entries (account_id, created_at, id)`,
    sql`create index audit_of_key on audit_entries (key_id, created_at, id)`,
    sql`create index audit_of_operation on audit_entries (account_id, operation, created_at, id)`,
    sql`create index audit_of_application on audit_entries (account_id, application_id, created_at, id)`,
    sql`create table audit_head (id integer primary key, number bigint not null, hash text not null)`,
    sql`insert into audit_head (id, number, hash) values (1, 0, ${sql.lit(FIRST_PREVIOUS_HASH)})`,
  ]);
  await makeAppendOnly(db, 'audit_entries', ['number', 'previous_hash', 'hash']);
};
