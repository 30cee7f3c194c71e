import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';
import { chooseRefetchMs, computeRefetchMs } from '../../client/run-refetch.ts';

/** The latest production runs of the application, as many as one page of the API has. */
export const recentRunsQuery = (application: string) =>
  queryOptions({
    ...operationQuery('listRuns', {
      params: { application_id: application },
      query: { production: true },
    }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data?.runs ?? [])),
    meta: { topics: [{ events: 'runs', application }] },
  });

/** The numbers of queued and running runs of the application, those of experiments included. */
export const activeRunsQuery = (application: string) =>
  queryOptions({
    ...operationQuery('countRuns', {
      params: { application_id: application },
      query: { status: 'queued,running' },
    }),
    refetchInterval: ({ state }) => unlessLive(chooseRefetchMs((state.data?.runs ?? 0) > 0)),
    meta: { topics: [{ events: 'runs', application }] },
  });

/** Reads again everything that shows versions. */
export async function refreshVersions(): Promise<void> {
  await Promise.all(
    ['listVersions', 'listInstances', 'getInstance', 'getApplication'].map((id) =>
      queryClient.invalidateQueries({ queryKey: [id] }),
    ),
  );
}
