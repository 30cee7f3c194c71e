/** Table of secrets collections. Values and locations of the secrets are encrypted. */
import type { SecretsCollectionId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../database/migrate.ts';

export interface SecretsCollectionsTable {
  application_uid: string;
  id: SecretsCollectionId;
  name: string;
  description: string;
  /** The encrypted list of secrets; see encrypt.ts. */
  secrets: Uint8Array;
  created_at: number;
  updated_at: number;
}

declare module '../database/database.ts' {
  interface Tables {
    secrets_collections: SecretsCollectionsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0011-secrets-collections',
    async up(db, types) {
      await db.schema
        .createTable('secrets_collections')
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('secrets', types.bytes, (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('secrets_collections_key', ['application_uid', 'id'])
        .execute();
      await db.schema
        .createIndex('secrets_collections_by_age')
        .on('secrets_collections')
        .columns(['application_uid', 'created_at', 'id'])
        .execute();
    },
  },
];
