import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { distinguish, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  buildScale,
  findExtent,
  listTicks,
  type Scale,
  truncateLabel,
} from '@switchyard/contract/presentation/scales.ts';
import { useRef } from 'react';
import { useWidth } from '../../ui/charts/use-width.ts';
import { formatExact } from '../../ui/format-exact.ts';
import { listTicks as listTimes } from '../../ui/solution/layout-lanes.ts';
import styles from './lanes-picture.module.css';
import { type Lane, type LanePoint, listVersionChanges } from './list-lanes.ts';

const LANE_PX = 35;
const TREND_PX = 150;
const AXIS_PX = 24;
const TOP_PX = 18;
/** Below this width the names stand above the rails. */
const NARROW_PX = 600;
const TICK_PX = 110;
const VALUE_TICKS = 4;
/** A version has its name if the one before it and the end of the rail are so far away. */
const VERSION_PX = 44;
const MINUTE_MS = 60_000;
const HUES = [styles.first, styles.second, styles.third, styles.fourth, styles.fifth, styles.sixth];

/** A lane with what is written at its ends. */
export interface NamedLane extends Lane {
  name: string;
  /** Says what the instance is for, such as `default`. */
  note: string;
  /** The version of the instance today; empty for none. */
  current: string;
}

interface PictureProps {
  lanes: readonly NamedLane[];
  /** Name of the indicator below the lanes, with its unit; absent without values. */
  trend: string | undefined;
}

/** A rail for each instance with a bar where its version changed, and the indicator below on the same axis of time. */
export function LanesPicture({ lanes, trend }: PictureProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const height = TOP_PX + lanes.length * LANE_PX + (trend === undefined ? 0 : TREND_PX) + AXIS_PX;
  const count = lanes.reduce((sum, { points }) => sum + points.length, 0);
  const label = `Versions that ${formatCount(lanes.length, 'instance')} ran in ${formatCount(count, 'run')}${trend === undefined ? '' : `, and ${trend} below`}`;
  return (
    <div ref={frame} className={styles.frame} style={{ minHeight: height }}>
      {width > 0 && (
        <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={label}>
          <Drawing lanes={lanes} trend={trend} width={width} />
        </svg>
      )}
    </div>
  );
}

function Drawing({ lanes, trend, width }: PictureProps & { width: number }) {
  const isNarrow = width < NARROW_PX;
  const left = isNarrow ? 6 : 176;
  const right = width - (isNarrow ? 56 : 72);
  const [start, end] = findExtent(lanes.flatMap(({ points }) => points.map(({ at }) => at)));
  const toX = buildScale([start, end], [left, right]);
  const bottom = TOP_PX + lanes.length * LANE_PX;
  const floor = bottom + (trend === undefined ? 0 : TREND_PX);
  return (
    <>
      {lanes.map((lane, index) => (
        <LaneDrawing
          key={lane.instance}
          lane={lane}
          y={TOP_PX + index * LANE_PX + LANE_PX / 2}
          toX={toX}
          ends={[left, right]}
          isNarrow={isNarrow}
          className={HUES[index % HUES.length]}
        />
      ))}
      {trend !== undefined && (
        <Trend lanes={lanes} label={trend} toX={toX} box={{ left, right, top: bottom, floor, isNarrow }} />
      )}
      <TimeAxis start={start} end={end} toX={toX} y={floor} ends={[left, right]} />
    </>
  );
}

interface LaneDrawingProps {
  lane: NamedLane;
  y: number;
  toX: Scale;
  ends: readonly [number, number];
  isNarrow: boolean;
  className: string | undefined;
}

