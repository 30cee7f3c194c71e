import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import { formatNumber } from '../../../ui/format-quantity.ts';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import view from '../comparison/comparison-view.module.css';
import { formatChange, formatInterval, formatPValue, readEffect } from '../comparison/effects.ts';

const DIGITS = 6;
const formatMean = (mean: number | null): string =>
  mean === null ? '–' : formatNumber(Number(mean.toPrecision(DIGITS)));
const NUMBERS = ['Baseline', 'Candidate', 'Change', '95 % interval', 'p', 'Adjusted p', 'Units counted'];

/** Every indicator of a switchback test, by the randomisation test. */
export function SwitchbackTable({ comparisons }: { comparisons: readonly SwitchbackComparison[] }) {
  return (
    <section aria-label="All indicators" className={view.section}>
      <h3>All indicators</h3>
      <TableRegion label="Comparison of each indicator">
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">Indicator</th>
              <th scope="col">Verdict</th>
              {NUMBERS.map((name) => (
                <th key={name} scope="col" className={table.number}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {comparisons.map((comparison) => (
              <Row key={comparison.indicator} comparison={comparison} />
            ))}
          </tbody>
        </table>
      </TableRegion>
      <p className={view.hint}>
        p is the share of random plans with at least this difference. Adjusted p is corrected by Holm's
        weighted method for every indicator; the verdict uses it.
      </p>
    </section>
  );
}

function Row({ comparison }: { comparison: SwitchbackComparison }) {
  const { indicator, verdict, control, candidate, randomization } = comparison;
  const effect = readEffect(comparison);
  return (
    <tr>
      <th scope="row" className={view.indicator}>
        <bdi>{indicator}</bdi>
      </th>
      <td>
        <VerdictBadge verdict={verdict} />
      </td>
      <td className={table.number}>{formatMean(control.mean)}</td>
      <td className={table.number}>{formatMean(candidate.mean)}</td>
      <td className={table.number}>
        {effect.value === null ? '–' : formatChange(effect.measure, effect.value)}
      </td>
      <td className={table.number}>{formatInterval(effect) ?? '–'}</td>
      <td className={table.number}>{formatPValue(randomization.p_value)}</td>
      <td className={table.number}>{formatPValue(randomization.p_value_holm)}</td>
      <td className={table.number}>
        {control.units.counted} + {candidate.units.counted}
      </td>
    </tr>
  );
}
