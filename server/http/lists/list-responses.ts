/**
 * Answers of lists. A page is one JSON text. A caller that does not page gets the whole, however much that is: read, made
 * and sent part after part, because several hundred versions with a megabyte of requirements each are more than a text, or
 * the memory, can hold.
 */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { RawResponse } from '../handlers/handler.ts';
import {
  formatPage,
  formatPageOrArray,
  type Page,
  type PagePosition,
  type PageQueryValues,
  type PageRequest,
  type PageTokens,
  parsePageRequest,
  slicePage,
} from './pagination.ts';

/** What a list is of. Its rows have the columns `created_at` and `id`, by which it is ordered. */
export interface ListSource<Row extends { created_at: number; id: string }, Body> {
  /** Names it with everything that selects its rows. */
  tokenScope: string;
  query: PageQueryValues;
  /** One row more than the limit says whether more follow. */
  queryRows(page: PageRequest): Promise<Row[]>;
  formatBodies(rows: Row[]): Body[] | Promise<Body[]>;
  /** Rows that are in memory at once for a caller that does not page. */
  batchSize?: number;
}

const ROW_BATCH_SIZE = 100;
/** A part with more than this makes the next one shorter: a caller that does not read keeps a part in memory. */
const BATCH_BYTES = 1024 * 1024;

/** Rows of the next part, by the rows of the part before and the length of their JSON. */
export function nextBatchSize(rows: number, chars: number, atOnce: number): number {
  return Math.max(1, Math.min(atOnce, Math.floor((BATCH_BYTES * rows) / Math.max(1, chars))));
}

/** An array, or the paged object when the query asks for it. */
export async function respondWithList<Row extends { created_at: number; id: string }, Body>(
  tokens: PageTokens,
  listed: ListSource<Row, Body>,
): Promise<{ status: 200; body: Body[] | { items: Body[]; next_page_token?: string } } | RawResponse> {
  const page = await firstPart(tokens, listed);
  if ('pieces' in page) return streamJson('[', page.pieces, ']');
  return { status: 200, body: formatPageOrArray(tokens, listed.tokenScope, listed.query, page) };
}

/** The object that younger lists answer, paged or not. */
export async function respondWithListObject<Row extends { created_at: number; id: string }, Body>(
  tokens: PageTokens,
  listed: ListSource<Row, Body>,
): Promise<{ status: 200; body: { items: Body[]; next_page_token?: string } } | RawResponse> {
  const page = await firstPart(tokens, listed);
  if ('pieces' in page) return streamJson('{"items":[', page.pieces, ']}');
  return { status: 200, body: formatPage(tokens, listed.tokenScope, page) };
}

/** JSON that is made while it goes out. */
export function streamJson(before: string, pieces: AsyncIterable<string>, after: string): RawResponse {
  async function* whole(): AsyncGenerator<string> {
    yield before;
    yield* pieces;
    yield `${after}\n`;
  }
  const raw = Readable.from(whole(), { objectMode: false });
  return { status: 200, raw, contentType: 'application/json; charset=utf-8', memoryBytes: BATCH_BYTES };
}

/** What was asked for, or, where that is the whole and there is more than one part of it, all parts as JSON. */
async function firstPart<Row extends { created_at: number; id: string }, Body>(
  tokens: PageTokens,
  {
    tokenScope: list,
    query,
    queryRows: rows,
    formatBodies: bodies,
    batchSize: atOnce = ROW_BATCH_SIZE,
  }: ListSource<Row, Body>,
): Promise<Page<Body> | { pieces: AsyncGenerator<string> }> {
  const { after, limit } = parsePageRequest(tokens, list, query);
  const part = async (from: PagePosition | null, size = limit ?? atOnce): Promise<Page<Row>> => {
    const found = await rows({ after: from, limit: size });
    return slicePage(found, size, (row) => ({ at: row.created_at, id: row.id }));
  };
  const first = await part(after);
  if (limit !== null || first.next === null) return { ...first, items: await bodies(first.items) };

  async function* pieces(): AsyncGenerator<string> {
    let separator = '';
    for (let page = first; ; ) {
      let chars = 0;
      for (const body of await bodies(page.items)) {
        const json = JSON.stringify(body);
        chars += json.length;
        yield `${separator}${json}`;
        separator = ',';
      }
      if (page.next === null) return;
      await setImmediate();
      page = await part(page.next, nextBatchSize(page.items.length, chars, atOnce));
    }
  }
  return { pieces: pieces() };
}
