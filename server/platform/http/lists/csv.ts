/**
 * Lines of CSV by RFC 4180. Spreadsheets evaluate text that begins like a formula, so such text gets an apostrophe before it,
 * by which a spreadsheet knows text. A text that is a number, such as `-5`, stays one.
 */

/** The value of a cell; null and undefined are empty cells. */
export type CsvValue = string | number | boolean | null | undefined;

const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const SPECIAL = /[",\r\n]/;

/** Returns the values as one line with its line end. */
export function formatCsvLine(values: readonly CsvValue[]): string {
  return `${values.map(formatCell).join(',')}\r\n`;
}

function formatCell(value: CsvValue): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = FORMULA_START.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
