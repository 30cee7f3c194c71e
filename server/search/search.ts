/**
 * The search of the documentation: `GET /search/v1docs?q=` for the site's search box, and `/search?q=`, the same as a page
 * for readers without scripts. Public and counted by address; for pages of this server only, so no other origin is let
 * in. It is no operation of the API and in none of its documents.
 */
import { SEARCH_PATH, SEARCH_QUERY_CHARS_MAX } from '@switchyard/contract/site/search.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { badRequest } from '../http/errors/problem.ts';
import { addressBucketKey, HttpRateLimiter, type RateLimit } from '../http/limits/rate-limit.ts';
import { formatJson } from '../http/send-response.ts';
import type { Search } from './search-index.ts';
import { renderResultsPage } from './search-page.ts';

/** Enough for a company behind one address; an answer takes a few milliseconds. */
export const SEARCH_RATE_LIMIT: RateLimit = { perMinute: 1200, burst: 300 };
const PAGE_PATH = '/search';

export interface SearchParts {
  search: Search;
  /** The page that results are put into, and the headers of all pages. */
  resultsPage: { html: string; headers: Record<string, string> } | null;
  clock: Clock;
  /** false: nobody is counted. */
  isRateLimited: boolean;
}

export function serveSearch(
  app: FastifyInstance,
  { search, resultsPage: page, clock, isRateLimited: limited }: SearchParts,
): void {
  const limits = limited ? new HttpRateLimiter('address', SEARCH_RATE_LIMIT, clock) : null;
  const count = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    limits?.enforce(addressBucketKey(request.ip), reply);
  };
  app.get(SEARCH_PATH, { onRequest: count }, async (request, reply) => {
    const query = queryOf(request);
    if (typeof query !== 'string') throw badRequest(query.problem);
    return reply
      .headers({ 'cache-control': 'private, max-age=300', 'content-type': 'application/json; charset=utf-8' })
      .send(formatJson(search(query)));
  });
  if (page === null) return;
  app.get(PAGE_PATH, { onRequest: count, config: { isPage: true } }, async (request, reply) => {
    const asked = (request.query as Record<string, unknown>).q !== undefined;
    const query = queryOf(request);
    const html =
      typeof query === 'string'
        ? renderResultsPage(page.html, search(query))
        : asked
          ? renderResultsPage(page.html, query)
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
