/** The values of a run by which lists filter and sort: its columns, the words of its texts, its indicators and options. */
import type { Indicator } from '@switchyard/contract/runs/run-reports.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { parseIndicators, parseOptionsSummary } from '../run-columns.ts';
import { encodeText, encodeValue, splitWords } from './encode-value.ts';

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
export interface RunValue {
  field: string;
  value: string;
}

/** The fields that are columns, and that every run has. */
const COLUMN_FIELDS = ['status', 'instance_id', 'version_id', 'user_email', 'run_type'] as const;

/** The field of the ensemble of an ensemble run. */
const ENSEMBLE_FIELD = 'ensemble_id';

/** The fields whose values change with the name and the description. */
export const TEXT_FIELDS = ['name', 'text'] as const;

/** The field of the tags. They are not columns of a run: a run has their values from its first tag on, also while active. */
export const TAG_FIELD = 'tag';

export const indicatorField = (name: string): string => `indicator.${name}`;
export const optionField = (name: string): string => `option.${name}`;

/** Lists the values of the run. Only the field `text` has several. An unnamed run has no value of the field `name`. */
export function listRunValues(run: IndexedRun): RunValue[] {
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
export function listTextValues({ id, name, description }: Pick<IndexedRun, 'id' | 'name' | 'description'>) {
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
