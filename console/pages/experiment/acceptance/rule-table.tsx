import type { AcceptanceMetric, MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import { formatRule } from '@switchyard/contract/experiments/presentation/format-rule.ts';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import { SideCells } from '../../../ui/resources/side-cells.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import styles from '../experiment-page.module.css';

interface RuleTableProps {
  metrics: readonly AcceptanceMetric[];
  /** Results in the order of the rules; empty before the decision. */
  results: readonly MetricResult[];
}

/** The rules of the test, with the compared values and the reason of each result. */
export function RuleTable({ metrics, results }: RuleTableProps) {
  return (
    <section aria-label="Rules" className={styles.section}>
      <h3>Rules</h3>
      <TableRegion label="Rules with their results">
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">Rule</th>
              <th scope="col">Result</th>
              <th scope="col" className={table.number}>
                Control
              </th>
              <th scope="col" className={table.number}>
                Candidate
              </th>
              <th scope="col" className={table.number}>
                Threshold
              </th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          <tbody>
            {metrics.map((metric, index) => (
              <Row key={index} metric={metric} result={results[index]} />
            ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}

function Row({ metric, result }: { metric: AcceptanceMetric; result: MetricResult | undefined }) {
  return (
    <tr>
      <td className={styles.rule}>
        <bdi>{formatRule(metric)}</bdi>
      </td>
      <td>{result ? <VerdictBadge verdict={result.passed ? 'passed' : 'not passed'} /> : '–'}</td>
      <SideCells values={[result?.control_value, result?.candidate_value, result?.threshold]} />
      <td className={styles.error}>{[result?.reason, ...(result?.warnings ?? [])].join(' ')}</td>
    </tr>
  );
}
