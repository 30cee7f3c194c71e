import type { Application } from '@switchyard/contract/applications/applications.ts';
import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';
import { pagedQuery } from '../../client/paged-query.ts';
import { operationQuery } from '../../client/queries.ts';
import { TRACK_RUNS } from '../../client/recent-runs.ts';
import { computeRefetchMs } from '../../client/run-refetch.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A page of 10,000 applications has 200 requests: a visit that returns soon does not repeat them. */
const STALE_MS = 30_000;

/** The applications by pages, newest first. */
export const applicationPagesQuery = {
  ...pagedQuery<Application>(
    ['listApplications', 'pages'],
    async (query, signal) => (await client.call('listApplications', { query, signal })).body,
  ),
  staleTime: STALE_MS,
};

/** The latest production runs of an application, newest first: a test of a bad version says nothing about the application. */
export const recentRunsQuery = (application: string) =>
  queryOptions({
    ...operationQuery('listRuns', {
      params: { application_id: application },
      query: { limit: TRACK_RUNS, production: true },
    }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data?.runs ?? [])),
    meta: { topics: [{ events: 'runs', application }] },
  });

/** The runs that ended yesterday and today, by application. Days are in UTC. */
export function latestUsageQuery() {
  const from = new Date(Date.now() - DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
  return operationQuery('getUsage', { query: { from, group_by: 'day,application' } });
}
