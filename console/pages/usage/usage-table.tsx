import type { CostRate, Usage, UsageRow } from '@switchyard/contract/account/usage.ts';
import {
  formatBytes,
  formatDuration,
  formatNumber,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { Link } from '@tanstack/react-router';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { formatCoreTime, formatCost } from './format-measures.ts';
import styles from './usage-page.module.css';

/** The usage of each group, largest first, and of all of them. */
export function UsageTable({ usage }: { usage: Usage }) {
  const [first] = usage.items;
  const rows = usage.items.toSorted((a, b) => b.core_seconds - a.core_seconds || b.runs - a.runs);
  const hasApplication = first?.application_id !== undefined;
  const hasUser = first?.user_email !== undefined;
  return (
    <TableRegion label="Table of usage">
      <table className={table.table} aria-label="Usage">
        <thead>
          <tr>
            {hasApplication && <th>Application</th>}
            {hasUser && <th>User</th>}
            <th className={table.number}>Runs</th>
            <th className={table.number}>Failed</th>
            <th className={table.number}>Run time</th>
            <th className={table.number}>Core hours</th>
            <th className={table.number}>Stored</th>
            <th className={table.number}>Cost</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.application_id} ${row.user_email}`}>
              {row.application_id !== undefined && (
                <td>
                  <Link to="/apps/$application" params={{ application: row.application_id }}>
                    {row.application_id}
                  </Link>
                </td>
              )}
              {hasUser && <td>{row.user_email}</td>}
              <MeasureCells row={row} rate={usage.cost_rate} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" className={styles.total} colSpan={hasApplication && hasUser ? 2 : 1}>
              Total
            </th>
            <MeasureCells row={usage.total} rate={usage.cost_rate} />
          </tr>
        </tfoot>
      </table>
    </TableRegion>
  );
}

type Measures = Omit<UsageRow, 'day' | 'application_id' | 'user_email'>;

function MeasureCells({ row, rate }: { row: Measures; rate: CostRate | null }) {
  return (
    <>
      <td className={table.number}>{formatNumber(row.runs)}</td>
      <td className={table.number}>{formatNumber(row.failed_runs)}</td>
      <td className={table.number}>{formatDuration(row.run_seconds * 1000)}</td>
      <td className={table.number}>{formatCoreTime(row.core_seconds)}</td>
      <td className={table.number}>{formatBytes(row.stored_bytes)}</td>
      <td className={table.number}>{formatCost(row.cost, rate)}</td>
    </>
  );
}
