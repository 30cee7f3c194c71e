import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale, findExtent, listTicks, type Scale } from '@switchyard/contract/presentation/scales.ts';
import { VerticalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import pictures from '../comparison/pictures.module.css';
import styles from './unit-timeline.module.css';

/** Height of the part with the means; without a mean there is none. */
const CHART = 200;
const STRIP = 18;
const MARGIN = { top: 10, right: 12, left: 72, bottom: 40 };
const TICKS = 4;
const MINUTE_MS = 60_000;
const times = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

interface PlannedUnit {
  index: number;
  duration_minutes: number;
  instance_id: string;
}

interface UnitTimelineProps {
  plan: { start?: string; units: readonly PlannedUnit[] };
  names: { control: string; candidate: string };
  comparison?: SwitchbackComparison;
}

/** The units of the plan in order, coloured by instance, and the mean of each unit that has ended. */
export function UnitTimeline({ plan, names, comparison }: UnitTimelineProps) {
  const indicator = comparison?.indicator;
  const means = new Map(comparison?.units.map((unit) => [unit.index, unit]) ?? []);
  const chart = means.size === 0 ? 0 : CHART;
  const title = indicator === undefined ? 'Units of the plan' : `${indicator} by unit`;
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
      title={title}
      caption="Each cell of the strip is a unit, and its colour the instance that serves it. A dot is the mean of a unit; a hollow one does not count, because the other instance may still influence it."
      table={table}
      height={MARGIN.top + chart + STRIP + MARGIN.bottom}
    >
      {(width) => <Timeline {...{ plan, names, title, width, chart }} units={comparison?.units ?? []} />}
    </Figure>
  );
}

type TimelineProps = Pick<UnitTimelineProps, 'plan' | 'names'> & {
  title: string;
  width: number;
  /** Height of the part with the means. */
  chart: number;
  units: SwitchbackComparison['units'];
};

function Timeline({ plan, names, title, width, chart, units }: TimelineProps) {
  const height = MARGIN.top + chart + STRIP + MARGIN.bottom;
  const [low, high] = findExtent(units.map(({ mean }) => mean));
  const padding = (high - low || Math.abs(high) || 1) * 0.08;
  const toY = buildScale([low - padding, high + padding], [MARGIN.top + chart - 12, MARGIN.top]);
  const toX = buildScale([0, plan.units.length], [MARGIN.left, width - MARGIN.right]);
  const findClass = (instance: string) =>
    instance === names.candidate ? pictures.candidate : pictures.control;
  return (
    <Picture
      width={width}
      height={height}
      label={`${title}: ${plan.units.length} units, ${units.length} with a mean`}
    >
      {units.length > 0 && (
        <VerticalAxis
          ticks={listTicks(low - padding, high + padding, TICKS)}
          scale={toY}
          across={[MARGIN.left, width - MARGIN.right]}
        />
      )}
      {plan.units.map(({ index, instance_id }) => (
        <rect
          key={index}
          className={`${styles.unit} ${findClass(instance_id)}`}
          x={toX(index)}
          y={MARGIN.top + chart}
          width={Math.max(toX(index + 1) - toX(index) - 1, 0.5)}
          height={STRIP}
        >
          <title>{`unit ${index}: ${instance_id}`}</title>
        </rect>
      ))}
      {units.map((unit) => (
        <circle
          key={unit.index}
          className={`${unit.counted ? styles.counted : styles.hollow} ${findClass(unit.instance_id)}`}
          cx={toX(unit.index + 0.5)}
          cy={toY(unit.mean)}
          r="4.5"
        >
          <title>{`unit ${unit.index}: ${formatNumber(unit.mean)} over ${unit.runs} runs`}</title>
        </circle>
      ))}
      <Footer plan={plan} names={names} toX={toX} y={MARGIN.top + chart + STRIP} />
    </Picture>
  );
}

/** The times at both ends, and the key of the colours. */
function Footer({
  plan,
  names,
  toX,
  y,
}: Pick<UnitTimelineProps, 'plan' | 'names'> & { toX: Scale; y: number }) {
  const start = plan.start === undefined ? undefined : Date.parse(plan.start);
  const minutes = plan.units.reduce((sum, { duration_minutes }) => sum + duration_minutes, 0);
  const end = toX(plan.units.length);
  return (
    <>
      <text className={figure.note} x={toX(0)} y={y + 16}>
        {start === undefined ? 'start of the test' : times.format(start)}
      </text>
      <text className={`${figure.note} ${figure.end}`} x={end} y={y + 16}>
        {start === undefined
          ? `${formatNumber(minutes)} minutes later`
          : times.format(start + minutes * MINUTE_MS)}
      </text>
      {[
        { name: names.control, className: pictures.control },
        { name: names.candidate, className: pictures.candidate },
      ].map(({ name, className }, index) => (
        <g key={index} className={className}>
          <circle className={styles.counted} cx={toX(0) + 6 + index * 130} cy={y + 30} r="5" />
          <text className={figure.label} x={toX(0) + 16 + index * 130} y={y + 34}>
            {name.length > 16 ? `${name.slice(0, 15)}…` : name}
          </text>
        </g>
      ))}
    </>
  );
}
