/** The page of results, from the page that the build of the site made for it. */
import { type SearchHit, type SearchResponse, splitAtMarks } from '@switchyard/contract/site/search.ts';
import { escapeHtml } from './escape-html.ts';

/** Where the build leaves room: an empty element for the results, and the field of the question. */
const ROOM = /(<div class="results" data-results="">)(<\/div>)/;
const FIELD = /(<input [^>]*data-question="")/;

/** Puts an answer, or what is wrong with the question, into the page. */
export function renderResultsPage(html: string, found: SearchResponse | { problem: string }): string {
  const answered = 'hits' in found;
  const field = answered ? ` value="${escapeHtml(found.query)}"` : '';
  const results = answered ? resultsOf(found) : `<p>${escapeHtml(found.problem)}</p>`;
  // A function, because a replacement text would take $ for a sign of its own.
  return html
    .replace(FIELD, (_all, start: string) => `${start}${field}`)
    .replace(ROOM, (_all, start: string, end: string) => `${start}${results}${end}`);
}

function resultsOf({ query, hits, marks }: SearchResponse): string {
  if (query === '') return '';
  if (hits.length === 0) return `<p>No results for ${escapeHtml(query)}</p>`;
  return `<ol>${hits.map((hit) => `<li>${resultOf(hit, marks)}</li>`).join('')}</ol>`;
}

function resultOf(hit: SearchHit, marks: readonly string[]): string {
  const { slug, sectionId, sectionHeader, content, meta } = hit;
  const show = (text: string): string =>
    splitAtMarks(text, marks)
      .map((part) => (part.marked ? `<mark>${escapeHtml(part.text)}</mark>` : escapeHtml(part.text)))
      .join('');
  const address = sectionId === '' ? slug : `${slug}#${encodeURIComponent(sectionId)}`;
  const way = [meta.pageSection, sectionHeader === '' ? '' : meta.pageTitle].filter(Boolean).join(' / ');
  return [
    way === '' ? '' : `<p class="result-way">${show(way)}</p>`,
    `<p class="result-title"><a href="${escapeHtml(address)}">${show(sectionHeader || meta.pageTitle)}</a></p>`,
    `<p class="result-text">${show(content)}</p>`,
  ].join('');
}
