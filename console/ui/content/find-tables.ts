/** Finds the arrays of objects in a JSON value, and orders their rows. */
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';

const DEPTH_MAX = 6;
const TABLES_MAX = 50;
const VISITS_MAX = 20_000;
/** Columns are those of the first rows. */
const SAMPLED_ROWS = 500;
const COLUMNS_MAX = 60;
/** Arrays inside the rows of a table are found in this many of its first rows. */
const NESTED_ROWS = 20;

/** An array of objects, with its place in the value. */
export interface TableData {
  /** Keys from the root joined by dots; `(root)` for the value itself. */
  path: string;
  rows: readonly Record<string, unknown>[];
  columns: readonly string[];
}

/** Returns the arrays of objects of the value, those nearest to the root first. */
export function findTables(root: unknown): TableData[] {
  const tables: TableData[] = [];
  let visits = 0;
  let level: { path: string[]; value: unknown }[] = [{ path: [], value: root }];
  for (let depth = 0; depth < DEPTH_MAX && level.length > 0; depth++) {
    const next: typeof level = [];
    for (const { path, value } of level) {
      if (++visits > VISITS_MAX || tables.length >= TABLES_MAX) return tables;
      if (Array.isArray(value)) {
        const table = readTable(path, value);
        if (table) tables.push(table);
        for (const [at, one] of value.slice(0, NESTED_ROWS).entries())
          next.push({ path: [...path, String(at)], value: one });
      } else if (isRecord(value))
        for (const [key, one] of Object.entries(value)) next.push({ path: [...path, key], value: one });
    }
    level = next;
  }
  return tables;
}

/** Returns the table to show first: the longest of the solution, or else the longest. */
export function chooseTable(tables: readonly TableData[]): TableData | undefined {
  const solution = tables.filter(({ path }) => path.startsWith('solution'));
  const candidates = solution.length > 0 ? solution : tables;
  return candidates.toSorted((one, other) => other.rows.length - one.rows.length)[0];
}

function readTable(path: readonly string[], items: readonly unknown[]): TableData | undefined {
  if (items.length === 0) return undefined;
  const rows = items.filter(isRecord);
  if (rows.length !== items.length) return undefined;
  return { path: path.join('.') || '(root)', rows, columns: listColumns(rows) };
}

/** Returns the names of the fields of the first rows. */
export function listColumns(rows: TableData['rows']): string[] {
  const columns = new Set(rows.slice(0, SAMPLED_ROWS).flatMap((row) => Object.keys(row)));
  return [...columns].slice(0, COLUMNS_MAX);
}

/** Returns the value of a row's own field; names such as `constructor` are no fields of every object here. */
export function getCell(row: Record<string, unknown>, column: string): unknown {
  return Object.hasOwn(row, column) ? row[column] : undefined;
}

const collator = new Intl.Collator('en-GB', { numeric: true });

/** Returns the rows ordered by a column: numbers by value, text in natural order, empty cells last in both directions. */
export function sortRows(
  rows: TableData['rows'],
  column: string,
  direction: 'ascending' | 'descending',
): TableData['rows'] {
  const sign = direction === 'ascending' ? 1 : -1;
  return rows.toSorted((one, other) => {
    const a = getCell(one, column);
    const b = getCell(other, column);
    if (a === undefined || a === null) return b === undefined || b === null ? 0 : 1;
    if (b === undefined || b === null) return -1;
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
    return sign * collator.compare(toSortText(a), toSortText(b));
  });
}

/** Nested values are not compared, because their text may be large. */
function toSortText(value: unknown): string {
  return typeof value === 'object' ? '' : String(value);
}
