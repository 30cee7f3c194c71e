/** Formats tables as CSV (RFC 4180) that a spreadsheet opens without running anything. */
import { getCell, type TableData } from './find-tables.ts';
import { formatJson } from './json-text.ts';

/** A cell of text that begins like this is a formula for a spreadsheet (OWASP, CSV injection). */
const FORMULA_START = /^[=+\-@\t\r]/;

function formatField(value: unknown): string {
  if (value === undefined || value === null) return '';
  // Numbers stay as they are: -5 computes nothing.
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : formatJson(value);
  const harmless = FORMULA_START.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Returns the table as CSV with a header. A text that begins like a formula has an apostrophe before it. */
export function formatCsv({ columns, rows }: Pick<TableData, 'columns' | 'rows'>): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => getCell(row, column)))];
  return lines.map((line) => `${line.map(formatField).join(',')}\r\n`).join('');
}
