import type {
  Comparison,
  SwitchbackComparison,
} from '@switchyard/contract/experiments/experiment-results.ts';
import {
  type Effect,
  formatAdjustment,
  formatChange,
  formatInterval,
  formatPValue,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { viewIndicator } from '@switchyard/contract/views/experiment-view.ts';
import { Fragment, type ReactNode } from 'react';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import { SideCells } from '../../../ui/resources/side-cells.tsx';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import styles from './evidence.module.css';

/** The columns between the verdict and the counts, which depend on the unit of the comparison. */
const NUMBERS = ['Candidate', 'Change', '95 % interval', 'p', 'Adjusted p'];

/** Every indicator of one candidate: both means, also with a value for failed runs, the change, the p-values and the verdict. */
export function ComparisonTable({ comparisons }: { comparisons: readonly Comparison[] }) {
  const hasFailureValue = comparisons.some(({ with_failures }) => with_failures);
  return (
    <IndicatorTable
      numbers={['Control', ...NUMBERS, 'Won / tied / lost', 'Would decide']}
      rows={comparisons.map((comparison) => (
        <Fragment key={comparison.indicator}>
          <Row comparison={comparison} more={comparison.more_inputs}>
            {comparison.inputs.wins} / {comparison.inputs.ties} / {comparison.inputs.losses}
          </Row>
          {comparison.with_failures && (
            <FailuresRow indicator={comparison.indicator} means={comparison.with_failures} />
          )}
        </Fragment>
      ))}
      hint={`p is the test of sign flips. Adjusted p is corrected by Holm's weighted method for every indicator of every candidate; the verdict uses it.${
        hasFailureValue
          ? ' A row with failed runs has the means over every input, with the failure value of the indicator for each failed run. For a time and ten times its limit, that is PAR10. It changes no verdict.'
          : ''
      }`}
    />
  );
}

/** Every indicator of a switchback test, by the randomisation test. */
export function SwitchbackTable({ comparisons }: { comparisons: readonly SwitchbackComparison[] }) {
  return (
    <IndicatorTable
      numbers={['Baseline', ...NUMBERS, 'Units counted', 'Would decide']}
      rows={comparisons.map((comparison) => (
        <Row key={comparison.indicator} comparison={comparison} more={comparison.more_units}>
          {comparison.control.units.counted} + {comparison.candidate.units.counted}
        </Row>
      ))}
      hint={
        "p is the share of random plans with at least this difference. Adjusted p is corrected by Holm's weighted method for every indicator; the verdict uses it."
      }
    />
  );
}

interface IndicatorTableProps {
  numbers: readonly string[];
  rows: ReactNode;
  hint: string;
}

function IndicatorTable({ numbers, rows, hint }: IndicatorTableProps) {
  return (
    <>
      <TableRegion label="Comparison of each indicator">
        <table className={table.table}>
          <TableHead texts={['Indicator', 'Verdict']} numbers={numbers} />
          <tbody>{rows}</tbody>
        </table>
      </TableRegion>
      <p className={styles.hint}>{hint}</p>
    </>
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
        <span className="meta"> with failed runs as {formatNumber(failure_value)}</span>
      </th>
      <td />
      <SideCells values={[control_mean, candidate_mean]} />
      <td className={table.number}>
        {effect.value === null ? '–' : formatChange(effect.measure, effect.value)}
      </td>
      <td className={table.number}>{formatInterval(effect) ?? '–'}</td>
      <td colSpan={4} />
    </tr>
  );
}

interface RowProps {
  comparison: Comparison | SwitchbackComparison;
  /** Estimated further inputs or units for a decision. */
  more: number | null;
  /** The counts. */
  children: ReactNode;
}

function Row({ comparison, more, children }: RowProps) {
  const { indicator, role, verdict, effect, ...view } = viewIndicator(comparison);
  const adjustment = formatAdjustment(effect);
  return (
    <tr>
      <th scope="row" className={styles.indicator}>
        <bdi>{indicator}</bdi>
        {role !== 'other' && <span className="meta"> {role}</span>}
      </th>
      <td>
        <VerdictBadge verdict={verdict} />
      </td>
      <SideCells values={[view.control, view.candidate]} />
      <td className={table.number}>
        {effect.value === null ? '–' : formatChange(effect.measure, effect.value)}
        {effect.value !== null && adjustment !== '' && <span className="meta"> {adjustment}</span>}
      </td>
      <td className={table.number}>{formatInterval(effect) ?? '–'}</td>
      <td className={table.number}>{formatPValue(view.pValue)}</td>
      <td className={table.number}>{formatPValue(view.adjustedPValue)}</td>
      <td className={table.number}>{children}</td>
      <td className={table.number}>{more === null ? '–' : `~${formatNumber(more)} more`}</td>
    </tr>
  );
}
