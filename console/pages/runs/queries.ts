import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';
import { computeRefetchMs } from '../../client/run-refetch.ts';
import { formatQuery, type RunFilters, type TimeWindow } from './filters/runs-search.ts';

const HOUR_MS = 3_600_000;
const WINDOW_MS: Record<TimeWindow, number> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

/** The next page is valid only with the start of the first. */
interface PageParam {
  start?: string;
  pagetoken?: string;
}

const FIRST_PAGE: PageParam = {};

/** The runs of an application that match the filters, in their order, by pages. It refetches while a listed run is active. */
export const runsQuery = (application: string, filters: RunFilters) =>
  infiniteQueryOptions({
    queryKey: ['listRuns', application, filters],
    initialPageParam: FIRST_PAGE,
    queryFn: async ({ pageParam, signal }) => {
      const start = pageParam.start ?? computeStart(filters.within);
      const { body } = await client.call('listRuns', {
        params: { application_id: application },
        query: { ...formatQuery(filters), ...pageParam, ...(start !== undefined && { start }) },
        signal,
      });
      return { runs: body.runs, start, next: body.next_page_token };
    },
    getNextPageParam: ({ start, next }): PageParam | undefined =>
      next === undefined ? undefined : { pagetoken: next, ...(start !== undefined && { start }) },
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      // Each page is one request.
      return unlessLive(computeRefetchMs(pages.flatMap(({ runs }) => runs)) * Math.max(pages.length, 1));
    },
    meta: { topics: [{ events: 'runs', application }] },
  });

function computeStart(within: TimeWindow | undefined): string | undefined {
  return within && new Date(Date.now() - WINDOW_MS[within]).toISOString();
}

/** The attempts of a run and their times, which lists do not contain. They are final once the run has ended. */
export const timesQuery = (application: string, run: string, status: RunStatusV2) =>
  queryOptions({
    queryKey: ['getRunMetadata', application, run, 'times', status],
    queryFn: async () => {
      const { body } = await client.call('getRunMetadata', {
        params: { application_id: application, run_id: run },
      });
      return body.metadata;
    },
    staleTime: isTerminal(status) ? Number.POSITIVE_INFINITY : 0,
  });
