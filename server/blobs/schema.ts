/** The tables of contents, backup holds and the identity of the installation. */
import type { Migration } from '../database/migrate.ts';

/** One piece of content. */
export interface ContentsTable {
  id: string;
  bytes: number;
  sha256: string | null;
  /** Small content itself, otherwise null. */
  inline: Uint8Array | null;
  /** The blob of large content, otherwise null. Several contents may share a blob. */
  blob_key: string | null;
}

/** While a hold exists no blob is removed: a backup copies the blobs that its database names. */
interface BackupHoldsTable {
  id: string;
  /** A running backup extends it. In milliseconds since the epoch. */
  expires_at: number;
}

/** The only row: the installation of the database. The blob store and the data folder have the same id. */
export interface IdentityTable {
  one: 1;
  id: string;
  /** Grows with every start and every clean-up, first here and then in the marker next to the blobs. */
  generation: number;
  /** The time of the last increase of the generation, in milliseconds since the epoch. */
  seen_at: number;
  /** The reason why the clean-up of blobs is stopped; null when it runs. */
  clean_up_stopped: string | null;
}

declare module '../database/database.ts' {
  interface Tables {
    contents: ContentsTable;
    backup_holds: BackupHoldsTable;
    installation_identity: IdentityTable;
  }
}

/** Name of the migration that created the identity: earlier databases have none. */
export const IDENTITY_MIGRATION = '0045-installation-identity';

export const migrations: readonly Migration[] = [
  {
    name: '0001-contents',
    async up(db, types) {
      await db.schema
        .createTable('contents')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('bytes', 'bigint', (column) => column.notNull())
        .addColumn('sha256', 'text')
        .addColumn('inline', types.bytes)
        .addColumn('blob_key', 'text')
        .execute();
      await db.schema.createIndex('contents_blob').on('contents').column('blob_key').execute();
    },
  },
  {
    name: '0044-backup-holds',
    async up(db) {
      await db.schema
        .createTable('backup_holds')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: IDENTITY_MIGRATION,
    async up(db) {
      await db.schema
        .createTable('installation_identity')
        .addColumn('one', 'integer', (column) => column.primaryKey())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('generation', 'bigint', (column) => column.notNull())
        .addColumn('seen_at', 'bigint', (column) => column.notNull())
        .addColumn('clean_up_stopped', 'text')
        .execute();
    },
  },
];
