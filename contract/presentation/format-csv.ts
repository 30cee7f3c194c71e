/** Formats tables as CSV (RFC 4180) that a spreadsheet opens without running anything. */

/** A cell of text that begins like this is a formula for a spreadsheet (OWASP, CSV injection). */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;
/** A text that is a number computes nothing. */
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A value of a cell; null and undefined are empty cells. */
export type CsvField = string | number | boolean | null | undefined;

function formatField(value: CsvField): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return String(value);
  const harmless = FORMULA_START.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Returns the lines as CSV. A text that begins like a formula has an apostrophe before it. */
export function formatCsvLines(lines: readonly (readonly CsvField[])[]): string {
  return lines.map((line) => `${line.map(formatField).join(',')}\r\n`).join('');
}
