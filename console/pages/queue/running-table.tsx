import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { useId } from 'react';
import { Button } from '../../ui/button.tsx';
import { formatDuration } from '../../ui/format-quantity.ts';
import { useNow } from '../../ui/relative-time.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import styles from './queue-page.module.css';
import { RunCell } from './run-cell.tsx';

const TICK_MS = 1_000;
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export interface QueueTableProps {
  runs: readonly ActiveRun[];
  /** Absent when the role of the person may not cancel. */
  onCancel: ((run: ActiveRun) => void) | undefined;
}

/** The runs that run now, with their duration so far. */
export function RunningTable({ runs, onCancel }: QueueTableProps) {
  const heading = useId();
  const now = useNow(TICK_MS);
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>Running</h2>
      {runs.length === 0 ? (
        <p>No run is running.</p>
      ) : (
        <TableRegion label="List of running runs">
          <table className={table.table} aria-labelledby={heading}>
            <thead>
              <tr>
                <th>Run</th>
                <th>Execution class</th>
                <th>User</th>
                <th className={table.number}>Running for</th>
                <th className={table.number}>Attempt</th>
                {onCancel && <td />}
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.id}>
                  <RunCell run={run} />
                  <td>{run.execution_class}</td>
                  <td>{run.user_email}</td>
                  <td className={table.number}>
                    <Elapsed since={run.initiated_at ?? run.created_at} now={now} />
                  </td>
                  <td className={table.number}>{run.attempt}</td>
                  {onCancel && (
                    <td className={styles.action}>
                      <Button onPress={() => onCancel(run)} aria-label={`Cancel ${run.name || run.id}`}>
                        Cancel
                      </Button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
    </section>
  );
}

function Elapsed({ since, now }: { since: string; now: number }) {
  const start = Date.parse(since);
  return (
    <time dateTime={since} title={exact.format(start)}>
      {formatDuration(Math.max(0, now - start))}
    </time>
  );
}
