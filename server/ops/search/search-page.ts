/** Renders the page of search results for browsers without scripts, from the page that the site's build wrote. */
import { type SearchResponse, splitAtMarks } from '@switchyard/contract/site/search.ts';
import type { SearchHit } from '@switchyard/contract/site/search-records.ts';
import { escapeHtml } from './escape-html.ts';

/** The empty element for the results, and the input field for the query. */
const RESULTS_SLOT = /(<div class="results" data-results="">)(<\/div>)/;
const QUERY_FIELD = /(<input [^>]*data-question="")/;

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
