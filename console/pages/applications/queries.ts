import type { Application } from '@switchyard/contract/applications/applications.ts';
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';
import { pagedQuery } from '../../client/paged-query.ts';
import { operationQuery } from '../../client/queries.ts';
import { computeRefetchMs } from '../../client/run-refetch.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The applications by pages, newest first: those whose id or name contains the text; all without one. */
export const applicationPagesQuery = (text: string) =>
  pagedQuery<Application>(
    ['listApplications', 'pages', text],
    async (page, signal) =>
      (await client.call('listApplications', { query: { ...page, ...(text && { text }) }, signal })).body,
  );

/** The latest production runs of the applications: a test of a bad version says nothing about an application. */
const summariesQuery = (applications: readonly string[]) =>
  queryOptions({
    ...operationQuery('listApplicationSummaries', { query: { application_id: applications.join(',') } }),
    refetchInterval: ({ state }) =>
      unlessLive(computeRefetchMs(state.data?.items.flatMap(({ runs }) => runs) ?? [])),
    meta: { topics: applications.map((application) => ({ events: 'runs', application })) },
  });

/** The summaries of a page of applications and of the failing ones; more than one request can have are split. */
export function listSummaryQueries(page: readonly { id: string }[], failing: readonly string[]) {
  const ids = [...new Set([...page.map(({ id }) => id), ...failing])];
  const parts = [ids.slice(0, PAGE_ITEMS_MAX), ids.slice(PAGE_ITEMS_MAX)];
  return parts.filter((part) => part.length > 0).map(summariesQuery);
}

/** The runs that ended yesterday and today, by application. Days are in UTC. */
export function latestUsageQuery() {
  const from = new Date(Date.now() - DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
  return operationQuery('getUsage', { query: { from, group_by: 'day,application' } });
}
