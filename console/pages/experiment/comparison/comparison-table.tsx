import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import {
  type Effect,
  formatChange,
  formatInterval,
  formatPValue,
  formatValue,
  readEffect,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { Fragment } from 'react';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import styles from './comparison-view.module.css';

const NUMBERS = ['Control', 'Candidate', 'Change', '95 % interval', 'p', 'Adjusted p', 'Won / tied / lost'];

/** Every indicator of one candidate: both means, also with a value for failed runs, the change, the p-values and the verdict. */
export function ComparisonTable({ comparisons }: { comparisons: readonly Comparison[] }) {
  const hasFailureValue = comparisons.some(({ with_failures }) => with_failures);
  return (
    <section aria-label="All indicators" className={styles.section}>
      <h3>All indicators</h3>
      <TableRegion label="Comparison of each indicator">
        <table className={table.table}>
          <TableHead texts={['Indicator', 'Verdict']} numbers={NUMBERS} />
          <tbody>
            {comparisons.map((comparison) => (
              <Fragment key={comparison.indicator}>
                <Row comparison={comparison} />
                {comparison.with_failures && (
                  <FailuresRow indicator={comparison.indicator} means={comparison.with_failures} />
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </TableRegion>
      <p className={styles.hint}>
        p is Wilcoxon's signed-rank test. Adjusted p is corrected by Holm's weighted method for every
        indicator of every candidate; the verdict uses it.
        {hasFailureValue &&
          ' A row with failed runs has the means over every input, with the failure value of the indicator for each failed run. For a time and ten times its limit, that is PAR10. It changes no verdict.'}
      </p>
    </section>
  );
}

interface FailuresRowProps {
  indicator: string;
  means: NonNullable<Comparison['with_failures']>;
}

/** The means with the failure value for every failed run. Their change is a difference, also where the verdict uses a ratio. */
function FailuresRow({ indicator, means }: FailuresRowProps) {
  const { failure_value, control_mean, candidate_mean, mean_difference: difference } = means;
  const effect: Effect = {
    measure: 'absolute',
    value: difference?.value ?? null,
    low: difference?.interval?.low ?? null,
    high: difference?.interval?.high ?? null,
    margin: null,
  };
  return (
    <tr>
      <th scope="row" className={styles.indicator}>
        <bdi>{indicator}</bdi>
        <span className={styles.role}> with failed runs as {formatNumber(failure_value)}</span>
      </th>
      <td />
      <td className={table.number}>{formatValue(control_mean)}</td>
      <td className={table.number}>{formatValue(candidate_mean)}</td>
      <td className={table.number}>
        {effect.value === null ? '–' : formatChange(effect.measure, effect.value)}
      </td>
      <td className={table.number}>{formatInterval(effect) ?? '–'}</td>
      <td />
      <td />
      <td />
    </tr>
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
