import type { Ensemble } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { describeError } from '../../client/client.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadMore } from '../../ui/resources/load-more.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import table from '../../ui/table.module.css';
import { ensembleRunsQuery } from './queries.ts';

/** The runs of an ensemble, newest first. */
export function EnsembleRuns({ application, ensemble }: { application: string; ensemble: Ensemble }) {
  const list = useInfiniteQuery(ensembleRunsQuery(application, ensemble));
  const runs = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const command = formatCurl('createRun', {
    params: { application_id: application },
    body: { input: {}, configuration: { run_type: { type: 'ensemble', definition_id: ensemble.id } } },
  });
  return (
    <section aria-labelledby="ensemble-runs">
      <h2 id="ensemble-runs">Runs</h2>
      {list.isError && <Notice kind="error">{describeError(list.error)}</Notice>}
      {runs.length === 0 && list.isSuccess && !list.hasNextPage && (
        <EmptyState title="No run yet" command={command}>
          <p>A run of the ensemble creates one run of each group and repetition on the same input.</p>
        </EmptyState>
      )}
      {runs.length > 0 && (
        <TableRegion label="Table: Runs of the ensemble">
          <table className={table.table} aria-label="Runs of the ensemble">
            <TableHead texts={['Status', 'Run', 'By', 'Created']} />
            <tbody>
              {runs.map(({ id, name, status_v2, user_email, created_at }) => (
                <tr key={id}>
                  <td>
                    <StatusBadge status={status_v2} />
                  </td>
                  <td className="anywhere">
                    <Link
                      to="/apps/$application/ensembles/$ensemble/runs/$run"
                      params={{ application, ensemble: ensemble.id, run: id }}
                    >
                      {name || id}
                    </Link>
                  </td>
                  <td>{user_email}</td>
                  <td>
                    <RelativeTime at={created_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
      <LoadMore list={list} />
    </section>
  );
}
