/**
 * Series of points as lines of text, with the values on the left and the range of x below. A braille character is a grid of two
 * by four dots; in a locale without UTF-8, a chart has one mark for each character. Pure.
 */
import { distinguish, type Format, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Style, Tone } from './style.ts';

/** A series of a chart: pairs of x and y in the order of x. */
export interface ChartLine {
  name: string;
  points: readonly (readonly number[])[];
}

export interface ChartSettings {
  /** Columns and lines of the whole chart, with its labels. More columns than COLUMNS_MAX are not used. */
  width: number;
  height: number;
  isUnicode: boolean;
  style: Style;
  /** The unit of x, such as `s`; empty for none. */
  unit?: string;
  /** The format of the values; otherwise six digits. */
  format?: Format;
}

/** Bits of the dots of a braille character, by column and row (Unicode, "Braille Patterns"). */
const DOT_BITS = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;
const BRAILLE_BLANK = 0x2800;
/** Marks of series in ASCII, and tones of series in colour. */
const MARKS = '*+o';
const TONES: readonly Tone[] = ['active', 'good', 'strong'];
const PLOT_COLUMNS_MIN = 10;
const COLUMNS_MAX = 100;
const AXES = { unicode: { side: '┤', corner: '└', line: '─' }, ascii: { side: '|', corner: '+', line: '-' } };

interface Range {
  min: number;
  max: number;
}

/** A grid of characters: for each cell its dots, and the last series in it. */
interface Grid {
  columns: number;
  rows: number;
  bits: number[];
  owners: number[];
}

/** Returns the lines of the chart, each with a line feed. Without a point there are none. */
export function formatLineChart(lines: readonly ChartLine[], settings: ChartSettings): string {
  const drawn = lines
    .map(({ name, points }) => ({ name, points: points.filter((point) => point.every(Number.isFinite)) }))
    .filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return '';
  const x = findRange(drawn, 0);
  const y = findRange(drawn, 1);
  const ends = [y.max, (y.min + y.max) / 2, y.min];
  const labels = ends.map(distinguish(ends, settings.format));
  const labelWidth = Math.max(...labels.map((label) => label.length));
  const grid = createGrid(settings, labelWidth);
  drawn.forEach(({ points }, owner) => {
    drawSteps(grid, settings.isUnicode, {
      owner,
      points: points.map(([px = 0, py = 0]) => [toShare(px, x), toShare(py, y)]),
    });
  });
  const axes = settings.isUnicode ? AXES.unicode : AXES.ascii;
  const rows = Array.from({ length: grid.rows }, (_, row) => {
    const label = findLabel(labels, row, grid.rows).padStart(labelWidth);
    return `${label} ${axes.side}${formatRow(grid, row, settings)}`.trimEnd();
  });
  const margin = ' '.repeat(labelWidth + 1);
  const [left, right] = [
    formatValue(x.min),
    `${formatValue(x.max)}${settings.unit ? ` ${settings.unit}` : ''}`,
  ];
  const gap = ' '.repeat(Math.max(1, grid.columns + 1 - left.length - right.length));
  return [
    ...rows,
    `${margin}${axes.corner}${axes.line.repeat(grid.columns)}`,
    `${margin}${left}${gap}${right}`,
    ...(drawn.length > 1 ? [`${margin}${formatLegend(drawn, settings)}`] : []),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function findRange(lines: readonly ChartLine[], index: 0 | 1): Range {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { points } of lines) {
    for (const point of points) {
      const value = point[index] ?? 0;
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
  }
  return { min, max };
}

/** Returns the position of the value in the range, from 0 to 1. A range without a length has everything in its middle. */
function toShare(value: number, { min, max }: Range): number {
  return max > min ? (value - min) / (max - min) : 0.5;
}

function createGrid({ width, height }: ChartSettings, labelWidth: number): Grid {
  const columns = Math.max(PLOT_COLUMNS_MIN, Math.min(width, COLUMNS_MAX) - labelWidth - 2);
  const rows = Math.max(2, height - 2);
  return { columns, rows, bits: Array(columns * rows).fill(0), owners: Array(columns * rows).fill(-1) };
}

/** Draws a series as steps: a value stays until the next one, as the objective of a solver does. */
function drawSteps(
  grid: Grid,
  isUnicode: boolean,
  { owner, points }: { owner: number; points: readonly (readonly [number, number])[] },
): void {
  const [dotsX, dotsY] = isUnicode ? [2, 4] : [1, 1];
  const [width, height] = [grid.columns * dotsX, grid.rows * dotsY];
  const mark = (px: number, py: number): void => {
    const cell = Math.floor(py / dotsY) * grid.columns + Math.floor(px / dotsX);
    const bit = isUnicode ? (DOT_BITS[px % 2]?.[py % 4] ?? 0) : 1;
    grid.bits[cell] = (grid.bits[cell] ?? 0) | bit;
    grid.owners[cell] = owner;
  };
  const place = ([x, y]: readonly [number, number]): [number, number] => [
    Math.round(x * (width - 1)),
    Math.round((1 - y) * (height - 1)),
  ];
  let before: [number, number] | undefined;
  for (const point of points) {
    const [px, py] = place(point);
    const [fromX, fromY] = before ?? [px, py];
    for (let column = fromX; column < px; column += 1) mark(column, fromY);
    for (let row = Math.min(fromY, py); row <= Math.max(fromY, py); row += 1) mark(px, row);
    before = [px, py];
  }
}

/** The labels stand beside the first, the middle and the last row; a low chart has the first and the last. */
function findLabel(
  [top = '', middle = '', bottom = '']: readonly string[],
  row: number,
  rows: number,
): string {
  if (row === 0) return top;
  if (row === rows - 1) return bottom;
  return rows >= 5 && row === Math.floor((rows - 1) / 2) && rows % 2 === 1 ? middle : '';
}

function formatRow(
  { columns, bits, owners }: Grid,
  row: number,
  { isUnicode, style }: ChartSettings,
): string {
  let text = '';
  for (let column = 0; column < columns; column += 1) {
    const cell = row * columns + column;
    const owner = owners[cell] ?? -1;
    if (owner < 0) text += ' ';
    else
      text += style(
        TONES[owner % TONES.length] ?? 'active',
        isUnicode
          ? String.fromCodePoint(BRAILLE_BLANK + (bits[cell] ?? 0))
          : MARKS.charAt(owner % MARKS.length),
      );
  }
  return text;
}

function formatLegend(lines: readonly ChartLine[], { isUnicode, style }: ChartSettings): string {
  return lines
    .map(({ name }, index) => {
      const mark = isUnicode ? '⣿' : MARKS.charAt(index % MARKS.length);
      return `${style(TONES[index % TONES.length] ?? 'active', mark)} ${name}`;
    })
    .join('   ');
}
