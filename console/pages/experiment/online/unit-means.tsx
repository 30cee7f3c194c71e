import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale, findExtent, listTicks } from '@switchyard/contract/presentation/scales.ts';
import { VerticalAxis } from '../../../ui/figures/axis.tsx';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import pictures from '../evidence/pictures.module.css';

const HEIGHT = 220;
const MARGIN = { vertical: 12, left: 64 };
const TICKS = 4;

interface UnitMeansProps {
  comparison: SwitchbackComparison;
  candidate: string;
  /** The indicator as people call it. */
  label: string;
}

/** The mean of each unit in the order of time. */
export function UnitMeans({ comparison: { units }, candidate, label }: UnitMeansProps) {
  const [low, high] = findExtent(units.map(({ mean }) => mean));
  const toY = buildScale([low, high], [HEIGHT - MARGIN.vertical, MARGIN.vertical]);
  const table = {
    columns: ['unit', 'instance', 'mean', 'runs', 'counted'],
    rows: units.map(({ index, instance_id, mean, runs, counted }) => ({
      ...{ unit: index, instance: instance_id, mean, runs, counted: counted ? 'yes' : 'no' },
    })),
  };
  return (
    <Figure
      title={`${label} in each unit`}
      caption={`In the order of time. Blue is ${candidate}; a hollow dot does not count.`}
      table={table}
      height={HEIGHT}
    >
      {(width) => {
        const toX = buildScale([-0.5, (units.at(-1)?.index ?? 0) + 0.5], [MARGIN.left, width]);
        return (
          <Picture width={width} height={HEIGHT} label={`${label} in each of ${units.length} units`}>
            <VerticalAxis ticks={listTicks(low, high, TICKS)} scale={toY} across={[MARGIN.left, width]} />
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
