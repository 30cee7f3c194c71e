/**
 * Tables of applications and executables. Other tables refer to an application by `uid`. Its id can be reused as soon as it
 * is deleted, while clean-up jobs still remove the data of the old application.
 */
import type { AccountId, ApplicationId, ExecutableId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';

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

declare module '../database/database.ts' {
  interface Tables {
    applications: ApplicationsTable;
    executables: ExecutablesTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0004-applications',
    async up(db) {
      await db.schema
        .createTable('applications')
        .addColumn('uid', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('default_instance', 'text', (column) => column.notNull())
        .addColumn('default_experiment_instance', 'text', (column) => column.notNull())
        .addColumn('active_executable_id', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addColumn('deleted_at', 'bigint')
        .execute();
      await sql`create unique index applications_by_id on applications (account_id, id) where deleted_at is null`.execute(
        db,
      );
      await sql`create index applications_deleted on applications (deleted_at) where deleted_at is not null`.execute(
        db,
      );
      await db.schema
        .createIndex('applications_of_account')
        .on('applications')
        .columns(['account_id', 'created_at', 'id'])
        .execute();
      await db.schema
        .createTable('executables')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('user_email', 'text', (column) => column.notNull())
        .addColumn('uploaded_at', 'bigint', (column) => column.notNull())
        .addColumn('requirements', 'text', (column) => column.notNull())
        .addColumn('content_id', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('executables_of_application')
        .on('executables')
        .column('application_uid')
        .execute();
    },
  },
  {
    name: '0020-unused-executables',
    async up(db) {
      await db.schema.alterTable('executables').addColumn('unused_since', 'bigint').execute();
      await db.schema.alterTable('executables').addColumn('archive_removed_at', 'bigint').execute();
    },
  },
  {
    name: '0140-subscribed-applications',
    async up(db) {
      await db.schema.alterTable('applications').addColumn('subscription_id', 'text').execute();
    },
  },
];
