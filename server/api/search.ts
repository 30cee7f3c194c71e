/**
 * The search of the documentation: `GET /search/v1docs?q=` for the site's search box, and `/search?q=`, the same as a page
 * for readers without scripts. Public and counted by address; for pages of this server only, so no other origin is let
 * in. It is no operation of the API and in none of its documents.
 */
import { SEARCH_PATH, SEARCH_QUERY_CHARS_MAX } from '@switchyard/contract/search.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { badRequest } from '../http/problem.ts';
import { addressBucket, Limits, type RateLimit } from '../http/rate-limit.ts';
import { jsonText } from '../http/response.ts';
import type { Search } from './search-index.ts';
import { resultsPage } from './search-page.ts';

/** Enough for a company behind one address; an answer takes a few milliseconds. */
export const SEARCH_RATE: RateLimit = { perMinute: 1200, burst: 300 };
const PAGE_PATH = '/search';

export interface SearchParts {
  search: Search;
  /** The page that results are put into, and the headers of all pages. */
  page: { html: string; headers: Record<string, string> } | null;
  clock: Clock;
  /** false: nobody is counted. */
  limited: boolean;
}

export function serveSearch(app: FastifyInstance, { search, page, clock, limited }: SearchParts): void {
  const limits = limited ? new Limits('address', SEARCH_RATE, clock) : null;
  const count = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    limits?.take(addressBucket(request.ip), reply);
  };
  app.get(SEARCH_PATH, { onRequest: count }, async (request, reply) => {
    const query = queryOf(request);
    if (typeof query !== 'string') throw badRequest(query.problem);
    return reply
      .headers({ 'cache-control': 'private, max-age=300', 'content-type': 'application/json; charset=utf-8' })
      .send(jsonText(search(query)));
  });
  if (page === null) return;
  app.get(PAGE_PATH, { onRequest: count, config: { isPage: true } }, async (request, reply) => {
    const asked = (request.query as Record<string, unknown>).q !== undefined;
    const query = queryOf(request);
    const html =
      typeof query === 'string'
        ? resultsPage(page.html, search(query))
        : asked
          ? resultsPage(page.html, query)
          : page.html;
    return reply
      .code(asked && typeof query !== 'string' ? 400 : 200)
      .headers({ ...page.headers, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(html);
  });
}

function queryOf(request: FastifyRequest): string | { problem: string } {
  const { q } = request.query as Record<string, unknown>;
  if (q === undefined) return { problem: 'q is missing; it must be what to search for.' };
  if (typeof q !== 'string') return { problem: 'q is given more than once; it must be given once.' };
  const query = q.trim();
  if (query.length > SEARCH_QUERY_CHARS_MAX) {
    return {
      problem: `q has ${query.length} characters; it must have at most ${SEARCH_QUERY_CHARS_MAX}.`,
    };
  }
  return query;
}
