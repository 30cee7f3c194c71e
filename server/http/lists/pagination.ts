/**
 * Lists, newest first, ties by id. A page token is where the page ended, signed and bound to the list and its filters; a
 * foreign or altered one is a 400. Pages are cut by position, not by number, so that inserts never repeat or skip a row.
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

/** Where a page ends: the instant and the id of its last row. */
export interface PagePosition {
  at: number;
  id: string;
}

export interface Page<T> {
  items: T[];
  next: PagePosition | null;
}

export interface PageRequest {
  after: PagePosition | null;
  /** null: everything, for callers that do not page. */
  limit: number | null;
}

export class PageTokens {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  encode(list: string, position: PagePosition): string {
    const payload = Buffer.from(JSON.stringify([position.at, position.id]));
    return Buffer.concat([this.#mac(list, payload), payload]).toString('base64url');
  }

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
    const [at, id] = JSON.parse(payload.toString()) as [number, string];
    return { at, id };
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

const MAC_BYTES = 12;
const NO_BYTES = Buffer.alloc(0);

export interface PageQueryValues {
  pagereturn?: boolean;
  pagetoken?: string;
  limit?: number;
}

/** What the query asks of a list; `list` names it with everything that selects its rows. */
export function parsePageRequest(tokens: PageTokens, list: string, query: PageQueryValues): PageRequest {
  const after = query.pagetoken ? tokens.decode(list, query.pagetoken) : null;
  const pages = query.pagereturn === true || query.pagetoken !== undefined || query.limit !== undefined;
  return { after, limit: pages ? (query.limit ?? PAGE_ITEMS_MAX) : null };
}

/** Cuts rows fetched with one more than the limit into a page. */
export function slicePage<T>(rows: T[], limit: number | null, position: (row: T) => PagePosition): Page<T> {
  if (limit === null || rows.length <= limit) return { items: rows, next: null };
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last === undefined ? null : position(last) };
}

/** The object that younger lists answer, paged or not. */
export function formatPage<T>(
  tokens: PageTokens,
  list: string,
  page: Page<T>,
): { items: T[]; next_page_token?: string } {
  return { items: page.items, ...(page.next ? { next_page_token: tokens.encode(list, page.next) } : {}) };
}

/** An array, or the paged object when the query asks for it. */
export function formatPageOrArray<T>(
  tokens: PageTokens,
  list: string,
  query: PageQueryValues,
  page: Page<T>,
): T[] | { items: T[]; next_page_token?: string } {
  return query.pagereturn === true ? formatPage(tokens, list, page) : page.items;
}
