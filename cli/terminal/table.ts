/** Tables of text without borders, as other command lines print them. */
import stringWidth from 'string-width';
import { cleanLine } from './clean-text.ts';
import { cutText } from './cut-text.ts';
import type { Style, Tone } from './style.ts';

/** A column of a table of rows. */
export interface Column<Row> {
  title: string;
  value: (row: Row) => string | number | null | undefined;
  isNumeric?: boolean;
  tone?: (row: Row) => Tone | undefined;
}

const GAP = '  ';
const COLUMN_CHARS_MIN = 8;

/** Formats rows as lines with a heading. The widest columns are shortened until a line fits into the width. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, style }: { width: number; style: Style },
): string {
  const cells = rows.map((row) => columns.map(({ value }) => cleanLine(String(value(row) ?? ''))));
  const widths = columns.map(({ title }, index) =>
    Math.max(stringWidth(title), ...cells.map((line) => stringWidth(line[index] ?? ''))),
  );
  shrink(widths, width - GAP.length * (columns.length - 1));
  const pad = (text: string, index: number): string => {
    const short = truncate(text, widths[index] ?? 0);
    const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - stringWidth(short)));
    return columns[index]?.isNumeric ? space + short : short + space;
  };
  const heading = style(
    'strong',
    columns
      .map(({ title }, index) => pad(title, index))
      .join(GAP)
      .trimEnd(),
  );
  const lines = rows.map((row, at) =>
    columns
      .map(({ tone }, index) => {
        const text = pad(cells[at]?.[index] ?? '', index);
        const chosen = tone?.(row);
        return chosen ? style(chosen, text) : text;
      })
      .join(GAP)
      .trimEnd(),
  );
  return [heading, ...lines].map((line) => `${line}\n`).join('');
}

/** Formats pairs of a name and a value, the values in one column. Pairs without a value are left out. */
export function formatFields(
  fields: Readonly<Record<string, string | number | boolean | null | undefined>>,
): string {
  const present = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${name.padEnd(width)}${GAP}${cleanLine(String(value))}\n`).join('');
}

function shrink(widths: number[], available: number): void {
  for (let total = widths.reduce((sum, width) => sum + width, 0); total > available; total -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= COLUMN_CHARS_MIN) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** Returns the text with an ellipsis in place of what exceeds the width. */
function truncate(text: string, width: number): string {
  return stringWidth(text) <= width ? text : `${cutText(text, width - 1)}…`;
}
