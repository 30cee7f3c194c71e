import type { EnsembleArm } from '@switchyard/contract/experiments/experiment-ensembles.ts';
import { distinguish, formatNumber, formatRatio } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale, findExtent, listTicks } from '@switchyard/contract/presentation/scales.ts';
import { HorizontalAxis, VerticalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import pictures from './pictures.module.css';

const HEIGHT = 220;
const MARGIN = { top: 12, right: 16, bottom: 44, left: 72 };
const TICKS = 4;
const TICKS_WIDTH = 60;

/** The expected best value of fewer child runs. Where the curve is flat, more runs cost and gain nothing. */
export function BestOfPlot({ arm, name }: { arm: EnsembleArm; name: string }) {
  const { best_of_k: points, statistics_path, objective, inputs } = arm;
  if (points.length === 0) return null;
  const title = `Best of fewer runs of ${name}`;
  const table = {
    columns: ['child runs', 'expected best', 'ratio to one run', 'choices with a success'],
    rows: points.map(({ k, expected, ratio_to_one, solved_share }) => ({
      'child runs': k,
      'expected best': expected,
      'ratio to one run': ratio_to_one,
      'choices with a success': solved_share,
    })),
  };
  return (
    <Figure
      title={title}
      caption={`The ${objective === 'minimize' ? 'lowest' : 'highest'} ${statistics_path} to expect of so many child runs, as a mean over ${formatNumber(inputs)} ${inputs === 1 ? 'input' : 'inputs'}.`}
      table={table}
      height={HEIGHT}
    >
      {(width) => <Curve points={points} width={width} title={title} />}
    </Figure>
  );
}

function Curve({ points, width, title }: { points: EnsembleArm['best_of_k']; width: number; title: string }) {
  const [low, high] = findExtent(points.map(({ expected }) => expected));
  const padding = (high - low || Math.abs(high) || 1) * 0.08;
  const toY = buildScale([low - padding, high + padding], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const toX = buildScale([0.5, points.length + 0.5], [MARGIN.left, width - MARGIN.right]);
  const format = distinguish(points.map(({ expected }) => expected));
  const path = points
    .map(
      ({ k, expected }, index) =>
        `${index === 0 ? 'M' : 'L'}${toX(k).toFixed(1)} ${toY(expected).toFixed(1)}`,
    )
    .join('');
  return (
    <Picture
      width={width}
      height={HEIGHT}
      label={`${title}: ${points.map(({ k, expected }) => `${k}: ${format(expected)}`).join(', ')}`}
    >
      <VerticalAxis
        ticks={listTicks(low - padding, high + padding, TICKS)}
        scale={toY}
        across={[MARGIN.left, width - MARGIN.right]}
      />
      <HorizontalAxis
        ticks={listTicks(1, points.length, (width - MARGIN.left) / TICKS_WIDTH).filter(Number.isInteger)}
        scale={toX}
        across={[MARGIN.top, HEIGHT - MARGIN.bottom]}
      />
      <g className={pictures.candidate}>
        <path className={pictures.curve} d={path} />
        {points.map(({ k, expected, ratio_to_one }) => (
          <circle key={k} className={pictures.ring} cx={toX(k)} cy={toY(expected)} r="4.5">
            <title>
              {`best of ${k}: ${format(expected)}${ratio_to_one === null ? '' : `, ${formatRatio(ratio_to_one)} times that of one run`}`}
            </title>
          </circle>
        ))}
      </g>
      <text className={`${figure.note} ${figure.end}`} x={width - MARGIN.right} y={HEIGHT - 8}>
        child runs
      </text>
    </Picture>
  );
}
