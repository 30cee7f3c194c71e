import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale, type Scale, truncateLabel } from '@switchyard/contract/presentation/scales.ts';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import { listRows, type PlannedUnit, type PlanRow, type Segment } from './plan-rows.ts';
import styles from './unit-rails.module.css';

const ROW = 64;
/** Places in a row: the time, the rail of the candidate, and that of the control. */
const PLACES = { time: 12, candidate: 28, control: 48 };
const LABEL_WIDTH = 112;
const NARROW_LABEL_WIDTH = 72;
const NARROW_WIDTH = 560;
const SWITCH_MAX = 12;
const TICK_WIDTH_MIN = 56;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 3, 7, 14, 28, 91].map((days) => days * DAY_MS),
];
const days = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
const times = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });

export interface UnitRailsProps {
  plan: { start?: string; units: readonly PlannedUnit[] };
  names: { control: string; candidate: string };
  /** Time up to which units have run; undefined for a test that has not started. */
  now: number | undefined;
  isRunning: boolean;
  /** true where it is the picture of the answer. */
  isMain: boolean;
  comparison?: SwitchbackComparison | undefined;
}

/** How a unit counts: it did not run yet, has no number, counts not after a switch, or counts. */
type UnitState = 'planned' | 'missing' | 'hollow' | 'counted';

/** Two rails over time: the units of the candidate above, those of the control below, and the switches between them. */
export function UnitRails(props: UnitRailsProps) {
  const { plan, names, comparison } = props;
  const start = plan.start === undefined ? 0 : Date.parse(plan.start);
  const { rows } = listRows(plan.units, start);
  const means = new Map(comparison?.units.map((unit) => [unit.index, unit]) ?? []);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const burnIn = comparison && comparison.design.burn_in_minutes > 0 ? 'Hollow is burn-in. ' : '';
  const hollow =
    comparison && comparison.design.carry_over_units > 0 ? 'Hollow is left out after a switch. ' : '';
  const table = {
    columns: ['unit', 'instance', 'minutes', 'mean', 'runs', 'counted'],
    rows: plan.units.map(({ index, instance_id, duration_minutes }) => {
      const unit = means.get(index);
      return {
        unit: index,
        instance: instance_id,
        minutes: duration_minutes,
        mean: unit?.mean ?? null,
        runs: unit?.runs ?? null,
        counted: unit ? (unit.counted ? 'yes' : 'no') : null,
      };
    }),
  };
  return (
    <Figure
      isMain={props.isMain}
      title="Units"
      caption={`${burnIn}${hollow}Dots have not run yet; grey with a red bar has no number. ${plan.start === undefined ? 'Times from the start.' : `Times in ${zone}.`}`}
      table={table}
      height={rows.length * ROW}
    >
      {(width) => (
        <Picture
          width={width}
          height={rows.length * ROW}
          label={`Units: ${plan.units.length} of ${names.control} and ${names.candidate}, ${means.size} with a number`}
        >
          {rows.map((row, index) => (
            <g key={row.start} transform={`translate(0 ${index * ROW})`}>
              <Row {...props} row={row} width={width} isFirst={index === 0} />
            </g>
          ))}
        </Picture>
      )}
    </Figure>
  );
}

function Row({
  row,
  width,
  isFirst,
  ...props
}: UnitRailsProps & { row: PlanRow; width: number; isFirst: boolean }) {
  const { plan, names, now, comparison, isRunning } = props;
  const start = plan.start === undefined ? 0 : Date.parse(plan.start);
  const { length } = listRows(plan.units, start);
  const label = width < NARROW_WIDTH ? NARROW_LABEL_WIDTH : LABEL_WIDTH;
  const scale = buildScale([row.start, row.start + length], [label, width - 8]);
  const means = new Map(comparison?.units.map((unit) => [unit.index, unit.counted]) ?? []);
  const end = scale(row.segments.at(-1)?.end ?? row.start);
  const readState = ({ unit, end: until }: Segment): UnitState => {
    if (now === undefined || until > now) return 'planned';
    const counted = means.get(unit.index);
    if (comparison === undefined) return 'counted';
    return counted === undefined ? 'missing' : counted ? 'counted' : 'hollow';
  };
  return (
    <>
      <Times row={row} length={length} scale={scale} isDated={plan.start !== undefined} />
      {(['candidate', 'control'] as const).map((side) => (
        <g key={side}>
          {isFirst && (
            <text
              className={side === 'candidate' ? styles.candidateName : figure.note}
              x={0}
              y={PLACES[side] + 4}
            >
              {truncateLabel(names[side], label - 8)}
            </text>
          )}
          <path className={styles.rail} d={`M${label} ${PLACES[side]}H${end}`} />
        </g>
      ))}
      {row.segments.map((segment) => (
        <Unit
          key={segment.unit.index}
          {...{ segment, scale, now }}
          isCandidate={segment.unit.instance_id === names.candidate}
          state={readState(segment)}
          burnIn={(comparison?.design.burn_in_minutes ?? 0) * MINUTE_MS}
        />
      ))}
      {isRunning &&
        now !== undefined &&
        now >= row.start &&
        now < row.start + length &&
        scale(now) <= end && <Now row={row} now={now} scale={scale} candidate={names.candidate} />}
    </>
  );
}

