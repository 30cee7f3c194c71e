/**
 * Tables of applications and executables. Other tables refer to an application by `uid`. Its id can be reused as soon as it
 * is deleted, while clean-up jobs still remove the data of the old application.
 */
import type {
  AccountId,
  ApplicationId,
  ExecutableId,
  KeyId,
  RunId,
} from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface ApplicationsTable {
  uid: string;
  account_id: AccountId;
  id: ApplicationId;
  name: string;
  description: string;
  type: 'custom' | 'pipeline' | 'subscription';
  /** For the type `subscription`: the app of the marketplace whose versions it has; else null. */
  subscription_id: string | null;
  default_instance: string;
  default_experiment_instance: string;
  active_executable_id: ExecutableId | null;
  /** `ApplicationObjective` of the contract, in JSON; null without an objective. */
  objective: string | null;
  /** `ApplicationIndicators` of the contract, in JSON; null for none. */
  indicators: string | null;
  /** null: the last succeeded run of the default instance. */
  baseline_run_id: RunId | null;
  /** The time at which an administrator trusted its HTML assets, in milliseconds since the epoch; null without trust. */
  html_trusted_at: number | null;
  /** The address of that administrator; empty without trust. */
  html_trusted_by: string;
  /** The key with which they did; null without trust. */
  html_trusted_by_key: KeyId | null;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export interface ExecutablesTable {
  id: ExecutableId;
  application_uid: string;
  user_email: string;
  uploaded_at: number;
  /** `Requirements` of the contract, in JSON. */
  requirements: string;
  content_id: string;
  /** SHA-256 of the archive in hex. */
  hash: string;
  /** The time of the first check that found no use of it; null while something can execute it. */
  unused_since: number | null;
  /** The time when its archive was removed; the row stays for the runs that refer to it. */
  archive_removed_at: number | null;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table applications (
      uid text primary key, account_id text not null, id text not null, name text not null,
      description text not null, type text not null, default_instance text not null,
      default_experiment_instance text not null, active_executable_id text, created_at bigint not null,
      updated_at bigint not null, deleted_at bigint, subscription_id text, html_trusted_at bigint,
      html_trusted_by text not null default '', html_trusted_by_key text
    )`,
    sql`create unique index applications_by_id on applications (account_id, id) where deleted_at is null`,
    sql`create index applications_deleted on applications (deleted_at) where deleted_at is not null`,
    sql`create index applications_of_account on applications (account_id, created_at, id)`,
    sql`create table executables (
      id text primary key, application_uid text not null, user_email text not null, uploaded_at bigint not null,
      requirements text not null, content_id text not null, hash text not null, unused_since bigint,
      archive_removed_at bigint
    )`,
    sql`create index executables_of_application on executables (application_uid)`,
  ]);

/** What the indicators of an application mean. Servers of release 0.2.0 leave the columns empty. */
export const addIndicators: Migration['up'] = (db) =>
  executeAll(
    db,
    ['objective', 'indicators', 'baseline_run_id'].map(
      (column) => sql`alter table applications add column ${sql.ref(column)} text`,
    ),
  );
