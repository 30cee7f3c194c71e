/**
 * Responses of lists. A page is one JSON text. A caller that does not page gets the whole list, streamed in batches of rows.
 * Several hundred versions with a megabyte of requirements each exceed the length of a string, or the memory.
 */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { formatMarkedJson } from '@switchyard/contract/exact-json.ts';
import type { Context } from '../handlers/context.ts';
import type { RawResponse } from '../handlers/handler.ts';
import {
  formatPage,
  formatPageOrArray,
  type Page,
  type PagePosition,
  type PageQueryValues,
  type PageRequest,
  parsePageRequest,
  slicePage,
} from './pagination.ts';
import { formatReadableRows } from './readable-rows.ts';

type ListParts = Pick<Context, 'pageTokens' | 'log'>;

/** The rows of a list and their format. The list is in the order of the columns `created_at` and `id`. */
export interface ListSource<Row extends { created_at: number; id: string }, Body> {
  /** Names the list and its filters; a page token is valid only in its scope. */
  tokenScope: string;
  query: PageQueryValues;
  /** Returns the rows of the page, and one more when others follow. */
  queryRows(page: PageRequest): Promise<Row[]>;
  formatBodies(rows: Row[]): Body[] | Promise<Body[]>;
  /** The number of rows in memory for a caller that does not page. */
  batchSize?: number;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const ROW_BATCH_SIZE = 100;
/** The size of a batch that the server aims at: a client that reads slowly keeps a batch in memory. */
const BATCH_BYTES = 1024 * 1024;

/** Computes the number of rows of the next batch, from 1 to `rowsMax`, from the rows of the last one and their JSON length. */
export function computeNextBatchSize(rows: number, chars: number, rowsMax: number): number {
  return Math.max(1, Math.min(rowsMax, Math.floor((BATCH_BYTES * rows) / Math.max(1, chars))));
}

/** Responds with an array, or with the paged object when the query has `pagereturn`. */
export async function respondWithList<Row extends { created_at: number; id: string }, Body>(
  lists: ListParts,
  source: ListSource<Row, Body>,
): Promise<{ status: 200; body: Body[] | { items: Body[]; next_page_token?: string } } | RawResponse> {
  const page = await readPageOrPieces(lists, source);
  if ('pieces' in page) return streamJson('[', page.pieces, ']');
  return { status: 200, body: formatPageOrArray(lists.pageTokens, source.tokenScope, source.query, page) };
}

/** Responds with the paged object, also to a caller that does not page: newer lists never return an array. */
export async function respondWithListObject<Row extends { created_at: number; id: string }, Body>(
  lists: ListParts,
  source: ListSource<Row, Body>,
): Promise<{ status: 200; body: { items: Body[]; next_page_token?: string } } | RawResponse> {
  const page = await readPageOrPieces(lists, source);
  if ('pieces' in page) return streamJson('{"items":[', page.pieces, ']}');
  return { status: 200, body: formatPage(lists.pageTokens, source.tokenScope, page) };
}

/** Streams JSON: the pieces between `before` and `after`, and a line break. */
export function streamJson(before: string, pieces: AsyncIterable<string>, after: string): RawResponse {
  async function* generateJson(): AsyncGenerator<string> {
    yield before;
    yield* pieces;
    yield `${after}\n`;
  }
  const raw = Readable.from(generateJson(), { objectMode: false });
  return { status: 200, raw, contentType: JSON_TYPE, memoryBytes: BATCH_BYTES, isCompressible: true };
}

/** Responds to a caller that accepts gzip with the cached body, otherwise with that of `respond`, which is then cached. */
export async function respondCompressed(
  { compressedBodies }: Pick<Context, 'compressedBodies'>,
  key: string,
  respond: () => Promise<RawResponse>,
): Promise<RawResponse> {
  const raw = compressedBodies.get(key);
  if (raw) return { status: 200, raw, contentType: JSON_TYPE, contentEncoding: 'gzip' };
  return { ...(await respond()), onCompressed: (bytes) => compressedBodies.set(key, bytes) };
}

/** Returns the requested page; for a whole list of more than one batch, its items as pieces of JSON. */
async function readPageOrPieces<Row extends { created_at: number; id: string }, Body>(
  lists: ListParts,
  { tokenScope, query, queryRows, batchSize = ROW_BATCH_SIZE, ...source }: ListSource<Row, Body>,
): Promise<Page<Body> | { pieces: AsyncGenerator<string> }> {
  const { after, limit } = parsePageRequest(lists.pageTokens, tokenScope, query);
  const readBatch = async (from: PagePosition | null, size = limit ?? batchSize): Promise<Page<Row>> => {
    const rows = await queryRows({ after: from, limit: size });
    return slicePage(rows, size, (row) => ({ at: row.created_at, id: row.id }));
  };
  const formatBodies = (rows: Row[]) => formatReadableRows(lists.log, rows, source.formatBodies);
  const first = await readBatch(after);
  if (limit !== null || first.next === null) return { ...first, items: await formatBodies(first.items) };

  async function* generatePieces(): AsyncGenerator<string> {
    let separator = '';
    for (let page = first; ; ) {
      let chars = 0;
      for (const body of await formatBodies(page.items)) {
        const json = formatMarkedJson(body);
        chars += json.length;
        yield `${separator}${json}`;
        separator = ',';
      }
      if (page.next === null) return;
      // Other requests run between two batches.
      await setImmediate();
      page = await readBatch(page.next, computeNextBatchSize(page.items.length, chars, batchSize));
    }
  }
  return { pieces: generatePieces() };
}
