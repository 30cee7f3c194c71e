/** Table of versions: each names an executable of its application and never changes it. */
import type { ExecutableId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface VersionsTable {
  application_uid: string;
  id: VersionId;
  name: string;
  description: string;
  executable_id: ExecutableId;
  created_at: number;
  updated_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table versions (
      application_uid text not null, id text not null, name text not null, description text not null,
      executable_id text not null, created_at bigint not null, updated_at bigint not null,
      constraint versions_key primary key (application_uid, id)
    )`,
    sql`create index versions_by_age on versions (application_uid, created_at, id)`,
    sql`create index versions_of_executable on versions (executable_id)`,
  ]);
