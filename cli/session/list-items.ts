/** Items of lists, whose responses have two shapes. */
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';

/** Returns the items of a list that is an array, or an object with its items. */
export function listItems<T>(body: readonly T[] | { items: readonly T[] }): readonly T[] {
  return 'items' in body ? body.items : body;
}

/** A part of a list, and where the next one begins. */
export interface Page<T> {
  items: T[];
  next_page_token?: string;
}

/** The part of a query that selects a page. */
interface PageQuery {
  limit: number;
  pagetoken?: string;
}

/**
 * Reads pages until the list has `limit` items or ends, and returns them in the shape of one page. With a filter, a page can
 * have fewer items than its limit.
 */
export async function readPages<T>(
  limit: number,
  fetchPage: (query: PageQuery) => Promise<Page<T>>,
  pageItemsMax = PAGE_ITEMS_MAX,
): Promise<Page<T>> {
  const items: T[] = [];
  for (let pagetoken: string | undefined; ; ) {
    const count = Math.min(pageItemsMax, limit - items.length);
    const page = await fetchPage({ limit: count, ...(pagetoken === undefined ? {} : { pagetoken }) });
    items.push(...page.items);
    pagetoken = page.next_page_token;
    if (pagetoken === undefined || pagetoken === '') return { items };
    if (items.length >= limit) return { items, next_page_token: pagetoken };
  }
}
