import type { Application } from '@switchyard/contract/applications/applications.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery, useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { useLoaderData, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useDeferredValue, useEffect, useState } from 'react';
import { TRACK_RUNS } from '../../client/recent-runs.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { buildApplicationColumns } from './application-columns.tsx';
import styles from './applications-page.module.css';
import { FailingApplication } from './failing-application.tsx';
import { applicationPagesQuery, latestUsageQuery } from './queries.ts';

const CreateApplication = lazy(async () => ({
  default: (await import('./create-application.tsx')).CreateApplication,
}));

/** It packs and pushes apps, which no account with an application needs on its first page. */
const SampleGallery = lazy(async () => ({
  default: (await import('./sample-gallery.tsx')).SampleGallery,
}));

/** A shorter list needs no search. */
const SEARCH_MIN = 8;

/** The applications of the account: those that need someone, then all of them, newest first. */
export function ApplicationsPage() {
  usePageTitle('Applications');
  const list = useSuspenseInfiniteQuery(applicationPagesQuery);
  const applications = list.data.pages.flatMap(({ items }) => items);
  const { failing } = useLoaderData({ from: '/signed-in/' });
  const { find = '' } = useSearch({ from: '/signed-in/' });
  const matches = useMatches(applications, find);
  const [isCreating, setCreating] = useState(false);
  const canWrite = useRight('write');
  const isEmpty = applications.length === 0;
  useLoadAll(list, find !== '');
  return (
    <>
      <PageHeader
        title="Applications"
        description={!isEmpty && <Counts count={applications.length} hasMore={list.hasNextPage} />}
        actions={
          <>
            {(applications.length >= SEARCH_MIN || find !== '') && <Search find={find} />}
            {canWrite && (
              <Button kind={isEmpty ? 'plain' : 'primary'} onPress={() => setCreating(true)}>
                New application
              </Button>
            )}
          </>
        }
      />
      <Suspense fallback={null}>
        {isCreating && <CreateApplication onClose={() => setCreating(false)} />}
        {isEmpty && <SampleGallery />}
      </Suspense>
      {find === '' && failing.length > 0 && (
        <section className={styles.needs} aria-label="What needs you">
          {failing.map((id) => (
            <FailingApplication key={id} id={id} name={applications.find((one) => one.id === id)?.name} />
          ))}
        </section>
      )}
      {!isEmpty && <ApplicationTable applications={matches} />}
      {find === '' ? (
        <MoreRows list={list} count={applications.length} noun="application">
          Failed and trend count these {TRACK_RUNS} production runs; runs of experiments stand apart.
        </MoreRows>
      ) : (
        <p className="meta" role="status">
          {describeMatches(matches.length, applications.length, list.hasNextPage)}
        </p>
      )}
    </>
  );
}

/** Returns the applications whose name or id contains each word of the text. */
function useMatches(applications: readonly Application[], find: string): readonly Application[] {
  const words = useDeferredValue(find).toLowerCase().split(/\s+/);
  if (words.every((word) => word === '')) return applications;
  return applications.filter(({ name, id }) => {
    const text = `${name} ${id}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Loads one page after another: the API cannot search. */
function useLoadAll(
  list: { hasNextPage: boolean; isFetching: boolean; isError: boolean; fetchNextPage: () => unknown },
  isWanted: boolean,
): void {
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  useEffect(() => {
    if (isWanted && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isWanted, hasNextPage, isFetching, isError, fetchNextPage]);
}

function describeMatches(matches: number, searched: number, hasMore: boolean): string {
  const found = `${formatNumber(matches)} of ${formatCount(searched, 'application')}`;
  return hasMore ? `${found}, still searching` : found;
}

function Search({ find }: { find: string }) {
  const navigate = useNavigate({ from: '/' });
  return (
    <search className={styles.search}>
      <input
        type="search"
        aria-label="Find by name"
        placeholder="Find by name"
        value={find}
        onChange={(event) => void navigate({ search: { find: event.target.value }, replace: true })}
      />
    </search>
  );
}

/** How many applications there are, and for an administrator how many runs ended today. */
function Counts({ count, hasMore }: { count: number; hasMore: boolean }) {
  const { data } = useQuery({ ...latestUsageQuery(), enabled: useRight('account') });
  const today = data?.items.filter(({ day }) => day === data.to) ?? [];
  const sum = (measure: 'runs' | 'failed_runs') =>
    formatNumber(today.reduce((total, row) => total + row[measure], 0));
  return (
    <span className={styles.counts}>
      <span>
        <b>
          {formatNumber(count)}
          {hasMore && '+'}
        </b>{' '}
        {count === 1 ? 'application' : 'applications'}
      </span>
      {data && (
        <>
          <span title="Runs that ended today, by days in UTC">
            <b>{sum('runs')}</b> runs today
          </span>
          <span>
            <b>{sum('failed_runs')}</b> failed
          </span>
        </>
      )}
    </span>
  );
}

function ApplicationTable({ applications }: { applications: readonly Application[] }) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [add] = useState(() => (id: string) => setIds((known) => new Set([...known, id])));
  return (
    <DataTable
      label="List of applications"
      rows={applications}
      columns={buildApplicationColumns({ ids, add })}
    />
  );
}
