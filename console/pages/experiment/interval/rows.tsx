import { formatChange, formatInterval } from '@switchyard/contract/experiments/presentation/effects.ts';
import { ratePair } from '@switchyard/contract/experiments/presentation/rate-pairs.ts';
import { type Scale, truncateLabel } from '@switchyard/contract/presentation/scales.ts';
import { findTone, type VerdictTone } from '../../../ui/experiments/verdict-badge.tsx';
import figure from '../../../ui/figures/figure.module.css';
import styles from './interval.module.css';
import { buildRowScale, type IntervalRow, type Layout } from './layout.ts';

const LABEL_WIDTH = 156;
/** Places of the texts after the plot. */
const TEXT = { value: 0, interval: 68, end: 252 };
const DOT = { size: 2.6, column: 6, level: 5, levels: 6 };
const STRIP = 20;
/** Mean width of a character of 12 px. */
const CHAR = 6.6;

interface RowProps {
  row: IntervalRow;
  layout: Layout;
  top: number;
  height: number;
  isFirst: boolean;
}

/** Label, interval and numbers beside each other. */
export function WideRow({ row, layout, top, height, isFirst }: RowProps) {
  const { width } = layout;
  const isLarge = row.dots !== undefined && row.dots.length > 0;
  const y = isLarge ? top + 40 : top + height / 2;
  const textX = width - TEXT.end;
  const interval = formatInterval(row.effect)?.replaceAll('\u00a0%', '');
  const isTall = row.note !== undefined || row.why !== undefined;
  const labelY = isTall ? y - 2 : y + 4;
  const value = formatValue(row);
  // Beside a long value there is no space for its interval, which the numbers of the picture have.
  const isBelow = isFirst || isTall;
  const intervalX = textX + (isBelow ? 0 : Math.max(TEXT.interval, value.length * CHAR + 8));
  const room = width - intervalX - (isBelow ? 0 : (writeWord(row).length + 1) * CHAR);
  // Equal changes on all inputs have an interval of one value, which stands above.
  const isShown = interval !== undefined && value.replaceAll('\u00a0%', '') !== interval;
  const fits = isShown && interval.length * CHAR <= room;
  return (
    <>
      {!isFirst && <path className={figure.grid} d={`M0 ${top}H${width}`} />}
      <Sides row={row} layout={layout} from={top} height={height} />
      <text className={isLarge ? styles.large : styles.name} x={0} y={labelY}>
        {truncateLabel(row.label, isLarge ? LABEL_WIDTH * 0.8 : LABEL_WIDTH)}
      </text>
      {row.note && (
        <text className={figure.note} x={0} y={labelY + 16}>
          {truncateLabel(row.note, LABEL_WIDTH)}
        </text>
      )}
      <Race row={row} layout={layout} y={y} />
      <Interval row={row} layout={layout} y={y} isLarge={isFirst} />
      {isLarge && <Dots row={row} layout={layout} top={y + 16} />}
      <text className={isFirst ? styles.huge : styles.name} x={textX} y={isLarge ? y + 6 : labelY}>
        {value}
      </text>
      {interval && fits && (
        <text className={figure.note} x={intervalX} y={isLarge ? y + 26 : isBelow ? labelY + 16 : labelY}>
          {interval}
        </text>
      )}
      <text
        className={`${figure.end} ${styles.word} ${styles[readTone(row)]}`}
        x={width}
        y={row.why && !isLarge ? labelY : y + 4}
      >
        {writeWord(row)}
      </text>
      {row.why && (
        <text className={`${figure.note} ${figure.end}`} x={width} y={isLarge ? y + 22 : labelY + 16}>
          {row.why}
        </text>
      )}
    </>
  );
}

/** Label and numbers above the interval. */
export function NarrowRow({ row, layout, top, isFirst }: RowProps) {
  const { width } = layout;
  const note = [row.note, row.why].filter(Boolean).join(', ');
  const stripY = top + (note ? 42 : 26);
  const word = writeWord(row);
  const value = formatValue(row);
  return (
    <>
      <text className={styles.name} x={0} y={top + 18}>
        {truncateLabel(row.label, width - 8 * (word.length + value.length + 3))}
      </text>
      {note && (
        <text className={figure.note} x={0} y={top + 34}>
          {truncateLabel(note, width)}
        </text>
      )}
      <text className={`${figure.end} ${styles.name}`} x={width} y={top + 18}>
        {value}
        <tspan className={styles[readTone(row)]} dx="8">
          {word}
        </tspan>
      </text>
      <Sides row={row} layout={layout} from={stripY} height={STRIP} />
      <Interval row={row} layout={layout} y={stripY + STRIP / 2} isLarge={isFirst} />
      {row.dots && <Dots row={row} layout={layout} top={stripY + STRIP + 6} />}
    </>
  );
}

const readTone = ({ word, tone = findTone(word) }: IntervalRow): VerdictTone => tone;

