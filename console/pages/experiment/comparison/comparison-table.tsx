import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import styles from './comparison-view.module.css';
import { formatChange, formatInterval, formatPValue, formatValue, readEffect } from './effects.ts';

const NUMBERS = ['Control', 'Candidate', 'Change', '95 % interval', 'p', 'Adjusted p', 'Won / tied / lost'];

/** Every indicator of one candidate: both means, the change, the p-values and the verdict. */
export function ComparisonTable({ comparisons }: { comparisons: readonly Comparison[] }) {
  return (
    <section aria-label="All indicators" className={styles.section}>
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
      <p className={styles.hint}>
        p is Wilcoxon's signed-rank test. Adjusted p is corrected by Holm's weighted method for every
        indicator of every candidate; the verdict uses it.
      </p>
    </section>
  );
}

function Row({ comparison }: { comparison: Comparison }) {
  const { indicator, role, verdict, control, candidate, wilcoxon, inputs } = comparison;
  const effect = readEffect(comparison);
  return (
    <tr>
      <th scope="row" className={styles.indicator}>
        <bdi>{indicator}</bdi>
        {role !== undefined && role !== 'other' && <span className={styles.role}> {role}</span>}
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
      <td className={table.number}>{formatPValue(wilcoxon.p_value)}</td>
      <td className={table.number}>{formatPValue(wilcoxon.p_value_holm)}</td>
      <td className={table.number}>
        {inputs.wins} / {inputs.ties} / {inputs.losses}
      </td>
    </tr>
  );
}
