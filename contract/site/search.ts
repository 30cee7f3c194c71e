/**
 * The search of the documentation. It belongs to the site and not to the API, so no OpenAPI document lists it. `GET
 * /search/v1docs?q=` responds with a SearchResponse; the build of the site writes the SearchRecords.
 */
import { escapeRegExp } from './regular-expressions.ts';

/** Path of the search endpoint; `v1docs` is the name of the index. */
export const SEARCH_PATH = '/search/v1docs';
/** The server refuses longer queries. */
export const SEARCH_QUERY_CHARS_MAX = 200;
export const SEARCH_HITS_MAX = 10;

/** `page` is the beginning of a page, `section` the text below one of its headings. */
const SEARCH_HIT_TYPES = ['page', 'section', 'operation'] as const;
type SearchHitType = (typeof SEARCH_HIT_TYPES)[number];

/** One matching place of the documentation. */
export interface SearchHit {
  /** The text of the place; in a response, its best matching passage. */
  content: string;
  /** URL path of the page. */
  slug: string;
  /** The anchor of the place on the page; empty for its beginning. */
  sectionId: string;
  /** The heading of the place; empty for the beginning of the page. */
  sectionHeader: string;
  type: SearchHitType;
  meta: {
    /** Label of the page in the navigation. */
    pageNavLabel: string;
    /** The sections that contain the page, outermost first, joined by " / ". */
    pageSection: string;
    pageTitle: string;
  };
}

/**
 * An indexed hit with extra words that match but are not shown: `names` come from its code, and `keywords` are synonyms
 * for the topic of its page.
 */
export type SearchRecord = SearchHit & { names: string; keywords: string };

/** The response of the search endpoint. */
export interface SearchResponse {
  query: string;
  /** Best match first. */
  hits: SearchHit[];
  /** Lower-case words of the hits that match the query. A page highlights them. */
  marks: string[];
}

/** A part of a text, marked if it matches the query. */
export interface MarkedPart {
  text: string;
  marked: boolean;
}

/** Splits a text into parts, and marks those that are one of the words. */
export function splitAtMarks(text: string, marks: readonly string[]): MarkedPart[] {
  const words = marks.filter((mark) => mark !== '').toSorted((a, b) => b.length - a.length);
  if (words.length === 0) return text === '' ? [] : [{ text, marked: false }];
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])(${words.map(escapeRegExp).join('|')})(?![\\p{L}\\p{N}])`,
    'giu',
  );
  // Splitting by a pattern with one group alternates between the text in between and the matches.
  return text
    .split(pattern)
    .map((part, index) => ({ text: part, marked: index % 2 === 1 }))
    .filter((part) => part.text !== '');
}
