import {
  type Effect,
  formatChange,
  formatInterval,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import { findDomain } from '@switchyard/contract/experiments/presentation/interval-domain.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import {
  buildScale,
  listTicks,
  type Scale,
  truncateLabel,
} from '@switchyard/contract/presentation/scales.ts';
import type { ReactNode } from 'react';
import { findTone, type VerdictTone } from '../../../ui/experiments/verdict-badge.tsx';
import { HorizontalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import styles from './pictures.module.css';

/** One row of the picture: an indicator, a candidate, or a group of inputs. */
interface IntervalRow {
  key: string;
  label: string;
  effect: Effect;
  /** The word beside the interval, such as the verdict. */
  word: string;
  /** The default is the tone of the word as a verdict. */
  tone?: VerdictTone;
}

const ROW = 30;
/** A narrow row has its label above the interval. */
const NARROW_ROW = 48;
const AXIS = 30;
const NARROW_WIDTH = 640;
const LABEL_WIDTH = 180;
const TEXT_WIDTH = 285;
const WORD_WIDTH = 82;
const TICKS_WIDTH = 90;

interface IntervalPlotProps {
  title: string;
  caption: string;
  rows: readonly IntervalRow[];
  /** Name of the column of words in the table; the default is `verdict`. */
  wordColumn?: string;
  /** Controls beside the heading. */
  controls?: ReactNode;
}

/** The change of each row with its 95 % interval, on one axis of percent. Differences have a scale for each row. */
export function IntervalPlot({ title, caption, rows, wordColumn = 'verdict', controls }: IntervalPlotProps) {
  const relative = rows.filter(({ effect }) => effect.measure === 'relative');
  const absolute = rows.filter(({ effect }) => effect.measure === 'absolute');
  const table = {
    columns: ['name', 'change', 'low', 'high', 'margin low', 'margin high', 'unit', wordColumn],
    rows: [...relative, ...absolute].map(({ label, effect, word }) => ({
      name: label,
      change: effect.value,
      low: effect.low,
      high: effect.high,
      'margin low': effect.margin?.low ?? null,
      'margin high': effect.margin?.high ?? null,
      unit: effect.measure === 'relative' ? 'share' : 'unit of the indicator',
      [wordColumn]: word,
    })),
  };
  const measureHeight = (rowHeight: number) => rows.length * rowHeight + (relative.length > 0 ? AXIS : 0) + 4;
  return (
    <Figure {...{ title, caption, table, controls }} height={measureHeight(ROW)}>
      {(width) => {
        const layout = computeLayout(width);
        return (
          <Picture
            width={width}
            height={measureHeight(layout.rowHeight)}
            label={`${title}. ${rows.map(describeRow).join('. ')}`}
          >
            <RelativeRows rows={relative} layout={layout} />
            <g
              transform={`translate(0 ${relative.length * layout.rowHeight + (relative.length > 0 ? AXIS : 0)})`}
            >
              {absolute.map((row, index) => {
                const scale = buildRowScale([row.effect], layout);
                return (
                  <Row key={row.key} row={row} scale={scale} top={index * layout.rowHeight} layout={layout} />
                );
              })}
            </g>
          </Picture>
        );
      }}
    </Figure>
  );
}

interface Layout {
  isNarrow: boolean;
  rowHeight: number;
  width: number;
  /** Start and end of the axis. */
  plot: readonly [number, number];
}

function computeLayout(width: number): Layout {
  const isNarrow = width < NARROW_WIDTH;
  return {
    isNarrow,
    rowHeight: isNarrow ? NARROW_ROW : ROW,
    width,
    plot: isNarrow ? [12, width - 12] : [LABEL_WIDTH + 12, width - TEXT_WIDTH - 12],
  };
}

function buildRowScale(effects: readonly Effect[], { plot }: Layout): Scale {
  return buildScale(findDomain(effects), plot);
}

function describeRow({ label: text, effect, word }: IntervalRow): string {
  const label = escapeInvisible(text);
  if (effect.value === null) return `${label}: ${word}, no estimate`;
  const interval = formatInterval(effect);
  return `${label}: ${word}, ${formatChange(effect.measure, effect.value)}${interval ? `, ${interval}` : ''}`;
}

function RelativeRows({ rows, layout }: { rows: readonly IntervalRow[]; layout: Layout }) {
  if (rows.length === 0) return null;
  const effects = rows.map(({ effect }) => effect);
  const [low, high] = findDomain(effects);
  const scale = buildRowScale(effects, layout);
  const bottom = rows.length * layout.rowHeight + 4;
  const [start, end] = layout.plot;
  return (
    <g>
      <HorizontalAxis
        ticks={listTicks(low, high, (end - start) / TICKS_WIDTH)}
        scale={scale}
        format={(value, moreDigits) => formatChange('relative', value, moreDigits)}
        across={[0, bottom]}
      />
      {rows.map((row, index) => (
        <Row key={row.key} row={row} scale={scale} top={index * layout.rowHeight} layout={layout} />
      ))}
    </g>
  );
}

interface RowProps {
  row: IntervalRow;
  scale: Scale;
  top: number;
  layout: Layout;
}

function Row({ row, scale, top, layout }: RowProps) {
  const { effect, label, word, tone = findTone(word) } = row;
  const { isNarrow, rowHeight, width, plot } = layout;
  const y = top + (isNarrow ? 34 : rowHeight / 2);
  const textY = isNarrow ? top + 16 : y + 4;
  const text = effect.value === null ? 'no estimate' : formatChange(effect.measure, effect.value);
  const interval = formatInterval(effect);
  const wordX = isNarrow ? width : width - TEXT_WIDTH;
  return (
    <g className={styles[tone]}>
      <title>{describeRow(row)}</title>
      <text className={figure.label} x={0} y={textY}>
        {truncateLabel(label, isNarrow ? width - WORD_WIDTH - 80 : LABEL_WIDTH)}
      </text>
      {effect.margin && <Band margin={effect.margin} {...{ scale, plot, y }} />}
      <line className={figure.zero} x1={scale(0)} x2={scale(0)} y1={y - 13} y2={y + 13} />
      <Interval effect={effect} scale={scale} plot={plot} y={y} />
      {isNarrow ? (
        <text className={`${styles.word} ${figure.end}`} x={wordX} y={textY}>
          {`${word} ${text}`}
        </text>
      ) : (
        <>
          <text className={styles.word} x={wordX} y={textY}>
            {word}
          </text>
          <text className={figure.note} x={wordX + WORD_WIDTH} y={textY}>
            {interval === null ? text : `${text} (${interval})`}
          </text>
        </>
      )}
    </g>
  );
}

interface MarkProps {
  scale: Scale;
  plot: readonly [number, number];
  y: number;
}

function Band({
  margin,
  scale,
  plot: [start, end],
  y,
}: MarkProps & { margin: { low: number; high: number } }) {
  const from = Math.max(scale(margin.low), start);
  const to = Math.min(scale(margin.high), end);
  return <rect className={figure.margin} x={from} y={y - 9} width={Math.max(to - from, 0)} height={18} />;
}

/** The interval; an arrow stands where it continues beyond the axis. */
function Interval({ effect, scale, plot: [start, end], y }: MarkProps & { effect: Effect }) {
  const { value, low, high } = effect;
  const clamp = (x: number): number => Math.min(Math.max(x, start), end);
  return (
    <>
      {low !== null && high !== null && (
        <>
          <line className={styles.interval} x1={clamp(scale(low))} x2={clamp(scale(high))} y1={y} y2={y} />
          {scale(low) < start && <path className={styles.arrow} d={`M${start - 8} ${y}l9 -5v10z`} />}
          {scale(high) > end && <path className={styles.arrow} d={`M${end + 8} ${y}l-9 -5v10z`} />}
        </>
      )}
      {value !== null && scale(value) >= start && scale(value) <= end && (
        <circle className={styles.estimate} cx={scale(value)} cy={y} r="5" />
      )}
    </>
  );
}
