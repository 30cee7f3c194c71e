/** The table that knows every piece of content. */
import type { Migration } from '../database/migrate.ts';

export interface ContentsTable {
  id: string;
  bytes: number;
  sha256: string | null;
  /** The content itself when it is small, else null. */
  inline: Uint8Array | null;
  /** The blob that holds it when it is large, else null. Several contents may share a blob. */
  blob_key: string | null;
}

/** While one stands no blob is removed: a backup copies the blobs that its database names. */
interface BackupHoldsTable {
  id: string;
  /** The backup puts it off for as long as it lives. */
  expires_at: number;
}

/** One row: which installation the database belongs to. The blob store and the data folder carry the same id. */
export interface IdentityTable {
  one: 1;
  id: string;
  /** Grows with every start and every round of the clean-up, here first and beside the blobs after it. */
  generation: number;
  /** When the generation grew last. */
  seen_at: number;
  /** Why blobs without a row are not removed; null: they are. */
  clean_up_stopped: string | null;
}

declare module '../database/database.ts' {
  interface Tables {
    contents: ContentsTable;
    backup_holds: BackupHoldsTable;
    installation_identity: IdentityTable;
  }
}

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
