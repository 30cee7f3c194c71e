import type { Ensemble } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
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
      <MoreRows list={list} count={ensembles.length} noun="ensemble" />
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
    <DataTable
      label="Ensembles"
      rows={ensembles}
      columns={[
        {
          title: 'Ensemble',
          hover: ({ name }) => name,
          cell: ({ id, name }) => (
            <>
              <Link to="/apps/$application/ensembles/$ensemble" params={{ application, ensemble: id }}>
                <bdi>{name}</bdi>
              </Link>{' '}
              {name !== id && <code className="soft">{id}</code>}
            </>
          ),
        },
        {
          title: 'Runs',
          kind: 'number',
          cell: ({ run_groups }) => run_groups.reduce((sum, { repetitions }) => sum + repetitions, 0),
        },
        {
          title: 'Rules',
          onPhone: 'plain',
          hover: ({ rules }) => formatRules(rules),
          cell: ({ rules }) => <bdi>{formatRules(rules)}</bdi>,
        },
        {
          title: 'Created',
          kind: 'number',
          onPhone: 'plain',
          cell: ({ created_at }) => <RelativeTime at={created_at} />,
        },
      ]}
    />
  );
}

function formatRules(rules: Ensemble['rules']): string {
  return rules.map(({ objective, statistics_path }) => `${objective} ${statistics_path}`).join(', ');
}
