/**
 * Tables of input sets and their inputs. Each input has its own content id, and a copy of name and description from the time
 * it was added. Later changes of the run or managed input do not affect the set.
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
  /** The instance whose runs in a time range it contains; null for any other source. */
  instance_id: InstanceId | null;
  created_at: number;
  updated_at: number;
}

export interface InputSetInputsTable {
  input_set_uid: string;
  /** The position in the set, from 0. */
  position: number;
  /** The id of the source, a run or a managed input; unique in the set. */
  input_id: RunId | InputId;
  /** The source run; null for a managed input. */
  run_id: RunId | null;
  name: string;
  description: string;
  input_format: FormatType;
  /** null when the managed input has none. */
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
      // Finds the newest succeeded runs of one instance without a scan of newer runs that failed or belong to others.
      await sql`create index runs_succeeded_of_instance on runs (application_uid, instance_id, created_at, id) where status = 'succeeded'`.execute(
        db,
      );
    },
  },
];
