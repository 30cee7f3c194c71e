/** Formats tables as CSV (RFC 4180) that a spreadsheet opens without running anything. */

/** A cell of text that begins like this is a formula for a spreadsheet (OWASP, CSV injection). */
const FORMULA_START = /^[=+\-@\t\r]/;

/** A value of a cell; null and undefined are empty cells. */
export type CsvField = string | number | null | undefined;

function formatField(value: CsvField): string {
  if (value === undefined || value === null) return '';
  // Numbers stay as they are: -5 computes nothing.
  if (typeof value === 'number') return String(value);
  const harmless = FORMULA_START.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Returns the lines as CSV. A text that begins like a formula has an apostrophe before it. */
export function formatCsvLines(lines: readonly (readonly CsvField[])[]): string {
  return lines.map((line) => `${line.map(formatField).join(',')}\r\n`).join('');
}
