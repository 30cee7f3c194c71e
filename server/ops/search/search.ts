/**
 * The search of the documentation: `GET /search/v1docs?q=` for the site's search box, and `/search?q=`, a page for browsers
 * without scripts. Both are public and rate-limited by address. No CORS header allows other origins, because only pages
 * of this server need them. They are not operations of the API, so no OpenAPI document has them.
 */
import { SEARCH_PATH, SEARCH_QUERY_CHARS_MAX } from '@switchyard/contract/site/search.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../platform/clock.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import { addressBucketKey, HttpRateLimiter, type RateLimit } from '../../platform/http/limits/rate-limit.ts';
import { formatJson } from '../../platform/http/send-response.ts';
import type { Search } from './search-index.ts';
import { renderResultsPage } from './search-page.ts';

/** Enough for a company behind one address; a search takes a few milliseconds. */
export const SEARCH_RATE_LIMIT: RateLimit = { perMinute: 1200, burst: 300 };
const PAGE_PATH = '/search';

/** Dependencies of the search routes. */
export interface SearchParts {
  search: Search;
  /** The page for the results and its headers; null when the site has none, which also omits the route. */
  resultsPage: { html: string; headers: Record<string, string> } | null;
  clock: Clock;
  isRateLimited: boolean;
}

/** Registers the search routes. */
export function serveSearch(
  app: FastifyInstance,
  { search, resultsPage: page, clock, isRateLimited }: SearchParts,
): void {
  const limits = isRateLimited ? new HttpRateLimiter('address', SEARCH_RATE_LIMIT, clock) : null;
  const limitRate = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    limits?.enforce(addressBucketKey(request.address), reply);
  };
  app.get(SEARCH_PATH, { onRequest: limitRate }, async (request, reply) => {
    const query = parseQuery(request);
    if (typeof query !== 'string') throw badRequest(query.problem);
    return reply
      .headers({ 'cache-control': 'private, max-age=300', 'content-type': 'application/json; charset=utf-8' })
      .send(formatJson(search(query)));
  });
  if (page === null) return;
  app.get(PAGE_PATH, { onRequest: limitRate, config: { isPage: true } }, async (request, reply) => {
    const query = parseQuery(request);
    const isValid = typeof query === 'string';
    // Without a query the page is the empty search form.
    const isForm = !isValid && query.isMissing;
    const html = isForm ? page.html : renderResultsPage(page.html, isValid ? search(query) : query);
    return reply
      .code(isValid || isForm ? 200 : 400)
      .headers({ ...page.headers, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(html);
  });
}

/** Returns the trimmed query, or its problem as a sentence. */
function parseQuery(request: FastifyRequest): string | { problem: string; isMissing: boolean } {
  const { q } = request.query as Record<string, unknown>;
  if (q === undefined)
    return { problem: 'q is missing; it must be the text to search for.', isMissing: true };
  if (typeof q !== 'string')
    return { problem: 'q is given more than once; it must be given once.', isMissing: false };
  const query = q.trim();
  if (query.length > SEARCH_QUERY_CHARS_MAX) {
    return {
      problem: `q has ${query.length} characters; it must have at most ${SEARCH_QUERY_CHARS_MAX}.`,
      isMissing: false,
    };
  }
  return query;
}
