/**
 * Tables of input sets and their inputs. Each input has its own content id, and a copy of name and description from the time
 * it was added. Later changes of the run or managed input do not affect the set.
 */
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { InputId, InputSetId, InstanceId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

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

export const createTables: Migration['up'] = (db) =>
  executeAll(db, [
    sql`create table input_sets (
      uid text primary key, application_uid text not null, id text not null, name text not null,
      description text not null, instance_id text, created_at bigint not null, updated_at bigint not null,
      constraint input_sets_by_id unique (application_uid, id)
    )`,
    sql`create index input_sets_by_age on input_sets (application_uid, created_at, id)`,
    sql`create table input_set_inputs (
      input_set_uid text not null, position integer not null, input_id text not null, run_id text,
      name text not null, description text not null, input_format text not null, output_format text,
      content_id text not null, constraint input_set_inputs_key primary key (input_set_uid, position)
    )`,
  ]);
