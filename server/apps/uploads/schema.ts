/** Tables of uploads, each of which is requested, receives its content whole or in parts, and is used within a day. */
import type { RunId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

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
  /** The run whose app requested it; null for any other caller. */
  run_id: RunId | null;
}

/** A stored part of an upload that has no content yet. */
export interface UploadPartsTable {
  upload_id: UploadId;
  /** The place of its first byte in the content. */
  first_byte: number;
  content_id: string;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table uploads (
      id text primary key, application_uid text not null, purpose text not null, content_id text,
      created_at bigint not null, attempt text, partial_bytes bigint not null default 0, continued_at bigint,
      run_id text
    )`,
    sql`create index uploads_of_application on uploads (application_uid, purpose, created_at, id)`,
    sql`create index uploads_by_age on uploads (created_at)`,
    sql`create index uploads_by_attempt on uploads (attempt)`,
    sql`create index uploads_by_run on uploads (run_id)`,
    sql`create table upload_parts (
      upload_id text not null, first_byte bigint not null, content_id text not null,
      constraint upload_parts_key primary key (upload_id, first_byte)
    )`,
  ]);
