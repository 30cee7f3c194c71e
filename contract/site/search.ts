/**
 * The search of the documentation: a call of the site, not an operation of the API, so it is in none of the OpenAPI
 * documents. `GET /search/v1docs?q=` answers with a SearchAnswer; the build of the site makes the SearchRecords.
 */
import { escapeRegExp } from './regular-expressions.ts';

/** Where the server's own search answers; `v1docs` is the name of the index. */
export const SEARCH_PATH = '/search/v1docs';
/** A question longer than this is refused. */
export const SEARCH_QUERY_CHARS_MAX = 200;
export const SEARCH_HITS_MAX = 10;

/** `page` is the beginning of a page, `section` what stands below one of its headings. */
const SEARCH_HIT_TYPES = ['page', 'section', 'operation'] as const;
type SearchHitType = (typeof SEARCH_HIT_TYPES)[number];

/** One place of the documentation that answers. */
export interface SearchHit {
  /** The text of the place; in an answer the passage of it that fits best. */
  content: string;
  /** The address of the page. */
  slug: string;
  /** The anchor of the place on the page; empty for its beginning. */
  sectionId: string;
  /** The heading of the place; empty for the beginning of the page. */
  sectionHeader: string;
  type: SearchHitType;
  meta: {
    /** The name of the page in the navigation. */
    pageNavLabel: string;
    /** The sections the page lies in, outermost first, joined by " / ". */
    pageSection: string;
    pageTitle: string;
  };
}

/**
 * A hit as it is indexed, with words that find it and are not shown: `names` are those of its code, `keywords` what readers
 * call the matter of its page.
 */
export type SearchRecord = SearchHit & { names: string; keywords: string };

export interface SearchResponse {
  query: string;
  /** The best first. */
  hits: SearchHit[];
  /** The words of the hits that answer the question, in small letters: what a page shows marked. */
  marks: string[];
}

export interface MarkedPart {
  text: string;
  marked: boolean;
}

/** A text in parts, those that are one of the words marked. */
export function splitAtMarks(text: string, marks: readonly string[]): MarkedPart[] {
  const words = marks.filter((mark) => mark !== '').toSorted((a, b) => b.length - a.length);
  if (words.length === 0) return text === '' ? [] : [{ text, marked: false }];
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])(${words.map(escapeRegExp).join('|')})(?![\\p{L}\\p{N}])`,
    'giu',
  );
  // A pattern with one group splits into what lies between and what was found, in turns.
  return text
    .split(pattern)
    .map((part, index) => ({ text: part, marked: index % 2 === 1 }))
    .filter((part) => part.text !== '');
}
