/** A picture of intervals, one line each, around the line of no change. */
import { distinguish, type Format } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale } from '@switchyard/contract/presentation/scales.ts';
import stringWidth from 'string-width';
import { cleanLine } from '../clean-text.ts';
import { cutText } from '../cut-text.ts';
import { createCanvas } from './canvas.ts';
import type { Glyphs } from './glyphs.ts';

/** A line of the picture. An interval without bounds shows its estimate alone. */
export interface IntervalRow {
  label: string;
  value: number | null;
  low: number | null;
  high: number | null;
  margin: { low: number; high: number } | null;
  /** Text after the interval, such as the verdict. */
  word: string;
}

interface IntervalPlotSettings {
  /** The range of the axis, which contains 0. */
  domain: readonly [low: number, high: number];
  /** Formats a bound of the axis. */
  format: Format;
  width: number;
  glyphs: Glyphs;
}

const LABEL_COLUMNS_MAX = 28;
const PLOT_COLUMNS_MIN = 12;

/** Returns the lines of the picture, with the bounds of the axis above them. */
export function drawIntervalPlot(rows: readonly IntervalRow[], settings: IntervalPlotSettings): string[] {
  const { domain, format, width, glyphs } = settings;
  const labels = Math.min(LABEL_COLUMNS_MAX, Math.max(...rows.map(({ label }) => label.length)));
  const words = Math.max(...rows.map(({ word }) => word.length));
  const columns = Math.max(PLOT_COLUMNS_MIN, width - labels - words - 4);
  const toColumn = buildScale(domain, [0, columns - 1]);
  const [first = '', last = ''] = domain.map(distinguish(domain, format));
  const axis = `${first}${' '.repeat(Math.max(1, columns - first.length - last.length))}${last}`;
  return [
    `${' '.repeat(labels + 2)}${axis}`,
    ...rows.map((row) => {
      const line = drawInterval(row, { toColumn, columns, glyphs });
      return `${fitLabel(row.label, labels)}  ${line.padEnd(columns)}  ${row.word}`.trimEnd();
    }),
  ];
}

interface LineSettings {
  toColumn: (value: number) => number;
  columns: number;
  glyphs: Glyphs;
}

function drawInterval({ value, low, high, margin }: IntervalRow, settings: LineSettings): string {
  const { toColumn, columns, glyphs } = settings;
  const canvas = createCanvas(columns, 1);
  const place = (position: number): number => Math.round(toColumn(position));
  const clamp = (column: number): number => Math.min(Math.max(column, 0), columns - 1);
  for (const bound of margin ? [margin.low, margin.high] : []) canvas.set(place(bound), 0, glyphs.margin);
  canvas.set(place(0), 0, glyphs.zero);
  if (low !== null && high !== null) {
    const [start, end] = [place(low), place(high)];
    for (let column = clamp(start); column <= clamp(end); column += 1) canvas.set(column, 0, glyphs.line);
    canvas.set(clamp(start), 0, start < 0 ? glyphs.cutStart : glyphs.start);
    canvas.set(clamp(end), 0, end >= columns ? glyphs.cutEnd : glyphs.end);
  }
  if (value !== null) canvas.set(clamp(place(value)), 0, glyphs.dot);
  return canvas.toLines()[0] ?? '';
}

/** Returns the text in exactly this many columns: filled with spaces, or cut with `..` at its end. */
function fitLabel(text: string, columns: number): string {
  const clean = cleanLine(text);
  const label = stringWidth(clean) <= columns ? clean : `${cutText(clean, columns - 2)}..`;
  return label + ' '.repeat(Math.max(0, columns - stringWidth(label)));
}
