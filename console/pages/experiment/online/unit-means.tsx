import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  buildScale,
  findExtent,
  listTicks,
  truncateLabel,
} from '@switchyard/contract/presentation/scales.ts';
import { VerticalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import pictures from '../evidence/pictures.module.css';

const HEIGHT = 220;
const MARGIN = { top: 8, right: 104, bottom: 24, left: 64 };
const TICKS = 4;
const LINE = 18;

interface UnitMeansProps {
  comparison: SwitchbackComparison;
  names: { control: string; candidate: string };
  /** The indicator as people call it. */
  label: string;
}

/** The mean of each unit in the order of time, and that of each side. */
export function UnitMeans({ comparison, names, label }: UnitMeansProps) {
  const { units } = comparison;
  if (units.length === 0) return null;
  const table = {
    columns: ['unit', 'instance', 'mean', 'runs', 'counted'],
    rows: units.map(({ index, instance_id, mean, runs, counted }) => ({
      ...{ unit: index, instance: instance_id, mean, runs, counted: counted ? 'yes' : 'no' },
    })),
  };
  return (
    <Figure
      title={`${label} in each unit`}
      caption="A dot is the mean of a unit, and a hollow one does not count."
      table={table}
      height={HEIGHT}
    >
      {(width) => <Means {...{ comparison, names, label, width }} />}
    </Figure>
  );
}

function Means({ comparison, names, label, width }: UnitMeansProps & { width: number }) {
  const { units } = comparison;
  const [low, high] = findExtent(units.map(({ mean }) => mean));
  const padding = (high - low || Math.abs(high) || 1) * 0.08;
  const domain = [low - padding, high + padding] as const;
  const toY = buildScale(domain, [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const end = width - MARGIN.right;
  const toX = buildScale([-0.5, (units.at(-1)?.index ?? 0) + 0.5], [MARGIN.left, end]);
  return (
    <Picture width={width} height={HEIGHT} label={`${label} in each of ${units.length} units`}>
      <VerticalAxis ticks={listTicks(...domain, TICKS)} scale={toY} across={[MARGIN.left, end]} />
      {listMeans(comparison).map(({ side, mean, y }) => (
        <g key={side} className={pictures[side]}>
          <path
            className={`${pictures.curve} ${side === 'control' ? pictures.dashed : ''}`}
            d={`M${MARGIN.left} ${toY(mean)}H${end}`}
          />
          <text className={pictures.name} x={end + 8} y={y(toY) + 4}>
            {truncateLabel(names[side], MARGIN.right - 8)}
          </text>
        </g>
      ))}
      {units.map(({ index, instance_id, mean, runs, counted }) => (
        <g key={index} className={instance_id === names.candidate ? pictures.candidate : pictures.control}>
          <circle className={counted ? pictures.solid : pictures.ring} cx={toX(index)} cy={toY(mean)} r="4">
            <title>{`unit ${index}: ${formatNumber(mean)} over ${runs} runs`}</title>
          </circle>
        </g>
      ))}
      <text className={`${figure.note} ${figure.end}`} x={end} y={HEIGHT - 4}>
        {`${units.length} units in the order of time`}
      </text>
    </Picture>
  );
}

/** Returns the means of both sides; the names of close ones stand one line apart. */
function listMeans({ control, candidate }: SwitchbackComparison) {
  if (control.mean === null || candidate.mean === null) return [];
  const means = { control: control.mean, candidate: candidate.mean };
  return (['control', 'candidate'] as const).map((side) => ({
    side,
    mean: means[side],
    y: (toY: (value: number) => number) => {
      const own = toY(means[side]);
      const other = toY(means[side === 'control' ? 'candidate' : 'control']);
      const space = (LINE - Math.abs(own - other)) / 2;
      if (space <= 0) return own;
      return own < other || (own === other && side === 'candidate') ? own - space : own + space;
    },
  }));
}