function LaneDrawing({ lane, y, toX, ends: [left, right], isNarrow, className }: LaneDrawingProps) {
  const { points, name, note, current } = lane;
  const changes = listVersionChanges(lane);
  const first = toX(points[0]?.at ?? 0);
  const last = toX(points.at(-1)?.at ?? 0);
  const named = changes.filter(
    ({ at }, index) =>
      right - toX(at) > VERSION_PX &&
      (index === 0 || toX(at) - toX(changes[index - 1]?.at ?? 0) > VERSION_PX),
  );
  return (
    <g className={className}>
      <text className={styles.name} x="0" y={isNarrow ? y - 8 : y}>
        {truncateLabel(name, isNarrow ? 120 : 160)}
        <title>{escapeInvisible(name)}</title>
      </text>
      {!isNarrow && (
        <text x="0" y={y + 14}>
          {note}
        </text>
      )}
      <path className={styles.rail} d={`M${left} ${y}H${right}`} />
      <path className={styles.used} d={`M${first} ${y}H${Math.max(last, first + 1)}`} />
      {changes.map(({ run, at, version }) => (
        <path key={run} className={styles.change} d={`M${toX(at)} ${y - 6}v12`}>
          <title>{`${escapeInvisible(nameVersion(version))} from ${formatExact(at)}`}</title>
        </path>
      ))}
      {points
        .filter(({ hasFailed }) => hasFailed)
        .map(({ run, at }) => (
          <path key={run} className={styles.failed} d={`M${toX(at)} ${y - 5}v10`}>
            <title>{`Failed, ${formatExact(at)}`}</title>
          </path>
        ))}
      {!isNarrow &&
        named.map(({ run, at, version }) => (
          <text key={run} x={toX(at)} y={y - 9}>
            {truncateLabel(nameVersion(version), 90)}
          </text>
        ))}
      <circle className={styles.ring} cx={right} cy={y} r="5" />
      <text className={styles.name} x={right + 10} y={y + 4}>
        {truncateLabel(nameVersion(current), isNarrow ? 40 : 56)}
        <title>{`${escapeInvisible(nameVersion(current))} today`}</title>
      </text>
    </g>
  );
}

/** Runs without a version have the newest executable. */
function nameVersion(version: string): string {
  return version || 'newest';
}

interface TrendProps {
  lanes: readonly NamedLane[];
  label: string;
  toX: Scale;
  box: { left: number; right: number; top: number; floor: number; isNarrow: boolean };
}

function Trend({ lanes, label, toX, box: { left, right, top, floor, isNarrow } }: TrendProps) {
  const values = lanes.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const [low, high] = findExtent(values);
  const toY = buildScale([low, high], [floor - 10, top + 28]);
  const ticks = listTicks(low, high, VALUE_TICKS);
  const write = distinguish(ticks, formatNumber);
  return (
    <>
      <text className={styles.name} x="0" y={isNarrow ? top + 14 : top + 32}>
        {truncateLabel(label, isNarrow ? right : 160)}
        <title>{escapeInvisible(label)}</title>
      </text>
      {ticks.map((tick) => (
        <g key={tick}>
          <path className={styles.grid} d={`M${left} ${toY(tick)}H${right}`} />
          <text x={right + 10} y={toY(tick) + 4}>
            {write(tick)}
          </text>
        </g>
      ))}
      {lanes.map(({ instance, name, points }, index) => (
        <TrendLine
          key={instance}
          name={name}
          points={points}
          toX={toX}
          toY={toY}
          className={HUES[index % HUES.length]}
        />
      ))}
    </>
  );
}

interface TrendLineProps {
  name: string;
  points: readonly LanePoint[];
  toX: Scale;
  toY: Scale;
  className: string | undefined;
}

function TrendLine({ name, points, toX, toY, className }: TrendLineProps) {
  const known = points.filter((point): point is LanePoint & { value: number } => point.value !== undefined);
  return (
    <g className={className}>
      <polyline points={known.map(({ at, value }) => `${toX(at)},${toY(value)}`).join(' ')} />
      {known.map(({ run, at, value, version }) => (
        <circle key={run} className={styles.dot} cx={toX(at)} cy={toY(value)} r="2.5">
          <title>
            {escapeInvisible(
              `${formatNumber(value)}, ${name} with ${nameVersion(version)}, ${formatExact(at)}`,
            )}
          </title>
        </circle>
      ))}
    </g>
  );
}

interface TimeAxisProps {
  start: number;
  end: number;
  toX: Scale;
  y: number;
  ends: readonly [number, number];
}

/** The axis in the time of the reader, whose marks are at round times there. */
function TimeAxis({ start, end, toX, y, ends: [left, right] }: TimeAxisProps) {
  const offset = new Date(start).getTimezoneOffset() * MINUTE_MS;
  const ticksMax = Math.max(2, Math.floor((right - left) / TICK_PX));
  const ticks = listTimes(start - offset, end - offset, { hasClock: true, ticksMax });
  return (
    <>
      <path className={styles.rail} d={`M${left} ${y}H${right}`} />
      {ticks.map(({ at, text }) => (
        <g key={at}>
          <path className={styles.rail} d={`M${toX(at + offset)} ${y}v4`} />
          <text
            x={toX(at + offset)}
            y={y + 18}
            textAnchor={toX(at + offset) < left + TICK_PX / 2 ? 'start' : 'middle'}
          >
            {text}
          </text>
        </g>
      ))}
    </>
  );
}
