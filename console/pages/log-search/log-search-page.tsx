import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { LEAST_LOG_LEVELS } from '@switchyard/contract/runs/logs/log-levels.ts';
import { RUN_STATUSES_V2, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { LEVEL_OPTIONS } from '../../ui/log/level-options.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import styles from './log-search-page.module.css';
import { logSearchQuery } from './queries.ts';
import { RunMatches } from './run-matches.tsx';
import type { LogSearch } from './search.ts';

/** Pages without any run that are followed before the person decides to search on. */
const EMPTY_PAGES_MAX = 20;
const STATUS_LABELS: Record<RunStatusV2, string> = {
  none: 'No result yet',
  queued: 'Queued',
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  canceled: 'Canceled',
};
const route = { from: '/signed-in/apps/$application/logs' } as const;

/** Finds the runs of an application whose logs contain a text. */
export function LogSearchPage() {
  const { application } = useParams(route);
  const search = useSearch(route);
  usePageTitle('Log search', application);
  const isEmpty = search.text === undefined && search.level === undefined;
  return (
    <>
      <PageHeader title="Log search" description="The runs whose logs contain a text, newest first." />
      <SearchForm key={JSON.stringify(search)} search={search} />
      {isEmpty ? (
        <EmptyState
          title="Find the runs that print a text"
          command={`curl "$SWITCHYARD_URL/v1/applications/${application}/logs/search?text=infeasible" \\\n  -H "Authorization: Bearer $SWITCHYARD_TOKEN"`}
        >
          <p>Search for a message of your app or of its solver, such as “infeasible” or “time limit”.</p>
        </EmptyState>
      ) : (
        <Results application={application} search={search} />
      )}
    </>
  );
}

function SearchForm({ search }: { search: LogSearch }) {
  const navigate = useNavigate({ from: '/apps/$application/logs' });
  const [text, setText] = useState(search.text ?? '');
  const change = (changed: { [Name in keyof LogSearch]: LogSearch[Name] | undefined }) => {
    const next = { ...search, text: text === '' ? undefined : text, ...changed };
    void navigate({
      search: {
        ...(next.text !== undefined && { text: next.text }),
        ...(next.level !== undefined && { level: next.level }),
        ...(next.status !== undefined && { status: next.status }),
      },
    });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change({});
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextField label="Text in the log" value={text} onChange={setText} />
      <SelectField
        label="Level"
        value={search.level ?? ''}
        onChange={(value) => change({ level: LEAST_LOG_LEVELS.find((one) => one === value) })}
        options={LEVEL_OPTIONS}
      />
      <SelectField
        label="Status of the run"
        value={search.status ?? ''}
        onChange={(value) => change({ status: RUN_STATUSES_V2.find((one) => one === value) })}
        options={[
          { value: '', label: 'Any' },
          ...RUN_STATUSES_V2.map((value) => ({ value, label: STATUS_LABELS[value] })),
        ]}
      />
      <Button type="submit" kind="primary">
        Search
      </Button>
    </form>
  );
}

function Results({ application, search }: { application: string; search: LogSearch }) {
  const query = useInfiniteQuery(logSearchQuery(application, search));
  const { data, error, hasNextPage, isFetching, fetchNextPage } = query;
  const pages = data?.pages ?? [];
  const runs = pages.flatMap(({ items }) => items);
  const searchesOn = hasNextPage && !isFetching && runs.length === 0 && pages.length < EMPTY_PAGES_MAX;
  useEffect(() => {
    if (searchesOn) void fetchNextPage();
  }, [searchesOn, fetchNextPage]);
  const count = (name: 'examined_runs' | 'unreadable_runs') =>
    pages.reduce((sum, page) => sum + page[name], 0);
  const examined = count('examined_runs');
  return (
    <>
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      {count('unreadable_runs') > 0 && (
        <Notice kind="warning">
          {`The stored logs of ${formatNumber(count('unreadable_runs'))} of these runs are damaged.`}
        </Notice>
      )}
      <p className={styles.status} role="status">
        {isFetching
          ? `Searching … ${formatNumber(examined)} runs examined`
          : `${formatNumber(runs.length)} of ${formatNumber(examined)} examined runs match`}
      </p>
      {data && runs.length === 0 && !hasNextPage && (
        <EmptyState title="No log has such a line">
          <p>Case does not matter. Search for a shorter text, or remove a filter.</p>
        </EmptyState>
      )}
      <ul className={styles.runs} aria-label="Runs with matching lines">
        {runs.map((matches) => (
          <RunMatches
            key={matches.run_id}
            application={application}
            matches={matches}
            text={search.text ?? ''}
          />
        ))}
      </ul>
      {hasNextPage && (
        <Button onPress={() => fetchNextPage()} isDisabled={isFetching}>
          {isFetching ? 'Searching …' : 'Search older runs'}
        </Button>
      )}
    </>
  );
}