function formatValue({ effect: { value, measure } }: IntervalRow): string {
  return value === null ? '–' : formatChange(measure, value);
}

const SIGNS: Record<VerdictTone, string> = { good: '✓', bad: '×', equal: '=', changed: '', open: '' };

function writeWord(row: IntervalRow): string {
  const arrow = row.word === 'higher' ? '▲' : row.word === 'lower' ? '▼' : '';
  return [SIGNS[readTone(row)] || arrow, row.word].filter(Boolean).join(' ');
}

interface PartProps {
  row: IntervalRow;
  layout: Layout;
}

/** The tinted side that is better, the zone without a difference that matters, and the line of the control. */
function Sides({ row, layout, from, height }: PartProps & { from: number; height: number }) {
  const { plot, scale: axis } = layout;
  const scale = clampScale(buildRowScale(row, layout.rows[0], layout), plot);
  const { margin } = row.effect;
  const zone = [scale(margin?.low ?? 0), scale(margin?.high ?? 0)] as const;
  const better =
    row.objective === 'minimize'
      ? ([plot[0], zone[0]] as const)
      : row.objective === 'maximize'
        ? ([zone[1], plot[1]] as const)
        : null;
  return (
    <>
      {better && (
        <rect
          className={styles.better}
          x={better[0]}
          y={from}
          width={better[1] - better[0]}
          height={height}
        />
      )}
      <rect className={figure.margin} x={zone[0]} y={from} width={zone[1] - zone[0]} height={height} />
      <path className={styles.zero} d={`M${axis(0)} ${from}v${height}`} />
    </>
  );
}

/** The interval as a bar and a ring; an arrow stands where it continues beyond the axis. */
function Interval({ row, layout, y, isLarge }: PartProps & { y: number; isLarge: boolean }) {
  const { value, low, high } = row.effect;
  const [start, end] = layout.plot;
  const scale = buildRowScale(row, layout.rows[0], layout);
  const clamped = clampScale(scale, layout.plot);
  const isInside = value !== null && scale(value) >= start && scale(value) <= end;
  // Without an interval, an arrow stands for a value beyond the axis.
  const [least, most] = [low ?? value ?? 0, high ?? value ?? 0];
  return (
    <g className={row.race?.isStopped ? styles.stopped : styles.candidate}>
      {low !== null && high !== null && (
        <path
          className={isLarge ? styles.thick : styles.bar}
          d={`M${clamped(low) + (scale(low) < start ? 6 : 0)} ${y}H${clamped(high) - (scale(high) > end ? 6 : 0)}`}
        />
      )}
      {scale(least) < start && <path className={styles.arrow} d={`M${start} ${y}l9 -5v10z`} />}
      {scale(most) > end && <path className={styles.arrow} d={`M${end} ${y}l-9 -5v10z`} />}
      {isInside && (
        <circle
          className={isLarge && low !== null ? styles.core : styles.ring}
          cx={scale(value)}
          cy={y}
          r={isLarge && low !== null ? 3 : 4.5}
        />
      )}
    </g>
  );
}

function clampScale(scale: Scale, [start, end]: readonly [number, number]): Scale {
  return (value) => Math.min(Math.max(scale(value), start), end);
}

/** One dot for each input, in columns; those beyond the axis stand at its end. */
function Dots({ row, layout, top }: PartProps & { top: number }) {
  const scale = clampScale(layout.scale, layout.plot);
  const columns = Map.groupBy(row.dots ?? [], (change) => Math.round(scale(change) / DOT.column));
  const highest = Math.max(...[...columns.values()].map(({ length }) => length));
  const step = DOT.level * Math.min(1, DOT.levels / highest);
  return [...columns].flatMap(([column, changes]) =>
    changes.map((change, level) => (
      <circle
        key={`${column} ${level}`}
        className={readDotClass(change, row)}
        cx={column * DOT.column}
        cy={top + level * step}
        r={DOT.size}
      />
    )),
  );
}

function readDotClass(change: number, { objective = 'none', effect }: IntervalRow): string | undefined {
  const rating = ratePair({ change, failed: null }, { objective, effect });
  return rating === 'worse' ? styles.loss : rating === 'within' ? styles.within : styles.dot;
}

/** How far the candidate came: the rail is all inputs, and a buffer stands where it was stopped. */
function Race({ row: { race }, layout, y }: PartProps & { y: number }) {
  if (!race || !layout.race) return null;
  const { start, scale, inputs } = layout.race;
  const end = scale(race.inputs);
  return (
    <g className={race.isStopped ? styles.stopped : styles.candidate}>
      <path className={styles.rail} d={`M${start} ${y}H${scale(inputs)}`} />
      <path className={styles.ran} d={`M${start} ${y}H${end}`} />
      {race.isStopped ? (
        <path className={styles.buffer} d={`M${end} ${y - 7}v14`} />
      ) : (
        <circle className={styles.end} cx={end} cy={y} r="4" />
      )}
    </g>
  );
}
