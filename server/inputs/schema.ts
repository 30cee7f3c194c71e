/** Table of managed inputs. Each refers to its content by its own content id, so the content outlives its source. */

import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { InputId, RunId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { Migration } from '../database/migrate.ts';

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

declare module '../database/database.ts' {
  interface Tables {
    inputs: InputsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0014-inputs',
    async up(db) {
      await db.schema
        .createTable('inputs')
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('run_id', 'text')
        .addColumn('upload_id', 'text')
        .addColumn('input_format', 'text', (column) => column.notNull())
        .addColumn('output_format', 'text')
        .addColumn('content_id', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('inputs_key', ['application_uid', 'id'])
        .execute();
      await db.schema
        .createIndex('inputs_by_age')
        .on('inputs')
        .columns(['application_uid', 'created_at', 'id'])
        .execute();
    },
  },
];
