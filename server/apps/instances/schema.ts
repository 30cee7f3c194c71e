/** Table of instances: named configurations, each with the version that it runs. */
import type { InstanceId, SecretsCollectionId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface InstancesTable {
  application_uid: string;
  id: InstanceId;
  version_id: VersionId;
  name: string;
  description: string;
  /** `RequestedConfiguration` in JSON. Absent fields get their defaults when a run is created. */
  configuration: string;
  /** The secrets collection of the configuration, in a column for its index; null for none. */
  secrets_collection_id: SecretsCollectionId | null;
  /** Email address of the member who locked the instance; null while it is not locked. */
  locked_by: string | null;
  /** The time of the lock, in milliseconds since the epoch; null while it is not locked. */
  locked_at: number | null;
  created_at: number;
  updated_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table instances (
      application_uid text not null, id text not null, version_id text not null, name text not null,
      description text not null, configuration text not null, created_at bigint not null,
      updated_at bigint not null, secrets_collection_id text, locked_by text, locked_at bigint,
      constraint instances_key primary key (application_uid, id)
    )`,
    sql`create index instances_by_age on instances (application_uid, created_at, id)`,
    sql`create index instances_of_version on instances (application_uid, version_id)`,
    sql`create index instances_of_secrets on instances (application_uid, secrets_collection_id)`,
  ]);
