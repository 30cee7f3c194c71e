/**
 * The search of the documentation: `GET /search/v1docs?q=` for the site's search box, and `/search?q=`, a page for browsers
 * without scripts. Both are public and rate-limited by address. No CORS header allows other origins, because only pages
 * of this server need them. They are not operations of the API, so no OpenAPI document has them.
 */
import {
  SEARCH_PATH,
  SEARCH_QUERY_CHARS_MAX,
  type SearchResponse,
  splitAtMarks,
} from '@switchyard/contract/site/search.ts';
import type { SearchHit } from '@switchyard/contract/site/search-records.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../platform/clock.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import { addressBucketKey, HttpRateLimiter, type RateLimit } from '../../platform/http/limits/rate-limit.ts';
import { formatJson } from '../../platform/http/send-response.ts';
import { escapeHtml } from './escape-html.ts';
import type { Search } from './search-index.ts';

/** Enough for a company behind one address; a search takes a few milliseconds. */
export const SEARCH_RATE_LIMIT: RateLimit = { perMinute: 1200, burst: 300 };
const PAGE_PATH = '/search';

/** The empty element for the results, and the input field for the query. */
const RESULTS_SLOT = /(<div class="results" data-results="">)(<\/div>)/;
const QUERY_FIELD = /(<input [^>]*data-question="")/;

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

/** Returns the page with the results, or with the problem of an invalid query. */
export function renderResultsPage(html: string, found: SearchResponse | { problem: string }): string {
  const hasHits = 'hits' in found;
  const value = hasHits ? ` value="${escapeHtml(found.query)}"` : '';
  const results = hasHits ? renderResults(found) : `<p>${escapeHtml(found.problem)}</p>`;
  // A function, because `$` in a replacement string is special.
  return html
    .replace(QUERY_FIELD, (_all, start: string) => `${start}${value}`)
    .replace(RESULTS_SLOT, (_all, start: string, end: string) => `${start}${results}${end}`);
}

function renderResults({ query, hits, marks }: SearchResponse): string {
  if (query === '') return '';
  if (hits.length === 0) return `<p>No results for ${escapeHtml(query)}</p>`;
  return `<ol>${hits.map((hit) => `<li>${renderResult(hit, marks)}</li>`).join('')}</ol>`;
}

function renderResult(hit: SearchHit, marks: readonly string[]): string {
  const { slug, sectionId, sectionHeader, content, meta } = hit;
  const mark = (text: string): string =>
    splitAtMarks(text, marks)
      .map((part) => (part.marked ? `<mark>${escapeHtml(part.text)}</mark>` : escapeHtml(part.text)))
      .join('');
  const url = sectionId === '' ? slug : `${slug}#${encodeURIComponent(sectionId)}`;
  const breadcrumb = [meta.pageSection, sectionHeader === '' ? '' : meta.pageTitle]
    .filter(Boolean)
    .join(' / ');
  return [
    breadcrumb === '' ? '' : `<p class="result-way">${mark(breadcrumb)}</p>`,
    `<p class="result-title"><a href="${escapeHtml(url)}">${mark(sectionHeader || meta.pageTitle)}</a></p>`,
    `<p class="result-text">${mark(content)}</p>`,
  ].join('');
}
