/** Pictures of a result as SVG for the report. Every meaning has a shape or a word, so that no picture needs colour. */

import { formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import { findDomain } from '@switchyard/contract/experiments/presentation/interval-domain.ts';
import { escapeHtml } from '@switchyard/contract/experiments/presentation/report-document.ts';
import { distinguish, type Format } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  buildScale,
  findExtent,
  listTicks,
  truncateLabel,
} from '@switchyard/contract/presentation/scales.ts';
import type { IndicatorView } from '@switchyard/contract/views/experiment-view.ts';

const WIDTH = 760;
const LABEL_WIDTH = 180;
const WORD_WIDTH = 150;
const ROW_HEIGHT = 28;
const AXIS_HEIGHT = 24;
const PLOT_HEIGHT = 220;
const TICKS = 6;
const INK = '#1b1916';
const FAINT = '#b8b0a2';
const BAND = '#efe9dd';

function formatSvg(height: number, label: string, parts: readonly string[]): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" aria-label="${escapeHtml(label)}" font-family="system-ui, sans-serif" font-size="12" fill="${INK}">${parts.join('')}</svg>`;
}

const formatLine = ([x1, y1, x2, y2]: readonly [number, number, number, number], stroke: string): string =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${stroke}"/>`;
const formatText = ([x, y]: readonly [number, number], text: string, anchor = 'start'): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escapeHtml(text)}</text>`;

/** Draws the change of each indicator with its interval; all of them have the same measure. */
export function drawIntervals(indicators: readonly IndicatorView[]): string {
  const [first] = indicators;
  if (!first) return '';
  const [low, high] = findDomain(indicators.map(({ effect }) => effect));
  const toX = buildScale([low, high], [LABEL_WIDTH, WIDTH - WORD_WIDTH]);
  const clamp = (value: number): number => toX(Math.min(Math.max(value, low), high));
  const height = indicators.length * ROW_HEIGHT + AXIS_HEIGHT;
  const rows = indicators.flatMap(({ indicator, verdict, effect }, index) => {
    const y = index * ROW_HEIGHT + ROW_HEIGHT / 2;
    const { margin, value } = effect;
    const [start, end] = [effect.low, effect.high].map((bound) => (bound === null ? null : clamp(bound)));
    return [
      margin
        ? `<rect x="${clamp(margin.low).toFixed(1)}" y="${y - 11}" width="${(clamp(margin.high) - clamp(margin.low)).toFixed(1)}" height="22" fill="${BAND}"/>`
        : '',
      formatText([0, y + 4], truncateLabel(indicator, LABEL_WIDTH - 10)),
      start != null && end != null
        ? [
            formatLine([start, y, end, y], INK),
            ...[start, end].map((x) => formatLine([x, y - 5, x, y + 5], INK)),
          ].join('')
        : '',
      value === null ? '' : `<circle cx="${clamp(value).toFixed(1)}" cy="${y}" r="4"/>`,
      formatText(
        [WIDTH - WORD_WIDTH + 12, y + 4],
        value === null ? verdict : `${verdict}, ${formatChange(effect.measure, value)}`,
      ),
    ];
  });
  const values = listTicks(low, high, TICKS);
  const write = distinguish(values, (tick, moreDigits) =>
    formatChange(first.effect.measure, tick, moreDigits),
  );
  const ticks = values.map((tick) => formatText([toX(tick), height - 6], write(tick), 'middle'));
  return formatSvg(height, `Change of ${indicators.length} indicators`, [
    ...rows,
    formatLine([toX(0), 0, toX(0), height - AXIS_HEIGHT], FAINT),
    ...ticks,
  ]);
}

/** A value in the order of the picture; null for an input that one side failed on. */
interface PlottedValue {
  value: number | null;
  isSolid: boolean;
}

interface ValuesSettings {
  label: string;
  format: Format;
  /** A value with a line across the picture. */
  baseline?: number;
}

/** Draws a dot for each value in order, and a cross for each missing one. */
export function drawValues(
  values: readonly PlottedValue[],
  { label, format, baseline }: ValuesSettings,
): string {
  const numbers = values.flatMap(({ value }) => value ?? []);
  const [low, high] = findExtent(baseline === undefined ? numbers : [baseline, ...numbers]);
  const toY = buildScale([low, high], [PLOT_HEIGHT - 24, 12]);
  const toX = buildScale([-0.5, values.length - 0.5], [90, WIDTH - 10]);
  const ticks = listTicks(low, high, TICKS);
  const write = distinguish(ticks, format);
  const lines = ticks.flatMap((tick) => [
    formatText([80, toY(tick) + 4], write(tick), 'end'),
    formatLine([90, toY(tick), WIDTH - 10, toY(tick)], tick === baseline ? INK : BAND),
  ]);
  const marks = values.map(({ value, isSolid }, index) => {
    const x = toX(index).toFixed(1);
    if (value === null) return formatText([toX(index), PLOT_HEIGHT - 4], '×', 'middle');
    return `<circle cx="${x}" cy="${toY(value).toFixed(1)}" r="4" ${isSolid ? '' : `fill="none" stroke="${INK}"`}/>`;
  });
  return formatSvg(PLOT_HEIGHT, label, [...lines, ...marks]);
}
