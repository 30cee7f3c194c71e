/** Table of managed inputs. Each refers to its content by its own content id, so the content outlives its source. */
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { InputId, RunId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

export interface InputsTable {
  application_uid: string;
  id: InputId;
  name: string;
  description: string;
  /** The source: a run or an upload, which may be deleted. Exactly one of the two is set. */
  run_id: RunId | null;
  upload_id: UploadId | null;
  input_format: FormatType;
  /** null when the request named none. */
  output_format: FormatType | null;
  content_id: string;
  created_at: number;
  updated_at: number;
}

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table inputs (
      application_uid text not null, id text not null, name text not null, description text not null,
      run_id text, upload_id text, input_format text not null, output_format text, content_id text not null,
      created_at bigint not null, updated_at bigint not null,
      constraint inputs_key primary key (application_uid, id)
    )`,
    sql`create index inputs_by_age on inputs (application_uid, created_at, id)`,
  ]);
