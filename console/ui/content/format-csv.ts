/** Formats tables of the console as CSV. */
import { type CsvField, formatCsvLines } from '@switchyard/contract/presentation/format-csv.ts';
import { getCell, type TableData } from './find-tables.ts';
import { formatJson } from './json-text.ts';

/** Returns the table as CSV with a header. Values that are no text and no number are JSON. */
export function formatCsv({ columns, rows }: Pick<TableData, 'columns' | 'rows'>): string {
  return formatCsvLines([
    columns,
    ...rows.map((row) => columns.map((column) => formatField(getCell(row, column)))),
  ]);
}

function formatField(value: unknown): CsvField {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' || typeof value === 'number' ? value : formatJson(value);
}
