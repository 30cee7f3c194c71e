import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale, findExtent, listTicks } from '@switchyard/contract/presentation/scales.ts';
import { HorizontalAxis, VerticalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import pictures from '../evidence/pictures.module.css';

const HEIGHT = 220;
const MARGIN = { top: 12, bottom: 40, left: 64 };
const TICKS = 4;
const TICKS_WIDTH = 60;
/** Fewer units show no course. */
const UNITS_MIN = 3;

interface UnitMeansProps {
  comparison: SwitchbackComparison;
  candidate: string;
  /** The indicator as people call it. */
  label: string;
  /** The unit of its values; empty for none. */
  unit: string;
}

/** The mean of each unit in the order of time. */
export function UnitMeans({ comparison: { units }, candidate, label, unit }: UnitMeansProps) {
  if (units.length < UNITS_MIN) return null;
  const [low, high] = findExtent(units.map(({ mean }) => mean));
  const toY = buildScale([low, high], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const table = {
    columns: ['unit', 'instance', 'mean', 'runs', 'counted'],
    rows: units.map(({ index, instance_id, mean, runs, counted }) => ({
      ...{ unit: index, instance: instance_id, mean, runs, counted: counted ? 'yes' : 'no' },
    })),
  };
  return (
    <Figure
      title={`${label} in each unit`}
      caption={`Mean of ${label}${unit && `, ${unit}`}, in the order of time. Blue is ${candidate}; a hollow dot does not count.`}
      table={table}
      height={HEIGHT}
    >
      {(width) => {
        const last = units.at(-1)?.index ?? 0;
        const toX = buildScale([-0.5, last + 0.5], [MARGIN.left, width]);
        return (
          <Picture width={width} height={HEIGHT} label={`${label} in each of ${units.length} units`}>
            <VerticalAxis ticks={listTicks(low, high, TICKS)} scale={toY} across={[MARGIN.left, width]} />
            <HorizontalAxis
              ticks={listTicks(0, last, width / TICKS_WIDTH).filter(Number.isInteger)}
              scale={toX}
              across={[MARGIN.top, HEIGHT - MARGIN.bottom]}
            />
            <text className={`${figure.note} ${figure.end}`} x={width} y={HEIGHT - 4}>
              unit
            </text>
            {units.map(({ index, instance_id, mean, runs, counted }) => (
              <g key={index} className={instance_id === candidate ? pictures.candidate : pictures.control}>
                <circle
                  className={counted ? pictures.solid : pictures.ring}
                  cx={toX(index)}
                  cy={toY(mean)}
                  r="4"
                >
                  <title>{`unit ${index}: ${formatNumber(mean)} over ${runs} runs`}</title>
                </circle>
              </g>
            ))}
          </Picture>
        );
      }}
    </Figure>
  );
}
