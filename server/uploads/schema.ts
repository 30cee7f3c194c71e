/** Table of uploads: each is requested, receives its content by a PUT, and is used within a day. */
import type { UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../database/migrate.ts';

export interface UploadsTable {
  id: UploadId;
  /** The application that can use it. */
  application_uid: string;
  purpose: 'executable' | 'content' | 'result';
  /** null until the whole body has arrived. */
  content_id: string | null;
  created_at: number;
  /** The attempt of a run whose result it is, `<run id> <fencing token>`; null for any other purpose. */
  attempt: string | null;
}

declare module '../database/database.ts' {
  interface Tables {
    uploads: UploadsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0003-uploads',
    async up(db) {
      await db.schema
        .createTable('uploads')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('purpose', 'text', (column) => column.notNull())
        .addColumn('content_id', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('uploads_of_application')
        .on('uploads')
        .columns(['application_uid', 'purpose', 'created_at', 'id'])
        .execute();
      await db.schema.createIndex('uploads_by_age').on('uploads').column('created_at').execute();
    },
  },
  {
    name: '0147-result-uploads',
    async up(db) {
      await db.schema.alterTable('uploads').addColumn('attempt', 'text').execute();
    },
  },
  {
    name: '0166-uploads-by-attempt',
    async up(db) {
      await db.schema.createIndex('uploads_by_attempt').on('uploads').column('attempt').execute();
    },
  },
];
