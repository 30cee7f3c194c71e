import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { operationQuery } from '../../client/queries.ts';
import { computeRefetchMs, isActiveStatus } from '../../client/run-refetch.ts';

const SUGGESTED_RUNS = 20;

/** The run with its options and indicators, read again until it has ended. */
export function runQuery(application: string, run: string) {
  return queryOptions({
    ...operationQuery('getRunMetadata', { params: { application_id: application, run_id: run } }),
    refetchInterval: ({ state }) =>
      state.data && isActiveStatus(state.data.status_v2) ? unlessLive(computeRefetchMs([state.data])) : false,
    meta: { topics: [{ events: 'runs', application }] },
  });
}

/** The newest runs of the application, as suggestions. */
export function newestRunsQuery(application: string) {
  return operationQuery('listRuns', {
    params: { application_id: application },
    query: { limit: SUGGESTED_RUNS },
  });
}
