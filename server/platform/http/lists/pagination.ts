/**
 * Pages of lists, newest first, ties by id. A page token is the position of the last row, encrypted and bound to the list
 * and its filters. Another list's token or an altered one returns 400. A page begins at a position and not at an offset, so
 * that inserts never repeat or skip a row.
 */
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import { DecryptionError, type Encryptor } from '../../database/encryption.ts';
import { badRequest } from '../errors/problem.ts';
import { decodeBase64Url } from '../requests/base64url.ts';

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

const parsePosition = createJsonParser(
  Type.Tuple([Type.Number(), Type.String(), Type.Union([Type.String(), Type.Null()])]),
);

/**
 * Encodes positions as page tokens, and decodes them. A token is encrypted, because the position in a sorted list has a value
 * of a run, and bound to its list, so that it works in no other.
 */
export class PageTokens {
  readonly #encryptor: Encryptor;

  constructor(encryptor: Encryptor) {
    this.#encryptor = encryptor;
  }

  /** Returns the token of the position, valid only for `list`. */
  encode(list: string, position: PagePosition): string {
    const payload = JSON.stringify([position.at, position.id, position.value]);
    return this.#encryptor.encrypt(payload, [list]).toString('base64url');
  }

  /** Returns the position of the token; throws a 400 for a token that `encode` did not create for `list`. */
  decode(list: string, token: string): PagePosition {
    const payload = this.#decrypt(list, token);
    if (payload === null)
      throw badRequest(
        `pagetoken is ${JSON.stringify(token.slice(0, 60))}; it must be the next_page_token of the page before, of the same list with the same filters.`,
      );
    // The encryption proves that `encode` wrote the payload.
    const [at, id, value] = parsePosition(payload, 'pagetoken');
    return value === null ? { at, id } : { at, id, value };
  }

  #decrypt(list: string, token: string): string | null {
    const bytes = decodeBase64Url(token);
    try {
      return bytes && this.#encryptor.decrypt(bytes, [list]);
    } catch (error) {
      if (error instanceof DecryptionError) return null;
      throw error;
    }
  }
}

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
