/** Where the parts of a chart of series stand, in pixels. Pure. */
import {
  distinguish,
  formatObjective,
  formatPercent,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import {
  buildScale,
  findExtent,
  listTicks,
  type Scale,
  truncateLabel,
} from '@switchyard/contract/presentation/scales.ts';
import type { ChartSeries } from './chart-series.ts';
import { placeLabels } from './place-labels.ts';
import { listTimeTicks } from './time-ticks.ts';

const TOP = 20;
const BOTTOM = 28;
const LABEL_PX = 16;
/** Mean width of a character of 12 px. */
const CHAR_PX = 6.8;
/** Below it a chart has fewer ticks, and its lines take the width of their labels. */
const NARROW_PX = 420;
const PADDING = 0.06;

/** What the chart shows beside its series. */
export interface PlotSpan {
  /** The end of the axis, such as the limit of a live run. */
  end?: number | undefined;
  /** Where a live run is, or where an ended one ended: lines of values that hold go on until there. */
  until?: number | undefined;
}

/** A tick with its position and text. */
interface Tick {
  at: number;
  text: string;
}

/** A drawn chart. */
export interface PlotLayout {
  left: number;
  right: number;
  bottom: number;
  x: Scale;
  y: Scale;
  xTicks: Tick[];
  yTicks: Tick[];
  /** By which the values on the axis are divided, in words. */
  magnitude: string;
  /** The first value in words, when it is above or below the picture. */
  cut: string;
  /** The path of each series, its end and its label. */
  lines: { path: string; end: [x: number, y: number]; label: string; labelY: number; isBefore: boolean }[];
}

const MAGNITUDES = [
  { from: 1e10, factor: 1e9, name: 'billion' },
  { from: 1e7, factor: 1e6, name: 'million' },
  { from: 1e4, factor: 1e3, name: 'thousand' },
  { from: 0, factor: 1, name: '' },
] as const;

/** Returns the layout in the size; the series have points. */
export function layoutPlot(
  series: readonly ChartSeries[],
  { end, until }: PlotSpan,
  { width, height }: { width: number; height: number },
): PlotLayout {
  const isNarrow = width < NARROW_PX;
  const { low, high, cut } = findDomain(series);
  const values = [4, 7].map((count) => listTicks(low, high, count)).find(({ length }) => length > 2) ?? [
    low,
    high,
  ];
  const { factor, name } =
    MAGNITUDES.find(({ from }) => Math.max(Math.abs(low), Math.abs(high)) >= from) ?? MAGNITUDES[3];
  const format = series.every(({ isRatio }) => isRatio) ? formatPercent : formatValue;
  const write = distinguish(
    values.map((value) => value / factor),
    format,
  );
  const left = CHAR_PX * Math.max(...values.map((value) => write(value / factor).length)) + 10;
  const ends = series.map(({ points }) => (points.at(-1)?.y ?? 0) / factor);
  const writeEnd = distinguish(ends, format === formatPercent ? format : formatObjective);
  const labels = series.map(({ label, name: own }, index) =>
    truncateLabel(label?.(writeEnd(ends[index] ?? 0)) ?? own, 0.32 * width),
  );
  const right = isNarrow ? width - 8 : width - CHAR_PX * Math.max(...labels.map(({ length }) => length)) - 12;
  const bottom = height - BOTTOM;
  const last = Math.max(...series.map(({ points }) => points.at(-1)?.x ?? 0), until ?? 0);
  const isTime = series.every(({ isOverSeconds }) => isOverSeconds);
  const first = isTime ? 0 : Math.min(...series.map(({ points }) => points[0]?.x ?? 0));
  const x = buildScale([first, Math.max(end ?? 0, last)], [left, right]);
  const y = buildScale([low, high], [bottom, TOP]);
  const lines = series.map((one) => drawLine(one, { x, y, until }));
  // Where there is no space behind the end of a line, its label stands above it.
  const isBefore = (index: number): boolean =>
    isNarrow && (lines[index]?.end[0] ?? 0) + CHAR_PX * (labels[index]?.length ?? 0) + 14 > width;
  const areBefore = lines.every((_, index) => isBefore(index));
  const heights = placeLabels(
    lines.map(({ end: [, at] }, index) => (isBefore(index) ? at - 10 : at + 4)),
    LABEL_PX,
    [TOP, areBefore ? Math.max(...lines.map(({ end: [, at] }) => at)) - 6 : bottom],
  );
  return {
    left,
    right,
    bottom,
    x,
    y,
    xTicks: listXTicks(x, [first, Math.max(end ?? 0, last)], { isTime, isNarrow }),
    yTicks: values.map((value) => ({ at: y(value), text: write(value / factor) })),
    magnitude: name,
    cut: cut === undefined ? '' : `from ${formatObjective(cut / factor)}`,
    lines: lines.map((line, index) => ({
      ...line,
      label: labels[index] ?? '',
      labelY: heights[index] ?? 0,
      isBefore: isBefore(index),
    })),
  };
}

interface Domain {
  low: number;
  high: number;
  /** The first value, which is outside. */
  cut?: number;
}

/** The values of this first part of a curve may be so far away that they would press the rest flat. */
const EARLY_SHARE = 0.1;
/** Without the early values, the rest has less than this share of the height. */
const FLAT_SHARE = 0.25;

/** Returns the range of the values. Of a bound, which begins far away, only the last value counts. */
function findDomain(series: readonly ChartSeries[]): Domain {
  const shown = series.map(({ role, points }) => (role === 'bound' ? points.slice(-1) : points));
  const end = EARLY_SHARE * shown.reduce((most, points) => Math.max(most, points.at(-1)?.x ?? 0), 0);
  const late = shown.map((points, index) => {
    // The last early value holds until the first late one.
    const from = points.findIndex(({ x }) => x >= end);
    return series[index]?.role === 'bound' ? points : points.slice(from === -1 ? -1 : Math.max(0, from - 1));
  });
  const [whole, rest] = [shown, late].map((all) => findExtent(listValues(all)));
  if (!whole || !rest) return { low: 0, high: 1 };
  const isFlat = rest[1] - rest[0] < FLAT_SHARE * (whole[1] - whole[0]) && rest[1] > rest[0];
  const [low, high] = isFlat ? rest : whole;
  const padding = PADDING * (high - low || Math.abs(high) || 1);
  const first = series.find(({ role }) => role === 'own')?.points[0]?.y ?? shown[0]?.[0]?.y;
  return {
    low: low >= 0 ? Math.max(0, low - padding) : low - padding,
    high: high + padding,
    ...(isFlat && first !== undefined && { cut: first }),
  };
}

function* listValues(all: readonly ChartSeries['points'][]): Generator<number> {
  for (const points of all) for (const { y } of points) yield y;
}

/** Values in one column of pixels. Only the first, the last and the extremes can be seen. */
interface Column {
  x: number;
  first: number;
  low: number;
  high: number;
  last: number;
}

/** Returns the points of a curve by columns of pixels: a hundred thousand points are at most as many as the picture is wide. */
function listColumns(points: ChartSeries['points'], x: Scale): Column[] {
  const columns: Column[] = [];
  let column: Column | undefined;
  for (const point of points) {
    const at = x(point.x);
    if (column && Math.floor(at) === Math.floor(column.x)) {
      column.low = Math.min(column.low, point.y);
      column.high = Math.max(column.high, point.y);
      column.last = point.y;
    } else {
      column = { x: at, first: point.y, low: point.y, high: point.y, last: point.y };
      columns.push(column);
    }
  }
  return columns;
}

function drawLine(
  { points, isSampled, isOverSeconds }: ChartSeries,
  { x, y, until }: { x: Scale; y: Scale; until: number | undefined },
): { path: string; end: [x: number, y: number] } {
  const write = (value: number): string => value.toFixed(1);
  const path = listColumns(points, x).map(({ x: at, first, low, high, last }, index) => {
    const to = index === 0 ? 'M' : isSampled ? 'L' : 'H';
    const start = `${to}${write(at)}${to === 'H' ? 'V' : ' '}${write(y(first))}`;
    // Up and down in the column, and to its last value.
    return [low, high, last].reduce(
      (drawn, value, part) => (value === [first, low, high][part] ? drawn : `${drawn}V${write(y(value))}`),
      start,
    );
  });
  const last = points.at(-1);
  const holdsUntil =
    !isSampled && isOverSeconds && until !== undefined ? Math.max(until, last?.x ?? 0) : (last?.x ?? 0);
  const end: [number, number] = [x(holdsUntil), y(last?.y ?? 0)];
  return { path: `${path.join('')}H${write(end[0])}`, end };
}

function listXTicks(
  x: Scale,
  [first, end]: readonly [number, number],
  { isTime, isNarrow }: { isTime: boolean; isNarrow: boolean },
): Tick[] {
  const count = isNarrow ? 4 : 6;
  if (!isTime) {
    const ticks = listTicks(first, end, count - 1);
    return ticks.map((tick) => ({ at: x(tick), text: distinguish(ticks)(tick) }));
  }
  const { ticks, factor, unit } = listTimeTicks(end, count);
  const write = distinguish(ticks.map((tick) => tick / factor));
  // The unit stands once, at the last tick.
  return ticks.map((tick, index) => ({
    at: x(tick),
    text: `${write(tick / factor)}${index === ticks.length - 1 ? `\u00a0${unit}` : ''}`,
  }));
}
