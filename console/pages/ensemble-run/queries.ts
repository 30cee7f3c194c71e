import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { operationQuery } from '../../client/queries.ts';
import { computeRefetchMs } from '../../client/run-refetch.ts';

/** The child runs and decisions of an ensemble run. It refetches until the run has ended. */
export const ensembleRunQuery = (application: string, run: string) =>
  queryOptions({
    ...operationQuery('getRunEnsemble', { params: { application_id: application, run_id: run } }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data ? [state.data] : [])),
    meta: { topics: [{ events: 'runs', application }] },
  });
