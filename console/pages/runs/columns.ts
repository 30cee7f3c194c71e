/** The columns of the runs table: facts of each run, and any indicator or option that the listed runs have. */

import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';

const FACTS = {
  instance: 'Instance',
  version: 'Version',
  user: 'User',
  created: 'Created',
  duration: 'Run time',
  waited: 'Waited',
  description: 'Description',
  type: 'Type',
  priority: 'Priority',
  input: 'Input',
} as const;
type Fact = keyof typeof FACTS;

const INDICATOR = 'indicator:';
const OPTION = 'option:';
/** The result comes first: a laptop shows about seven columns. */
export const DEFAULT_COLUMNS = [
  'indicator:result.value',
  'instance',
  'version',
  'created',
  'duration',
  'waited',
  'user',
];
/** More columns than this are no table that anybody reads, and an address may name any number. */
const COLUMNS_MAX = 30;

/** A column, with its kind and the name of its fact, indicator or option. */
export interface Column {
  id: string;
  label: string;
  kind: 'fact' | 'indicator' | 'option';
}

function isFact(id: string): id is Fact {
  return Object.hasOwn(FACTS, id);
}

/** Returns the column of an id, or undefined for an id that names none. */
function findColumn(id: string): Column | undefined {
  if (id.startsWith(INDICATOR)) {
    const name = id.slice(INDICATOR.length);
    return { id, label: name === 'result.value' ? 'Objective' : name, kind: 'indicator' };
  }
  if (id.startsWith(OPTION)) return { id, label: id.slice(OPTION.length), kind: 'option' };
  return isFact(id) ? { id, label: FACTS[id], kind: 'fact' } : undefined;
}

const SORT_FIELDS: Partial<Record<Fact, string>> = {
  instance: 'instance_id',
  version: 'version_id',
  user: 'user_email',
  created: 'created_at',
  type: 'run_type',
};

/** Returns the field by which the server sorts the column; undefined for a column without one. */
export function findSortField({ id, kind }: Column): string | undefined {
  if (kind !== 'fact') return id.replace(':', '.');
  return isFact(id) ? SORT_FIELDS[id] : undefined;
}

/** Returns the columns of the ids in their order, each once. */
export function findColumns(ids: readonly string[]): Column[] {
  return [...new Set(ids)]
    .slice(0, COLUMNS_MAX)
    .map(findColumn)
    .filter((column) => column !== undefined);
}

/** Returns the columns that a reader can choose: all facts, and the indicators and options of the runs. */
export function listColumns(runs: readonly Run[], chosen: readonly string[]): Column[] {
  const indicators = runs.flatMap(({ statistics }) =>
    statistics.indicators.map(({ name }) => INDICATOR + name),
  );
  const options = runs.flatMap((run) => Object.keys(run.options ?? {}).map((name) => OPTION + name));
  const ids = [...Object.keys(FACTS), ...indicators, ...options, ...chosen];
  return [...new Set(ids)].map(findColumn).filter((column) => column !== undefined);
}

/** Returns the text of a cell, and whether it is a number. Created and duration have components of their own. */
export function formatCell(run: Run, { id, kind }: Column): { text: string; isNumber: boolean } {
  if (kind === 'indicator') {
    const value = run.statistics.indicators.find(({ name }) => INDICATOR + name === id)?.value;
    return typeof value === 'number'
      ? { text: formatNumber(value), isNumber: true }
      : { text: value === undefined ? '' : String(value), isNumber: false };
  }
  if (kind === 'option') {
    const text = run.options?.[id.slice(OPTION.length)] ?? '';
    return { text, isNumber: text.trim() !== '' && Number.isFinite(Number(text)) };
  }
  return { text: formatFact(run, id), isNumber: id === 'priority' };
}

function formatFact(run: Run, id: string): string {
  switch (id) {
    case 'instance':
      return run.application_instance_id;
    case 'version':
      return run.application_version_id;
    case 'user':
      return run.user_email;
    case 'description':
      return run.description;
    case 'type':
      return run.run_type.type;
    case 'priority':
      return String(run.queuing_priority);
    case 'input':
      return run.input_id ?? '';
    default:
      return '';
  }
}
