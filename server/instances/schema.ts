/** Table of instances: named configurations, each with the version that it runs. */
import type { InstanceId, SecretsCollectionId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../database/migrate.ts';

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

declare module '../database/database.ts' {
  interface Tables {
    instances: InstancesTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0006-instances',
    async up(db) {
      await db.schema
        .createTable('instances')
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('version_id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('configuration', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('instances_key', ['application_uid', 'id'])
        .execute();
      await db.schema
        .createIndex('instances_by_age')
        .on('instances')
        .columns(['application_uid', 'created_at', 'id'])
        .execute();
      await db.schema
        .createIndex('instances_of_version')
        .on('instances')
        .columns(['application_uid', 'version_id'])
        .execute();
    },
  },
  {
    name: '0012-secrets-of-instances',
    async up(db) {
      await db.schema.alterTable('instances').addColumn('secrets_collection_id', 'text').execute();
      await db.schema
        .createIndex('instances_of_secrets')
        .on('instances')
        .columns(['application_uid', 'secrets_collection_id'])
        .execute();
    },
  },
  {
    name: '0107-instance-locks',
    async up(db) {
      await db.schema.alterTable('instances').addColumn('locked_by', 'text').execute();
      await db.schema.alterTable('instances').addColumn('locked_at', 'bigint').execute();
    },
  },
];
