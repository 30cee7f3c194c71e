import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ChildRun, EnsembleRun } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import styles from './ensemble-run-page.module.css';

/** The child runs in the order of groups and repetitions, with their ends. */
export function ChildRuns({ application, run }: { application: string; run: EnsembleRun }) {
  const best = run.rules_result?.best_run_id;
  const waiting = run.requested_runs - run.child_runs.length;
  return (
    <section aria-labelledby="child-runs">
      <h2 id="child-runs">Child runs</h2>
      <DataTable
        label="Child runs"
        rows={run.child_runs}
        isCurrent={({ id }) => id === best}
        columns={[
          {
            title: 'Run',
            cell: ({ id, status_v2 }) => (
              <>
                <StatusBadge status={status_v2} isBare />{' '}
                <RunLink application={application} run={id}>
                  <code>{id}</code>
                </RunLink>
              </>
            ),
          },
          { title: 'Group', cell: ({ run_group_id }) => run_group_id },
          { title: 'Repetition', kind: 'number', cell: ({ repetition }) => repetition + 1 },
          {
            title: 'Instance',
            onPhone: 'plain',
            cell: ({ application_instance_id, application_version_id }) => (
              <>
                {application_instance_id} <span className="soft">{application_version_id}</span>
              </>
            ),
          },
          {
            title: 'Result',
            onPhone: 'plain',
            hover: (child) => child.error || findDropReason(run, child),
            cell: (child) =>
              child.id === best ? (
                <strong className="good">Best run</strong>
              ) : (
                <bdi>{escapeInvisible(child.error || findDropReason(run, child))}</bdi>
              ),
          },
        ]}
      />
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