/** Hairlines with their times, in steps of minutes, hours or days. */
function Times({
  row,
  length,
  scale,
  isDated,
}: {
  row: PlanRow;
  length: number;
  scale: Scale;
  isDated: boolean;
}) {
  const width = scale(row.start + length) - scale(row.start);
  const step =
    STEPS_MS.find((one) => (one / length) * width >= (one < DAY_MS ? 1.2 : 1) * TICK_WIDTH_MIN) ??
    364 * DAY_MS;
  const size = (step / length) * width;
  return Array.from({ length: Math.max(1, Math.floor(length / step)) }, (_, index) => {
    const time = row.start + index * step;
    const text = isDated ? (step < DAY_MS ? times : days).format(time) : `+${formatDuration(time)}`;
    return (
      <g key={time}>
        <path className={figure.grid} d={`M${scale(time)} 0V${ROW - 8}`} />
        <text className={figure.note} x={scale(time) + 4} y={PLACES.time}>
          {truncateLabel(text, size)}
        </text>
      </g>
    );
  });
}

interface UnitProps {
  segment: Segment;
  scale: Scale;
  now: number | undefined;
  isCandidate: boolean;
  state: UnitState;
  burnIn: number;
}

function Unit({ segment, scale, now, isCandidate, state, burnIn }: UnitProps) {
  const { unit, start, end, isSwitch, isStart } = segment;
  const y = isCandidate ? PLACES.candidate : PLACES.control;
  const other = isCandidate ? PLACES.control : PLACES.candidate;
  const size = scale(end) - scale(start);
  const bend = isSwitch ? Math.min(SWITCH_MAX, size / 2) : 0;
  const from = scale(start) + bend;
  const half = bend / 2;
  const curve = isSwitch
    ? `M${scale(start)} ${other}c${half} 0 ${half} ${y - other} ${bend} ${y - other}`
    : `M${from} ${y}`;
  const ran = state === 'planned' && now !== undefined && now > start ? Math.max(scale(now), from) : null;
  return (
    <g className={state === 'missing' ? styles.missing : isCandidate ? styles.candidate : styles.control}>
      <title>{`unit ${unit.index}: ${escapeInvisible(unit.instance_id)}, ${describeState(state, ran !== null)}`}</title>
      {state === 'planned' ? (
        <>
          <path className={styles.planned} d={`M${ran ?? scale(start)} ${y}H${scale(end)}`} />
          {ran !== null && <path className={styles.ran} d={`${curve}H${ran}`} />}
        </>
      ) : (
        <path className={styles.ran} d={`${curve}H${scale(end)}`} />
      )}
      {state === 'hollow' && <path className={styles.hollow} d={`M${from} ${y}H${scale(end)}`} />}
      {state === 'counted' && isStart && burnIn > 0 && (
        <path
          className={styles.hollow}
          d={`M${from} ${y}H${Math.max(from, scale(Math.min(start + burnIn, end)))}`}
        />
      )}
      {state === 'missing' && <path className={styles.buffer} d={`M${scale(end) - 2} ${y - 7}v14`} />}
    </g>
  );
}

function describeState(state: UnitState, isNow: boolean): string {
  if (isNow) return 'runs now';
  return { planned: 'not run yet', missing: 'no number', hollow: 'left out', counted: 'counts' }[state];
}

/** The ring where the test is now. */
function Now({ row, now, scale, candidate }: { row: PlanRow; now: number; scale: Scale; candidate: string }) {
  const segment = row.segments.find(({ start, end }) => start <= now && now < end);
  const y = segment?.unit.instance_id === candidate ? PLACES.candidate : PLACES.control;
  return <circle className={styles.now} cx={scale(now)} cy={y} r="5" />;
}
