import type { Ensemble } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { describeError } from '../../client/client.ts';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
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
        <DataTable
          label="Runs of the ensemble"
          rows={runs}
          columns={[
            {
              title: 'Run',
              hover: ({ name, id }) => name || id,
              cell: ({ id, name, status_v2 }) => (
                <>
                  <StatusBadge status={status_v2} isBare />{' '}
                  <Link
                    to="/apps/$application/ensembles/$ensemble/runs/$run"
                    params={{ application, ensemble: ensemble.id, run: id }}
                  >
                    <bdi>{name || id}</bdi>
                  </Link>
                </>
              ),
            },
            { title: 'By', onPhone: 'plain', cell: ({ user_email }) => user_email },
            { title: 'Created', onPhone: 'end', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
          ]}
        />
      )}
      <MoreRows list={list} count={runs.length} noun="run" />
    </section>
  );
}
