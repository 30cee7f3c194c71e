/** A picture of values in order: one dot each, with a line at a value such as 0. */
import { distinguish, type Format } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale, findExtent } from '@switchyard/contract/presentation/scales.ts';
import { createCanvas, writeText } from './canvas.ts';
import type { Glyphs } from './glyphs.ts';

/** A dot. A value of null is an input that one side failed on, which is a cross at the bottom. */
export interface Dot {
  value: number | null;
  /** false: a hollow dot, for a value that does not count. */
  isSolid: boolean;
}

interface DotPlotSettings {
  /** A value with a line across the picture. */
  baseline?: number;
  format: Format;
  width: number;
  height?: number;
  glyphs: Glyphs;
}

const HEIGHT = 9;
const AXIS_GAP = 2;

/** Returns the lines of the picture. More dots than columns share them: a column then has several dots. */
export function drawDotPlot(dots: readonly Dot[], settings: DotPlotSettings): string[] {
  const { baseline, width, height = HEIGHT, glyphs } = settings;
  const values = dots.flatMap(({ value }) => value ?? []);
  const [low, high] = findExtent(baseline === undefined ? values : [baseline, ...values]);
  const format = distinguish([low, high, baseline], settings.format);
  const labels = new Map([
    [0, format(high)],
    [height - 1, format(low)],
  ]);
  const toRow = buildScale([low, high], [height - 1, 0]);
  if (baseline !== undefined) labels.set(Math.round(toRow(baseline)), format(baseline));
  const axis = Math.max(...[...labels.values()].map((label) => label.length));
  const columns = Math.max(1, width - axis - AXIS_GAP);
  const hasFailures = dots.some(({ value }) => value === null);
  const canvas = createCanvas(width, height + (hasFailures ? 1 : 0));
  for (const [row, label] of labels) writeText(canvas, [axis - label.length, row], label);
  if (baseline !== undefined)
    writeText(canvas, [axis + AXIS_GAP, Math.round(toRow(baseline))], glyphs.line.repeat(columns));
  const toColumn = buildScale([-0.5, dots.length - 0.5], [-0.5, Math.min(columns, 2 * dots.length) - 0.5]);
  for (const [index, { value, isSolid }] of dots.entries()) {
    const column = axis + AXIS_GAP + Math.round(toColumn(index));
    if (value === null) canvas.set(column, height, glyphs.cross);
    else canvas.set(column, Math.round(toRow(value)), isSolid ? glyphs.dot : glyphs.hollow);
  }
  return canvas.toLines();
}
