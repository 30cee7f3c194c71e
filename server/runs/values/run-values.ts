/**
 * Statements that write the values of runs.
 *
 * Invariant: a run that is neither queued nor running has its values, written in the transaction that gave it its status.
 * A queued run has none, so that creating it costs nothing. Only tags are written when they are set, also those of an active
 * run.
 */
import { hash } from 'node:crypto';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../platform/database/database.ts';
import { prepareVariants } from '../../platform/database/prepared-statements.ts';
import { encodeText } from './encode-value.ts';
import {
  type IndexedRun,
  listRunValues,
  listTextValues,
  type RunValue,
  TAG_FIELD,
  TEXT_FIELDS,
} from './list-run-values.ts';

const FIELD_BYTES = 6;
/** The possible numbers of rows of one insert, each prepared once. The values of a new external run need one insert. */
const ROWS_PER_INSERT = [32, 16, 8, 7, 6, 5, 4, 3, 2, 1] as const;

/** Returns the key of a field of an application: 48 bits of a hash, so that no table of names has to be read. */
export function hashField(applicationUid: string, field: string): number {
  return hash('sha256', `${applicationUid}\0${field}`, 'buffer').readUIntBE(0, FIELD_BYTES);
}

/** The values of the rows of one insert, each with the number of its row. */
type InsertValues = { created_at: number; run_id: RunId } & Record<`field${number}`, number> &
  Record<`value${number}`, string>;

const insertRows = prepareVariants<number, InsertValues, unknown>(String, (db, rows, values) =>
  db
    .insertInto('run_values')
    .values(
      Array.from({ length: rows }, (_, row) => ({
        field: values[`field${row}`] ?? 0,
        created_at: values.created_at,
        run_id: values.run_id,
        value: values[`value${row}`] ?? '',
      })),
    )
    .onConflict((conflict) => conflict.doNothing()),
);

/** The columns that every value of a run has. */
type ValueKey = Pick<IndexedRun, 'id' | 'application_uid' | 'created_at'>;

async function insertValues(tx: Writer, run: ValueKey, values: readonly RunValue[]): Promise<void> {
  for (let from = 0; from < values.length; ) {
    const rows = ROWS_PER_INSERT.find((size) => size <= values.length - from) ?? 1;
    const parameters: InsertValues = { created_at: run.created_at, run_id: run.id };
    values.slice(from, from + rows).forEach(({ field, value }, row) => {
      parameters[`field${row}`] = hashField(run.application_uid, field);
      parameters[`value${row}`] = value;
    });
    await insertRows(tx, rows, parameters);
    from += rows;
  }
}

async function removeFields(tx: Writer, run: ValueKey, fields: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('run_values')
    .where(
      'field',
      'in',
      [...new Set(fields)].map((field) => hashField(run.application_uid, field)),
    )
    .where('created_at', '=', run.created_at)
    .where('run_id', '=', run.id)
    .execute();
}

/** Inserts the values of a run; does nothing to those that it has. */
export async function insertRunValues(tx: Writer, run: IndexedRun): Promise<void> {
  await insertValues(tx, run, listRunValues(run));
}

/** Replaces the status of a run that had values before it ended, and inserts the values of its result. */
export async function replaceStatusValue(tx: Writer, run: IndexedRun): Promise<void> {
  await removeFields(tx, run, ['status']);
  await insertRunValues(tx, run);
}

/** Replaces the values of name and description. */
export async function replaceTextValues(tx: Writer, run: IndexedRun): Promise<void> {
  await removeFields(tx, run, TEXT_FIELDS);
  await insertValues(tx, run, listTextValues(run));
}

/** Replaces the values of the tags. */
export async function replaceTagValues(tx: Writer, run: ValueKey, tags: readonly string[]): Promise<void> {
  await removeFields(tx, run, [TAG_FIELD]);
  await insertValues(
    tx,
    run,
    tags.map((tag) => ({ field: TAG_FIELD, value: encodeText(tag) })),
  );
}

/** Removes all values of a run. */
export async function removeRunValues(tx: Writer, run: IndexedRun): Promise<void> {
  await removeFields(tx, run, [...listRunValues(run).map(({ field }) => field), ...TEXT_FIELDS, TAG_FIELD]);
}
