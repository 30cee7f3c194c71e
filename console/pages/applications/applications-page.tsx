import type { Application } from '@switchyard/contract/applications/applications.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ApplicationSummary } from '@switchyard/contract/runs/run-counts.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { keepPreviousData, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { useLoaderData, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { TRACK_RUNS } from '../../client/recent-runs.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { buildApplicationColumns } from './application-columns.tsx';
import styles from './applications-page.module.css';
import { FailingApplication } from './failing-application.tsx';
import { applicationPagesQuery, latestUsageQuery, listSummaryQueries } from './queries.ts';

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
  const { failing } = useLoaderData({ from: '/signed-in/' });
  const { find = '' } = useSearch({ from: '/signed-in/' });
  const navigate = useNavigate({ from: '/' });
  const list = useInfiniteQuery({ ...applicationPagesQuery(find), placeholderData: keepPreviousData });
  const applications = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const summaries = useSummaries(list.data?.pages ?? [], failing);
  const [isCreating, setCreating] = useState(false);
  const canWrite = useRight('write');
  const isEmpty = find === '' && list.data !== undefined && applications.length === 0;
  return (
    <>
      <PageHeader
        title="Applications"
        description={
          find === '' && !isEmpty && <Counts count={applications.length} hasMore={list.hasNextPage} />
        }
        actions={
          <>
            {(applications.length >= SEARCH_MIN || find !== '') && (
              <SearchField
                label="Find by name"
                example="Find by name"
                value={find}
                onChange={(text) => void navigate({ search: text ? { find: text } : {}, replace: true })}
                isLive
              />
            )}
            {canWrite && (
              <Button kind={isEmpty ? 'plain' : 'primary'} onPress={() => setCreating(true)}>
                <Icon name="add" />
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
      {list.error && <Notice kind="error">{describeError(list.error)}</Notice>}
      {find === '' && failing.length > 0 && (
        <section className={styles.needs} aria-label="What needs you">
          {failing
            .flatMap((id) => summaries.get(id) ?? [])
            .map((summary) => (
              <FailingApplication key={summary.application_id} {...summary} />
            ))}
        </section>
      )}
      {applications.length > 0 && (
        <DataTable
          label="List of applications"
          rows={applications}
          columns={buildApplicationColumns(summaries)}
        />
      )}
      {find !== '' && applications.length === 0 && !list.isFetching && (
        <EmptyState title="No application has this name">
          <p>Search for a shorter part of its name or id.</p>
        </EmptyState>
      )}
      <MoreRows list={list} count={applications.length} noun="application">
        Failed and trend count these {TRACK_RUNS} production runs; runs of experiments stand apart.
      </MoreRows>
    </>
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

/** Returns the summaries of the applications by id. Each page of the list is one request, and the first has the failing ones. */
function useSummaries(
  pages: readonly { items: readonly Application[] }[],
  failing: readonly string[],
): Map<string, ApplicationSummary> {
  return useQueries({
    queries: pages.flatMap(({ items }, page) => listSummaryQueries(items, page === 0 ? failing : [])),
    combine: (results) =>
      new Map(
        results.flatMap(({ data }) =>
          (data?.items ?? []).map((summary) => [summary.application_id, summary] as const),
        ),
      ),
  });
}
