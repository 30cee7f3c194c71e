import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { operationQuery } from '../../client/queries.ts';
import { computeRefetchMs } from '../../client/run-refetch.ts';

/** Runs that the row of an application sums up. */
const RECENT_RUNS = 30;

/** The latest production runs of an application, newest first: a test of a bad version says nothing about the application. */
export const recentRunsQuery = (application: string) =>
  queryOptions({
    ...operationQuery('listRuns', {
      params: { application_id: application },
      query: { limit: RECENT_RUNS, production: true },
    }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data?.runs ?? [])),
    meta: { topics: [{ events: 'runs', application }] },
  });
