/** Tables of text without borders, as other command lines print them. */
import stringWidth from 'string-width';
import { cleanLine } from './clean-text.ts';
import { cutText } from './cut-text.ts';
import type { Style, Tone } from './style.ts';

/** A column of a table of rows. */
export interface Column<Row> {
  title: string;
  value: (row: Row) => Cell;
  isNumeric?: boolean;
  /** Never shortened, as the first column and numbers: ids that readers copy, and values that a cut would falsify. */
  isWhole?: boolean;
  /** Left out where the table would not fit otherwise. */
  isOptional?: boolean;
  tone?: (row: Row) => Tone | undefined;
}

type Cell = string | number | null | undefined;
type CellName<Row> = { [Name in keyof Row]: Row[Name] extends Cell ? Name : never }[keyof Row];

/** By its title, each column is the name of a field, a function of the row, or a column with settings. */
export type Columns<Row> = Readonly<
  Record<string, CellName<Row> | ((row: Row) => Cell) | Omit<Column<Row>, 'title'>>
>;

function listColumns<Row>(columns: Columns<Row> | readonly Column<Row>[]): readonly Column<Row>[] {
  if (isList(columns)) return columns;
  return Object.entries(columns).map(([title, column]): Column<Row> => {
    if (typeof column === 'object') return { title, ...column };
    return { title, value: typeof column === 'function' ? column : (row) => toCell(row[column]) };
  });
}

// The check of the platform does not recognise a list that nobody may change.
const isList: (value: unknown) => value is readonly unknown[] = Array.isArray;

const toCell = (value: unknown): Cell =>
  typeof value === 'string' || typeof value === 'number' ? value : null;

const GAP = '  ';
const COLUMN_CHARS_MIN = 8;

/**
 * Formats rows as lines with a heading. The widest columns of text are shortened until a line fits into the width; then
 * optional columns are left out, the last first. A line that is still too long stays whole. Columns whose titles are data
 * are an array: an object would sort titles that are numbers.
 */
export function formatTable<Row>(
  rows: readonly Row[],
  given: Columns<Row> | readonly Column<Row>[],
  { tableWidth, style }: { tableWidth: number; style: Style },
): string {
  const columns = listColumns(given);
  const cells = rows.map((row) => columns.map(({ value }) => cleanLine(String(value(row) ?? ''))));
  const widths = columns.map(({ title }, index) =>
    cells.reduce((most, line) => Math.max(most, stringWidth(line[index] ?? '')), stringWidth(title)),
  );
  shrink(widths, columns, tableWidth - GAP.length * (columns.length - 1));
  const omitted = columns.findLastIndex(({ isOptional }) => isOptional);
  if (omitted > 0 && sum(widths) + GAP.length * (columns.length - 1) > tableWidth)
    return formatTable(rows, columns.toSpliced(omitted, 1), { tableWidth, style });
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

/** Shortens the widest columns that may be, and leaves each with enough characters to recognise its values. */
function shrink(
  widths: number[],
  columns: readonly Pick<Column<never>, 'isNumeric' | 'isWhole'>[],
  available: number,
): void {
  const flexible = [...columns.keys()].filter(
    (index) => index > 0 && !columns[index]?.isNumeric && !columns[index]?.isWhole,
  );
  for (let total = sum(widths); total > available; total -= 1) {
    const widest = Math.max(...flexible.map((index) => widths[index] ?? 0));
    if (widest <= COLUMN_CHARS_MIN) return;
    widths[flexible.find((index) => widths[index] === widest) ?? 0] = widest - 1;
  }
}

const sum = (widths: readonly number[]): number => widths.reduce((total, width) => total + width, 0);

/** Returns the text with an ellipsis in place of what exceeds the width. */
function truncate(text: string, width: number): string {
  return stringWidth(text) <= width ? text : `${cutText(text, width - 1)}…`;
}
