/**
 * The values of runs, and the statements that write them.
 *
 * Invariant: a run that is neither queued nor running has its values, written in the transaction that gave it its status.
 * A queued run has none, so that creating it costs nothing. Only tags are written when they are set, also those of an active
 * run.
 */
import { hash } from 'node:crypto';
import type { Indicator } from '@switchyard/contract/runs/run-reports.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../platform/database/database.ts';
import { prepareVariants } from '../../platform/database/prepared-statements.ts';
import { parseIndicators, parseOptionsSummary } from '../run-columns.ts';
import { encodeText, encodeValue, splitWords } from './encode-value.ts';

const FIELD_BYTES = 6;
/** The possible numbers of rows of one insert, each prepared once. The values of a new external run need one insert. */
const ROWS_PER_INSERT = [32, 16, 8, 7, 6, 5, 4, 3, 2, 1] as const;

/** More indicators, options or words of one run are not indexed: an app decides how many it reports. */
const INDEXED_VALUES_MAX = 100;

/** The columns from which the values of a run are computed. */
export const INDEXED_COLUMNS = [
  'id',
  'application_uid',
  'created_at',
  'status',
  'instance_id',
  'version_id',
  'user_email',
  'run_type',
  'definition_id',
  'name',
  'description',
  'options_summary',
  'indicators',
] as const;

/** The fields that are columns, and that every run has. */
const COLUMN_FIELDS = ['status', 'instance_id', 'version_id', 'user_email', 'run_type'] as const;

/** The field of the ensemble of an ensemble run. */
const ENSEMBLE_FIELD = 'ensemble_id';

/** The fields whose values change with the name and the description. */
const TEXT_FIELDS = ['name', 'text'] as const;

/** The field of the tags. They are not columns of a run: a run has their values from its first tag on, also while active. */
export const TAG_FIELD = 'tag';

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

/** A run as far as its values go; the columns of the table have the same names. */
export type IndexedRun = Record<
  Exclude<(typeof INDEXED_COLUMNS)[number], 'id' | 'created_at' | 'definition_id'>,
  string
> & {
  id: RunId;
  created_at: number;
  /** The ensemble of an ensemble run; null for any other. */
  definition_id: string | null;
};

/** A field of a run and its encoded value. */
interface RunValue {
  field: string;
  value: string;
}

export const indicatorField = (name: string): string => `indicator.${name}`;

export const optionField = (name: string): string => `option.${name}`;

/** Lists the values of the run. Only the field `text` has several. An unnamed run has no value of the field `name`. */
function listRunValues(run: IndexedRun): RunValue[] {
  return [
    ...listColumnValues(run),
    ...listTextValues(run),
    ...listNamedValues(parseIndicators(run), indicatorField),
    ...listNamedValues(parseOptionsSummary(run), optionField),
  ];
}

/** Returns no values for a damaged column: a list reads those of many runs. */
function listReadable<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

/** Lists the values of one field, except the tags. It parses no column of others: a list may read thousands of active runs. */
export function listFieldValues(run: IndexedRun, field: string): string[] {
  const values = listValuesBeside(run, field);
  return values.filter((one) => one.field === field).map(({ value }) => value);
}

/** Lists the values of the field, and those that come from the same columns. */
function listValuesBeside(run: IndexedRun, field: string): RunValue[] {
  if (TEXT_FIELDS.some((one) => one === field)) return listTextValues(run);
  if (field.startsWith(indicatorField('')))
    return listReadable(() => listNamedValues(parseIndicators(run), indicatorField));
  if (field.startsWith(optionField('')))
    return listReadable(() => listNamedValues(parseOptionsSummary(run), optionField));
  return listColumnValues(run);
}

function listColumnValues(run: IndexedRun): RunValue[] {
  const values = COLUMN_FIELDS.map((field) => ({ field, value: encodeText(run[field]) }));
  if (run.definition_id === null) return values;
  return [...values, { field: ENSEMBLE_FIELD, value: encodeText(run.definition_id) }];
}

/** Lists the values of the fields `name` and `text`. */
function listTextValues({ id, name, description }: Pick<IndexedRun, 'id' | 'name' | 'description'>) {
  // Every id begins with the same word, which finds nothing.
  const words = splitWords(`${id.replace(/^run-/, '')} ${name} ${description}`);
  const values = words
    .slice(0, INDEXED_VALUES_MAX)
    .map((word) => ({ field: 'text', value: encodeText(word) }));
  return name === '' ? values : [{ field: 'name', value: encodeText(name) }, ...values];
}

/** The last value of a name counts, as everywhere else. */
function listNamedValues(
  named: readonly Pick<Indicator, 'name' | 'value'>[],
  formatField: (name: string) => string,
): RunValue[] {
  const values = new Map(
    named.slice(0, INDEXED_VALUES_MAX).map(({ name, value }) => [formatField(name), encodeValue(value)]),
  );
  return Array.from(values, ([field, value]) => ({ field, value }));
}
