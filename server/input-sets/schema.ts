/**
 * Input sets and what is in them. Each input has a name of its own for its content, and name and description as they were
 * when it came into the set, so that nothing in a set changes by what becomes of the run or managed input.
 */

import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { InputId, InputSetId, InstanceId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';

export interface InputSetsTable {
  uid: string;
  application_uid: string;
  id: InputSetId;
  name: string;
  description: string;
  /** The instance whose runs of a time it was made of; null when it was made of anything else. */
  instance_id: InstanceId | null;
  created_at: number;
  updated_at: number;
}

export interface InputSetInputsTable {
  input_set_uid: string;
  /** Its place in the set, from 0. */
  position: number;
  /** Of the run or the managed input that it was taken from; once in a set. */
  input_id: RunId | InputId;
  /** The run it was taken from; null for a managed input. */
  run_id: RunId | null;
  name: string;
  description: string;
  input_format: FormatType;
  /** null when whoever made the managed input gave none. */
  output_format: FormatType | null;
  content_id: string;
}

declare module '../database/database.ts' {
  interface Tables {
    input_sets: InputSetsTable;
    input_set_inputs: InputSetInputsTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0026-input-sets',
    async up(db) {
      await db.schema
        .createTable('input_sets')
        .addColumn('uid', 'text', (column) => column.primaryKey())
        .addColumn('application_uid', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('instance_id', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('input_sets_by_id', ['application_uid', 'id'])
        .execute();
      await db.schema
        .createIndex('input_sets_by_age')
        .on('input_sets')
        .columns(['application_uid', 'created_at', 'id'])
        .execute();
      await db.schema
        .createTable('input_set_inputs')
        .addColumn('input_set_uid', 'text', (column) => column.notNull())
        .addColumn('position', 'integer', (column) => column.notNull())
        .addColumn('input_id', 'text', (column) => column.notNull())
        .addColumn('run_id', 'text')
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('input_format', 'text', (column) => column.notNull())
        .addColumn('output_format', 'text')
        .addColumn('content_id', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('input_set_inputs_key', ['input_set_uid', 'position'])
        .execute();
      // The newest runs of one instance that succeeded, however many runs others had since, or it had that failed.
      await sql`create index runs_succeeded_of_instance on runs (application_uid, instance_id, created_at, id) where status = 'succeeded'`.execute(
        db,
      );
    },
  },
];
