import { distinguish, type Format } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Scale } from '@switchyard/contract/presentation/scales.ts';
import styles from './figure.module.css';

interface AxisProps {
  ticks: readonly number[];
  scale: Scale;
  /** Writes the values; the default is that of measured values. */
  format?: Format;
  /** Start and end of the lines, across the axis. */
  across: readonly [number, number];
}

/** Vertical grid lines with their values below. */
export function HorizontalAxis({ ticks, scale, format, across: [top, bottom] }: AxisProps) {
  const write = distinguish(ticks, format);
  return (
    <g>
      {ticks.map((tick) => (
        <g key={tick}>
          <line className={styles.grid} x1={scale(tick)} x2={scale(tick)} y1={top} y2={bottom} />
          <text className={`${styles.note} ${styles.middle}`} x={scale(tick)} y={bottom + 16}>
            {write(tick)}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Horizontal grid lines with their values at the start. */
export function VerticalAxis({ ticks, scale, format, across: [start, end] }: AxisProps) {
  const write = distinguish(ticks, format);
  return (
    <g>
      {ticks.map((tick) => (
        <g key={tick}>
          <line className={styles.grid} x1={start} x2={end} y1={scale(tick)} y2={scale(tick)} />
          <text className={`${styles.note} ${styles.end}`} x={start - 8} y={scale(tick) + 4}>
            {write(tick)}
          </text>
        </g>
      ))}
    </g>
  );
}
