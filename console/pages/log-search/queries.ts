import { infiniteQueryOptions } from '@tanstack/react-query';
import { client } from '../../client/client.ts';
import type { LogSearch } from './search.ts';

type PageToken = string | undefined;
const FIRST_PAGE: PageToken = undefined;

/** The runs whose logs match, newest first. A page ends after some megabytes of logs, also without a run. */
export function logSearchQuery(application: string, search: LogSearch) {
  return infiniteQueryOptions({
    queryKey: ['searchLogs', application, search],
    initialPageParam: FIRST_PAGE,
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...search, ...(pageParam === undefined ? {} : { pagetoken: pageParam }) };
      const params = { application_id: application };
      return (await client.call('searchLogs', { params, query, signal })).body;
    },
    getNextPageParam: (page): PageToken => page.next_page_token,
    enabled: search.text !== undefined || search.level !== undefined,
  });
}
