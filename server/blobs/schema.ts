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

declare module '../database/database.ts' {
  interface Tables {
    contents: ContentsTable;
  }
}

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
];
