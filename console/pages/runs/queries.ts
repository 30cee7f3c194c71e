import { computeRunWindow } from '@switchyard/contract/runs/views/run-windows.ts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';
import { chooseRefetchMs, computeRefetchMs } from '../../client/run-refetch.ts';
import { formatQuery, type RunFilters } from './filters/runs-search.ts';

/** The next page is valid only with the window of the first. */
interface PageParam {
  window?: ReturnType<typeof computeRunWindow> | undefined;
  pagetoken?: string;
}

const FIRST_PAGE: PageParam = {};

/** The number of runs that match the filters, by status. */
export const runCountsQuery = (application: string, filters: RunFilters) =>
  queryOptions({
    queryKey: ['countRuns', application, filters],
    queryFn: async ({ signal }) => {
      const { sort: _, ...query } = formatQuery(filters);
      const { body } = await client.call('countRuns', {
        params: { application_id: application },
        query: { ...query, ...(filters.within && computeRunWindow(filters.within, Date.now())) },
        signal,
      });
      return body;
    },
    refetchInterval: () => unlessLive(chooseRefetchMs(false)),
    meta: { topics: [{ events: 'runs', application }] },
  });

/** The runs of an application that match the filters, in their order, by pages. It refetches while a listed run is active. */
export const runsQuery = (application: string, filters: RunFilters) =>
  infiniteQueryOptions({
    queryKey: ['listRuns', application, filters],
    initialPageParam: FIRST_PAGE,
    queryFn: async ({ pageParam, signal }) => {
      const window = pageParam.window ?? (filters.within && computeRunWindow(filters.within, Date.now()));
      const { body } = await client.call('listRuns', {
        params: { application_id: application },
        query: {
          ...formatQuery(filters),
          ...window,
          ...(pageParam.pagetoken !== undefined && { pagetoken: pageParam.pagetoken }),
        },
        signal,
      });
      return { runs: body.runs, window, next: body.next_page_token };
    },
    getNextPageParam: ({ window, next }): PageParam | undefined =>
      next === undefined ? undefined : { pagetoken: next, window },
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      // Each page is one request.
      return unlessLive(computeRefetchMs(pages.flatMap(({ runs }) => runs)) * Math.max(pages.length, 1));
    },
    meta: { topics: [{ events: 'runs', application }] },
  });
