import { distinguish, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useRef } from 'react';
import { useWidth } from '../../ui/charts/use-width.ts';
import styles from './indicator-chart.module.css';
import type { IndicatorPoint, InstanceSeries } from './indicator-points.ts';

const HEIGHT = 220;
const MARGIN = { top: 12, right: 12, bottom: 26, left: 76 };
const GRID_LINES = 4;
const LINES = [styles.first, styles.second, styles.third, styles.fourth];
const times = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** Positions of times and values in the chart. */
interface Scales {
  low: number;
  high: number;
  toX: (at: number) => number;
  toY: (value: number) => number;
}

function buildScales(points: readonly IndicatorPoint[], width: number): Scales {
  const values = points.map(({ value }) => value);
  const instants = points.map(({ at }) => at);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const start = Math.min(...instants);
  const duration = Math.max(...instants) - start;
  const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  return {
    low,
    high,
    // A single instant or value stands in the middle.
    toX: (at) => MARGIN.left + (duration === 0 ? 0.5 : (at - start) / duration) * inner.width,
    toY: (value) => MARGIN.top + (high === low ? 0.5 : (high - value) / (high - low)) * inner.height,
  };
}

/** Runs of an ensemble have no instance. */
function nameInstance(instance: string): string {
  return instance || 'ensembles';
}

/** A line for each instance over the creation times of its runs. A dashed line marks each change of version. */
export function IndicatorChart({
  indicator,
  series,
}: {
  indicator: string;
  series: readonly InstanceSeries[];
}) {
  const frame = useRef<HTMLElement>(null);
  const width = useWidth(frame);
  const points = series.flatMap((one) => one.points);
  const scales = buildScales(points, width);
  const label = `${indicator} of ${points.length} runs, from ${formatNumber(scales.low)} to ${formatNumber(scales.high)}`;
  return (
    <figure ref={frame} className={styles.figure}>
      {width > 0 && (
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} role="img" aria-label={label}>
          <Axes scales={scales} points={points} width={width} />
          {series.map((one, index) => (
            <InstanceLine
              key={one.instance}
              series={one}
              scales={scales}
              className={LINES[index % LINES.length]}
            />
          ))}
        </svg>
      )}
      <figcaption className={styles.legend}>
        {series.map(({ instance, points: own }, index) => (
          <span key={instance}>
            <span className={`${styles.key} ${LINES[index % LINES.length]}`} aria-hidden="true" />
            {nameInstance(instance)} · {own.length} {own.length === 1 ? 'run' : 'runs'}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function Axes({
  scales,
  points,
  width,
}: {
  scales: Scales;
  points: readonly IndicatorPoint[];
  width: number;
}) {
  const { low, high, toY } = scales;
  const steps = high === low ? 0 : GRID_LINES;
  const values = Array.from({ length: steps + 1 }, (_, step) => low + ((high - low) * step) / (steps || 1));
  const format = distinguish(values);
  const instants = points.map(({ at }) => at);
  return (
    <g className={styles.axes}>
      {values.map((value) => (
        <g key={value}>
          <line x1={MARGIN.left} x2={width - MARGIN.right} y1={toY(value)} y2={toY(value)} />
          <text x={MARGIN.left - 8} y={toY(value) + 4} textAnchor="end">
            {format(value)}
          </text>
        </g>
      ))}
      <text x={MARGIN.left} y={HEIGHT - 6}>
        {times.format(Math.min(...instants))}
      </text>
      <text x={width - MARGIN.right} y={HEIGHT - 6} textAnchor="end">
        {times.format(Math.max(...instants))}
      </text>
    </g>
  );
}

function InstanceLine({
  series,
  scales,
  className,
}: {
  series: InstanceSeries;
  scales: Scales;
  className: string | undefined;
}) {
  const { toX, toY } = scales;
  const changes = series.points.filter(({ isVersionChange }) => isVersionChange);
  return (
    <g className={className}>
      {changes.map(({ run, at, version }) => (
        <line
          key={run}
          className={styles.change}
          x1={toX(at)}
          x2={toX(at)}
          y1={MARGIN.top}
          y2={HEIGHT - MARGIN.bottom}
        >
          <title>{`${nameInstance(series.instance)} runs ${version || 'the newest executable'}`}</title>
        </line>
      ))}
      <polyline points={series.points.map(({ at, value }) => `${toX(at)},${toY(value)}`).join(' ')} />
      {series.points.map(({ run, at, value, version }) => (
        <circle key={run} cx={toX(at)} cy={toY(value)} r="3">
          <title>{`${formatNumber(value)} · ${nameInstance(series.instance)} ${version} · ${times.format(at)}`}</title>
        </circle>
      ))}
    </g>
  );
}
