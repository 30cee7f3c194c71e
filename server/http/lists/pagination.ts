/**
 * Pages of lists, newest first, ties by id. A page token is the position of the last row, signed and bound to the list and
 * its filters. Another list's token or an altered one returns 400. A page begins at a position and not at an offset, so
 * that inserts never repeat or skip a row.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { badRequest } from '../errors/problem.ts';
import { decodeBase64Url } from '../requests/base64url.ts';

declare module '../handlers/context.ts' {
  interface Context {
    pageTokens: PageTokens;
  }
}

/** The position of the last row of a page. */
export interface PagePosition {
  /** When the row was created, in milliseconds since the epoch. */
  at: number;
  id: string;
  /** The value of the row, in a list that is sorted by one. */
  value?: string;
}

/** A page of a list. */
export interface Page<T> {
  items: T[];
  /** The position of its last item; null when no item follows. */
  next: PagePosition | null;
}

/** The page that a caller requests. */
export interface PageRequest {
  /** The page begins after this position; null at the beginning of the list. */
  after: PagePosition | null;
  /** The number of items; null for a caller that does not page and gets all. */
  limit: number | null;
}

/** Encodes positions as page tokens, and decodes them. */
export class PageTokens {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Returns the token of the position, valid only for `list`. */
  encode(list: string, position: PagePosition): string {
    const payload = Buffer.from(JSON.stringify([position.at, position.id, position.value]));
    return Buffer.concat([this.#mac(list, payload), payload]).toString('base64url');
  }

  /** Returns the position of the token; throws a 400 for a token that `encode` did not create for `list`. */
  decode(list: string, token: string): PagePosition {
    const bytes = decodeBase64Url(token);
    const payload = bytes?.subarray(MAC_BYTES) ?? NO_BYTES;
    if (
      bytes === null ||
      bytes.length <= MAC_BYTES ||
      !timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(list, payload))
    ) {
      throw badRequest(
        `pagetoken is ${JSON.stringify(token.slice(0, 60))}; it must be the next_page_token of the page before, of the same list with the same filters.`,
      );
    }
    // The MAC proves that `encode` wrote the payload.
    const [at, id, value]: [number, string, string | null] = JSON.parse(payload.toString());
    return value === null ? { at, id } : { at, id, value };
  }

  #mac(list: string, payload: Buffer): Buffer {
    return createHmac('sha256', this.#key)
      .update(list)
      .update('\0')
      .update(payload)
      .digest()
      .subarray(0, MAC_BYTES);
  }
}

/** The HMAC is truncated to 96 bits, which keeps tokens short. */
const MAC_BYTES = 12;
const NO_BYTES = Buffer.alloc(0);

/** The query parameters of lists. */
export interface PageQueryValues {
  pagereturn?: boolean;
  pagetoken?: string;
  limit?: number;
}

/**
 * Parses the query parameters of a list; any of them makes the caller one that pages. `list` names the list and its filters.
 * Throws a 400 for a token of another list.
 */
export function parsePageRequest(tokens: PageTokens, list: string, query: PageQueryValues): PageRequest {
  const after = query.pagetoken ? tokens.decode(list, query.pagetoken) : null;
  const hasPaging = query.pagereturn === true || query.pagetoken !== undefined || query.limit !== undefined;
  return { after, limit: hasPaging ? (query.limit ?? PAGE_ITEMS_MAX) : null };
}

/** Returns the page of the rows, which must be at most one more than the limit; the additional row shows that more follow. */
export function slicePage<T>(rows: T[], limit: number | null, position: (row: T) => PagePosition): Page<T> {
  if (limit === null || rows.length <= limit) return { items: rows, next: null };
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last === undefined ? null : position(last) };
}

/** Formats a page as an object; it has a token when another page follows. */
export function formatPage<T>(
  tokens: PageTokens,
  list: string,
  page: Page<T>,
): { items: T[]; next_page_token?: string } {
  return { items: page.items, ...(page.next ? { next_page_token: tokens.encode(list, page.next) } : {}) };
}

/** Formats a page as an array, or as an object when the query has `pagereturn`. */
export function formatPageOrArray<T>(
  tokens: PageTokens,
  list: string,
  query: PageQueryValues,
  page: Page<T>,
): T[] | { items: T[]; next_page_token?: string } {
  return query.pagereturn === true ? formatPage(tokens, list, page) : page.items;
}
