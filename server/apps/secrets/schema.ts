/** Table of secrets collections. Values and locations of the secrets are encrypted. */
import type { SecretsCollectionId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

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

export const createTables: Migration['up'] = (db, { bytes }) =>
  executeAll(db, [
    sql`create table secrets_collections (
      application_uid text not null, id text not null, name text not null, description text not null,
      secrets ${bytes} not null, created_at bigint not null, updated_at bigint not null,
      constraint secrets_collections_key primary key (application_uid, id)
    )`,
    sql`create index secrets_collections_by_age on secrets_collections (application_uid, created_at, id)`,
  ]);
