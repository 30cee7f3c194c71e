import type { EnsembleArm } from '@switchyard/contract/experiments/experiment-ensembles.ts';
import { formatSignificant } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale, truncateLabel } from '@switchyard/contract/presentation/scales.ts';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import pictures from '../comparison/pictures.module.css';

const ROW = 38;
const BAR = 12;
const DIGITS = 4;

/** The part of each run group in the improvement of the best value over the worst one. */
export function ContributionPlot({ arm, name }: { arm: EnsembleArm; name: string }) {
  const { groups, statistics_path } = arm;
  if (groups.length === 0) return null;
  const title = `Contribution of each run group of ${name}`;
  const total = groups.reduce((sum, { contribution }) => sum + contribution, 0);
  const rows = groups.map(({ run_group_id: group, contribution }) => ({
    group,
    contribution,
    share: total > 0 ? contribution / total : null,
  }));
  const describe = ({ group, contribution, share }: (typeof rows)[number]): string =>
    `${group}: ${formatSignificant(contribution, DIGITS)}${share === null ? '' : `, ${Math.round(share * 100)} %`}`;
  const height = rows.length * ROW;
  return (
    <Figure
      title={title}
      caption={`Its share in the improvement of ${statistics_path} over the worst value, as a mean over the inputs (Shapley value). A group without a bar can be left out.`}
      table={{ columns: ['group', 'contribution', 'share'], rows }}
      height={height}
    >
      {(width) => {
        const scale = buildScale([0, Math.max(...rows.map((row) => row.contribution), 0)], [0, width]);
        return (
          <Picture width={width} height={height} label={`${title}. ${rows.map(describe).join('. ')}`}>
            {rows.map((row, index) => (
              <g key={row.group} className={pictures.candidate}>
                <text className={figure.label} x={0} y={index * ROW + 14}>
                  {truncateLabel(describe(row), width)}
                </text>
                <rect
                  className={pictures.part}
                  x={0}
                  y={index * ROW + 20}
                  width={row.contribution > 0 ? scale(row.contribution) : 0}
                  height={BAR}
                />
              </g>
            ))}
          </Picture>
        );
      }}
    </Figure>
  );
}
