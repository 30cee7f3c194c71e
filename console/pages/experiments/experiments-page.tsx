import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useId } from 'react';
import { describeError } from '../../client/client.ts';
import button from '../../ui/button.module.css';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import {
  EXPERIMENT_TYPES,
  type ExperimentType,
  parseExperimentType,
  TYPE_TEXTS,
} from '../../ui/experiments/experiment-types.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import styles from './experiments-page.module.css';
import { ExperimentsTable } from './experiments-table.tsx';
import { mergeExperiments } from './list-experiments.ts';
import { experimentsQuery } from './queries.ts';

/** The experiments of an application in one list, newest first. The type is in the address. */
export function ExperimentsPage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/experiments' });
  const { type } = useSearch({ from: '/signed-in/apps/$application/experiments' });
  usePageTitle('Experiments', application);
  const mayCreate = useRight('experiment');
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    experimentsQuery(application, type),
  );
  const experiments = data ? mergeExperiments(data.pages, type) : [];
  return (
    <>
      <PageHeader
        title="Experiments"
        actions={mayCreate && <NewExperiment application={application} type={type} />}
      />
      <TypeFilter type={type} />
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      {data && experiments.length === 0 && <NoExperiment application={application} type={type} />}
      {experiments.length > 0 && <ExperimentsTable application={application} experiments={experiments} />}
      <p className={styles.more}>
        {hasNextPage ? (
          <Button onPress={() => fetchNextPage()} isDisabled={isFetchingNextPage}>
            {isFetchingNextPage ? 'Loading …' : 'Load more'}
          </Button>
        ) : (
          experiments.length > 0 &&
          `${experiments.length} ${experiments.length === 1 ? 'experiment' : 'experiments'}`
        )}
      </p>
    </>
  );
}

interface TypedListProps {
  application: string;
  type: ExperimentType | undefined;
}

function NewExperiment({ application, type }: TypedListProps) {
  return (
    <Link
      to="/apps/$application/new-experiment"
      params={{ application }}
      search={type === undefined ? {} : { type }}
      className={`${button.button} ${button.primary}`}
    >
      New experiment
    </Link>
  );
}

function TypeFilter({ type }: { type: ExperimentType | undefined }) {
  const navigate = useNavigate({ from: '/apps/$application/experiments' });
  const id = useId();
  return (
    <search className={styles.tools} aria-label="Filters">
      <label htmlFor={id}>Type</label>
      <select
        id={id}
        value={type ?? ''}
        onChange={(event) => {
          const chosen = parseExperimentType(event.target.value);
          void navigate({ search: chosen ? { type: chosen } : {}, replace: true });
        }}
      >
        <option value="">All types</option>
        {EXPERIMENT_TYPES.map((one) => (
          <option key={one} value={one}>
            {TYPE_TEXTS[one].label}
          </option>
        ))}
      </select>
    </search>
  );
}

function NoExperiment({ application, type }: TypedListProps) {
  if (type !== undefined)
    return (
      <EmptyState title={`No ${type} experiment yet`}>
        <p>{TYPE_TEXTS[type].purpose}</p>
        <p>
          <Link to="/apps/$application/experiments" params={{ application }}>
            Show all experiments
          </Link>
        </p>
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
