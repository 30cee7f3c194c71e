import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { operationQuery } from '../../../client/queries.ts';
import { computeRefetchMs } from '../../../client/run-refetch.ts';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { RunLink } from '../../../ui/run-link.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import table from '../../../ui/table.module.css';
import { getRunParams, type RunAddress } from '../queries.ts';
import styles from './summary-tab.module.css';

/** The child runs of an ensemble run, with the one whose output it returns. Nothing for other runs. */
export function ChildRunList({ address, run }: { address: RunAddress; run: RunInformation }) {
  const headingId = useId();
  const { data } = useQuery({
    ...operationQuery('getRunEnsemble', { params: getRunParams(address) }),
    enabled: run.run_type.type === 'ensemble',
    refetchInterval: ({ state }) =>
      isTerminal(state.data?.status_v2 ?? 'none') ? false : computeRefetchMs([run]),
  });
  if (!data) return null;
  const best = data.rules_result?.best_run_id;
  return (
    <section className={styles.section} aria-labelledby={headingId}>
      <h2 id={headingId}>Child runs</h2>
      <div className={table.scroll}>
        <table className={table.table}>
          <TableHead texts={['Run', 'Run group', 'Instance', 'Status', 'Outcome']} />
          <tbody>
            {data.child_runs.map((child) => (
              <tr key={child.id}>
                <td className="anywhere">
                  <RunLink application={address.application} run={child.id}>
                    {child.id}
                  </RunLink>
                </td>
                <td className="anywhere">
                  <bdi>{child.run_group_id}</bdi>
                </td>
                <td className="anywhere">
                  <bdi>{child.application_instance_id}</bdi>
                </td>
                <td>
                  <StatusBadge status={child.status_v2} />
                </td>
                <td className="anywhere">
                  {child.id === best ? <span className={styles.mark}>Best run</span> : child.error}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
