import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ChildRun, EnsembleRun } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import table from '../../ui/table.module.css';
import styles from './ensemble-run-page.module.css';

/** The child runs in the order of groups and repetitions, with their ends. */
export function ChildRuns({ application, run }: { application: string; run: EnsembleRun }) {
  const best = run.rules_result?.best_run_id;
  const waiting = run.requested_runs - run.child_runs.length;
  return (
    <section aria-labelledby="child-runs">
      <h2 id="child-runs">Child runs</h2>
      <TableRegion label="Table of child runs">
        <table className={table.table} aria-labelledby="child-runs">
          <thead>
            <tr>
              <th>Status</th>
              <th>Group</th>
              <th className={table.number}>Repetition</th>
              <th>Run</th>
              <th>Instance</th>
              <th>Version</th>
              <th>Result</th>
            </tr>
          </thead>
          <tbody>
            {run.child_runs.map((child) => (
              <tr key={child.id} data-best={child.id === best ? '' : undefined}>
                <td>
                  <StatusBadge status={child.status_v2} />
                </td>
                <td>{child.run_group_id}</td>
                <td className={table.number}>{child.repetition + 1}</td>
                <td>
                  <RunLink application={application} run={child.id}>
                    <code>{child.id}</code>
                  </RunLink>
                </td>
                <td>{child.application_instance_id}</td>
                <td>{child.application_version_id || '–'}</td>
                <td className={styles.result}>
                  {child.id === best ? (
                    <strong className="good">Best run</strong>
                  ) : (
                    child.error || findDropReason(run, child)
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
      {waiting > 0 && run.status_v2 === 'running' && (
        <p className={styles.soft}>{formatNumber(waiting)} more will be created.</p>
      )}
    </section>
  );
}

/** Returns the reason why a rule dropped the run; empty for a run that ties with the best. */
function findDropReason({ rules_result }: EnsembleRun, { id }: ChildRun): string {
  const dropped = rules_result?.decisions.flatMap((decision) => decision.dropped) ?? [];
  return dropped.find(({ run_id }) => run_id === id)?.why ?? '';
}
