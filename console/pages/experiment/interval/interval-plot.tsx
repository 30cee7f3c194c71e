import {
  type Effect,
  formatChange,
  formatInterval,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { listTicks, truncateLabel } from '@switchyard/contract/presentation/scales.ts';
import type { ReactNode } from 'react';
import { HorizontalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import styles from './interval.module.css';
import { computeLayout, HEAD, type IntervalRow, type Layout, measureHeight, TICKS_WIDTH } from './layout.ts';
import { NarrowRow, WideRow } from './rows.tsx';

export interface IntervalPlotProps {
  title: string;
  isMain?: boolean;
  caption: string;
  /** The row that decides comes first, and is large. */
  rows: readonly IntervalRow[];
  /** Name of the side at 0. */
  zero: string;
  /** Name of the column of words in the table; the default is `verdict`. */
  wordColumn?: string;
  /** Controls beside the heading. */
  controls?: ReactNode;
}

/** The change of each row with its interval on one axis. The side that is better is tinted and named. */
export function IntervalPlot({ rows, zero, wordColumn = 'verdict', ...props }: IntervalPlotProps) {
  const table = {
    columns: ['name', 'change', 'low', 'high', 'margin low', 'margin high', 'unit', wordColumn],
    rows: rows.map(({ label, effect, word }) => ({
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
  return (
    <Figure {...props} table={table} height={measureHeight(rows, false)}>
      {(width) => <Rows rows={rows} zero={zero} title={props.title} layout={computeLayout(rows, width)} />}
    </Figure>
  );
}

interface RowsProps {
  rows: readonly IntervalRow[];
  zero: string;
  title: string;
  layout: Layout;
}

function Rows({ rows, zero, title, layout }: RowsProps) {
  const { width, height, bottom, plot, scale, domain, isNarrow, tops, heights, race } = layout;
  const Row = isNarrow ? NarrowRow : WideRow;
  const [first] = rows;
  const measure = first?.effect.measure ?? 'relative';
  return (
    <Picture width={width} height={height} label={`${title}. ${rows.map(describeRow).join('. ')}`}>
      <Sides row={first} zero={zero} layout={layout} />
      {!isNarrow && (
        <HorizontalAxis
          ticks={listTicks(...domain, (plot[1] - plot[0]) / TICKS_WIDTH)}
          scale={scale}
          format={(value, moreDigits) => formatChange(measure, value, moreDigits)}
          across={[HEAD, bottom]}
        />
      )}
      {race && !isNarrow && (
        <>
          <text className={figure.note} x={race.start} y={14}>
            inputs
          </text>
          <HorizontalAxis
            ticks={listTicks(0, race.inputs, 3).filter(Number.isInteger)}
            scale={race.scale}
            across={[HEAD, bottom]}
          />
        </>
      )}
      {rows.map((row, index) => (
        <g key={row.key}>
          <title>{describeRow(row)}</title>
          <Row
            {...{ row, layout }}
            top={tops[index] ?? 0}
            height={heights[index] ?? 0}
            isFirst={index === 0}
          />
        </g>
      ))}
      {isNarrow && (
        <HorizontalAxis
          ticks={listTicks(...domain, 4)}
          scale={scale}
          format={(value, moreDigits) => formatChange(measure, value, moreDigits)}
          across={[bottom, bottom]}
        />
      )}
    </Picture>
  );
}

/** A shorter piece of the control's name says nothing. */
const LABEL_MIN_PX = 60;

/** Names the side that is better, and the one at 0. */
function Sides({ row, zero, layout }: { row: IntervalRow | undefined; zero: string; layout: Layout }) {
  const { plot, scale, isNarrow, width } = layout;
  const [start, end] = isNarrow ? [0, width] : plot;
  const { objective = 'none' } = row ?? {};
  const words = ({ minimize: ['better', 'worse'], maximize: ['worse', 'better'], none: ['', ''] } as const)[
    objective
  ];
  const name = (word: string, side: string) => (word === '' ? side : `${side}, ${word}`);
  const tone = (word: string) => (word === 'better' ? styles.good : figure.note);
  const room = Math.min(scale(0) - start, end - scale(0)) - 88;
  return (
    <>
      <text className={`${figure.note} ${tone(words[0])}`} x={start} y={14}>
        {`← ${name(words[0], 'less')}`}
      </text>
      {!isNarrow && 2 * room > LABEL_MIN_PX && (
        <text className={`${figure.note} ${figure.middle}`} x={scale(0)} y={14}>
          {truncateLabel(zero, 2 * room)}
        </text>
      )}
      <text className={`${figure.note} ${figure.end} ${tone(words[1])}`} x={end} y={14}>
        {`${name(words[1], 'more')} →`}
      </text>
    </>
  );
}

/** Returns the row in words, such as `result.value: better, −1.3 %, −2.2 % to −0.67 %`. */
function describeRow({ label, effect, word, note, why }: IntervalRow): string {
  return [`${escapeInvisible(label)}: ${word}`, why, note, formatValue(effect), formatInterval(effect)]
    .filter(Boolean)
    .join(', ');
}

/** Returns the change of the effect in words. */
function formatValue({ measure, value }: Effect): string {
  return value === null ? 'no estimate' : formatChange(measure, value);
}
