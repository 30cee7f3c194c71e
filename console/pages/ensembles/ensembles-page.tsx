import type { Ensemble } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadMore } from '../../ui/resources/load-more.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import { ensemblesQuery } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/ensembles');

/** The ensembles of an application. */
export function EnsemblesPage() {
  const { application } = route.useParams();
  const list = useSuspenseInfiniteQuery(ensemblesQuery(application));
  const ensembles = list.data.pages.flatMap(({ items }) => items);
  const canCreate = useRight('experiment');
  const navigate = useNavigate();
  usePageTitle('Ensembles', application);
  return (
    <>
      <PageHeader
        title="Ensembles"
        description="Several runs on one input, of which rules select the best."
        actions={
          canCreate && (
            <Button
              kind="primary"
              onPress={() =>
                void navigate({ to: '/apps/$application/new-ensemble', params: { application } })
              }
            >
              New ensemble
            </Button>
          )
        }
      />
      {ensembles.length === 0 ? (
        <EmptyState title="No ensemble yet" command={formatCreateCommand(application)}>
          <p>An ensemble lists instances and options to run, and the rules that select the best run.</p>
        </EmptyState>
      ) : (
        <EnsemblesTable application={application} ensembles={ensembles} />
      )}
      <LoadMore list={list} />
    </>
  );
}

function formatCreateCommand(application: string): string {
  return formatCurl('createEnsemble', {
    params: { application_id: application },
    body: {
      id: 'best-of-three',
      name: 'Best of three',
      run_groups: [{ id: 'all', instance_id: 'latest', repetitions: 3 }],
      rules: [{ id: 'cost', statistics_path: 'result.value', objective: 'minimize', index: 0 }],
    },
  });
}

function EnsemblesTable({ application, ensembles }: { application: string; ensembles: readonly Ensemble[] }) {
  return (
    <TableRegion label="Table of ensembles">
      <table className={table.table} aria-label="Ensembles">
        <thead>
          <tr>
            <th>Ensemble</th>
            <th className={table.number}>Runs</th>
            <th>Rules</th>
            <th>Created</th>
          </tr>
        </thead>
        <tbody>
          {ensembles.map(({ id, name, run_groups, rules, created_at }) => (
            <tr key={id}>
              <td>
                <Link
                  to="/apps/$application/ensembles/$ensemble"
                  params={{ application, ensemble: id }}
                  className="row-name"
                >
                  {name}
                </Link>
                {name !== id && <code className="soft">{id}</code>}
              </td>
              <td className={table.number}>
                {run_groups.reduce((sum, { repetitions }) => sum + repetitions, 0)}
              </td>
              <td className="anywhere">
                {rules.map(({ objective, statistics_path }) => `${objective} ${statistics_path}`).join(', ')}
              </td>
              <td>
                <RelativeTime at={created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
