/** The tables of the values by which lists of runs filter and sort. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import { executeAll, type Migration } from '../../platform/database/migrate.ts';

/**
 * A value of a run that is neither queued nor running. Two orders serve all lists: by value, which filters for one value
 * and sorts, and by time, which finds the newest runs with many different values.
 */
export interface RunValuesTable {
  /** Hash of the application and the field (run-values.ts). */
  field: number;
  /** The creation time of the run. */
  created_at: number;
  run_id: RunId;
  /** Encoded by encode-value.ts. */
  value: string;
}

export const createTables: Migration['up'] = (db, { orderedText, clustered }) =>
  executeAll(db, [
    sql`create table run_values (
      field bigint not null, created_at bigint not null, run_id ${orderedText} not null,
      value ${orderedText} not null, constraint run_values_key primary key (field, created_at, run_id, value)
    ) ${clustered}`,
    sql`create index run_values_by_value on run_values (field, value, created_at, run_id)`,
  ]);
