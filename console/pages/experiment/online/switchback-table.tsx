import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import {
  formatChange,
  formatInterval,
  formatPValue,
  formatValue,
  readEffect,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import view from '../comparison/comparison-view.module.css';

const NUMBERS = ['Baseline', 'Candidate', 'Change', '95 % interval', 'p', 'Adjusted p', 'Units counted'];

/** Every indicator of a switchback test, by the randomisation test. */
export function SwitchbackTable({ comparisons }: { comparisons: readonly SwitchbackComparison[] }) {
  return (
    <section aria-label="All indicators" className={view.section}>
      <h3>All indicators</h3>
      <TableRegion label="Comparison of each indicator">
        <table className={table.table}>
          <TableHead texts={['Indicator', 'Verdict']} numbers={NUMBERS} />
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
      <td className={table.number}>{formatValue(control.mean)}</td>
      <td className={table.number}>{formatValue(candidate.mean)}</td>
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
