import { EXPERIMENTS, type ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { describeError } from '../../client/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { ExperimentFilters } from './experiment-filters.tsx';
import { ExperimentsTable } from './experiments-table.tsx';
import { experimentsQuery } from './queries.ts';

/** The experiments of an application in one list, newest first. The type is in the address. */
export function ExperimentsPage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/experiments' });
  const search = useSearch({ from: '/signed-in/apps/$application/experiments' });
  const { type } = search;
  usePageTitle('Experiments', application);
  const list = useInfiniteQuery(experimentsQuery(application, search));
  const { data, error } = list;
  const loaded = data ? data.pages.flatMap(({ items }) => items) : [];
  const experiments = loaded.filter(
    ({ verdict }) => search.verdict === undefined || verdict?.word === search.verdict,
  );
  const isFiltered = search.status !== undefined || search.verdict !== undefined;
  return (
    <>
      <PageHeader title="Experiments" actions={<NewExperiment application={application} type={type} />} />
      <ExperimentFilters search={search} />
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      {data && experiments.length === 0 && isFiltered && <NoMatch application={application} />}
      {data && loaded.length === 0 && !isFiltered && <NoExperiment application={application} type={type} />}
      {experiments.length > 0 && <ExperimentsTable application={application} experiments={experiments} />}
      <MoreRows list={list} count={experiments.length} noun="experiment" />
    </>
  );
}

function NoMatch({ application }: { application: string }) {
  return (
    <EmptyState title="No experiment matches">
      <p>
        <Link to="/apps/$application/experiments" params={{ application }}>
          Show all experiments
        </Link>
      </p>
    </EmptyState>
  );
}

interface TypedListProps {
  application: string;
  type: ExperimentType | undefined;
}

function NewExperiment({ application, type }: TypedListProps) {
  if (!useRight('experiment')) return null;
  return (
    <LinkButton
      kind="primary"
      to="/apps/$application/new-experiment"
      params={{ application }}
      search={type === undefined ? {} : { type }}
    >
      New experiment
    </LinkButton>
  );
}

function NoExperiment({ application, type }: TypedListProps) {
  if (type !== undefined)
    return (
      <EmptyState title={`No ${type} experiment yet`}>
        <p>{EXPERIMENTS[type].purpose}</p>
        <NewExperiment application={application} type={type} />
      </EmptyState>
    );
  return (
    <EmptyState
      title="No experiment yet"
      command={`curl -X POST "$SWITCHYARD_URL/v1/applications/${application}/experiments/batch" \\\n  -H "Authorization: Bearer $SWITCHYARD_TOKEN" -H "Content-Type: application/json" \\\n  -d '{"id": "first", "name": "First", "input_set_id": "days",\n       "instance_ids": ["production", "candidate"],\n       "objectives": {"result.value": "minimize"}}'`}
    >
      <p>
        An experiment shows whether a change is better, by how much, and how certain that is. A batch
        experiment compares two instances on the inputs of an input set.
      </p>
    </EmptyState>
  );
}
