import type { Ensemble } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { type Topic, unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';
import { pagedQuery } from '../../client/paged-query.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';
import { computeRefetchMs } from '../../client/run-refetch.ts';

/** The ensembles of the application, newest first, by pages. */
export const ensemblesQuery = (application: string) =>
  pagedQuery<Ensemble>(['listEnsembles', application], async (query, signal) => {
    const params = { application_id: application };
    return (await client.call('listEnsembles', { params, query, signal })).body;
  });

/** The definition of one ensemble. */
export const ensembleQuery = (application: string, ensemble: string) =>
  operationQuery('getEnsemble', { params: { application_id: application, ensemble_id: ensemble } });

/** The runs of one ensemble, newest first. It refetches while one is active. */
export const ensembleRunsQuery = (application: string, { id, created_at }: Ensemble) => ({
  ...pagedQuery<Run>(['listRuns', application, 'ensemble', id, created_at], async (query, signal) => {
    const { body } = await client.call('listRuns', {
      params: { application_id: application },
      // An earlier ensemble may have had the same id.
      query: {
        ensemble_id: id,
        start: created_at,
        ...(query.pagetoken !== undefined && { pagetoken: query.pagetoken }),
      },
      signal,
    });
    return { items: body.runs, next_page_token: body.next_page_token };
  }),
  refetchInterval: ({ state }: { state: { data: { pages: { items: Run[] }[] } | undefined } }) => {
    const pages = state.data?.pages ?? [];
    return unlessLive(computeRefetchMs(pages.flatMap(({ items }) => items)) * Math.max(pages.length, 1));
  },
  meta: { topics: [{ events: 'runs', application }] satisfies Topic[] },
});

/** Reads the ensembles again after a change. */
export async function refreshEnsembles(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['listEnsembles'] }),
    queryClient.invalidateQueries({ queryKey: ['getEnsemble'] }),
  ]);
}
