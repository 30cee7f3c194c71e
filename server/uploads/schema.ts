/** Tables of uploads, each of which is requested, receives its content whole or in parts, and is used within a day. */
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
  /** Bytes of all stored parts; 0 when the content came whole. */
  partial_bytes: number;
  /** The time of the last stored part; null before the first one. */
  continued_at: number | null;
}

/** A stored part of an upload that has no content yet. */
interface UploadPartsTable {
  upload_id: UploadId;
  /** The place of its first byte in the content. */
  first_byte: number;
  content_id: string;
}

declare module '../database/database.ts' {
  interface Tables {
    uploads: UploadsTable;
    upload_parts: UploadPartsTable;
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
  {
    name: '0171-upload-parts',
    async up(db) {
      await db.schema
        .alterTable('uploads')
        .addColumn('partial_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema.alterTable('uploads').addColumn('continued_at', 'bigint').execute();
      await db.schema
        .createTable('upload_parts')
        .addColumn('upload_id', 'text', (column) => column.notNull())
        .addColumn('first_byte', 'bigint', (column) => column.notNull())
        .addColumn('content_id', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('upload_parts_key', ['upload_id', 'first_byte'])
        .execute();
    },
  },
];
