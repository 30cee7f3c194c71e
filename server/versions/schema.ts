/** Table of versions: each names an executable of its application and never changes it. */
import type { ExecutableId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../database/migrate.ts';

export interface VersionsTable {
  application_uid: string;
  id: VersionId;
  name: string;
  description: string;
  executable_id: ExecutableId;
  created_at: number;
  updated_at: number;
}

declare module '../database/database.ts' {
  interface Tables {
    versions: VersionsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0005-versions',
    async up(db) {
      await db.schema
        .createTable('versions')
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('executable_id', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('versions_key', ['application_uid', 'id'])
        .execute();
      await db.schema
        .createIndex('versions_by_age')
        .on('versions')
        .columns(['application_uid', 'created_at', 'id'])
        .execute();
    },
  },
  {
    name: '0020-versions-of-an-executable',
    async up(db) {
      await db.schema.createIndex('versions_of_executable').on('versions').column('executable_id').execute();
    },
  },
];
