/** Lists of the API that come in pages, as one query that grows by a page at a time. */
import { infiniteQueryOptions } from '@tanstack/react-query';

/** A page of a list; the next one has the token. */
interface Page<Item> {
  items: Item[];
  next_page_token?: string | undefined;
}

type PageToken = string | undefined;
const FIRST_PAGE: PageToken = undefined;

/** Returns the query of a list. `loadPage` sends the request of one page; the server pages a list with `pagereturn`. */
export function pagedQuery<Item>(
  key: readonly unknown[],
  loadPage: (
    query: { pagereturn: true; pagetoken?: string },
    signal: AbortSignal,
  ) => Promise<Item[] | Page<Item>>,
) {
  return infiniteQueryOptions({
    queryKey: key,
    initialPageParam: FIRST_PAGE,
    queryFn: async ({ pageParam, signal }): Promise<Page<Item>> => {
      const token = pageParam === undefined ? {} : { pagetoken: pageParam };
      const body = await loadPage({ pagereturn: true, ...token }, signal);
      return Array.isArray(body) ? { items: body } : body;
    },
    getNextPageParam: (page): PageToken => page.next_page_token,
  });
}
