/**
 * The search of the documentation. It belongs to the site and not to the API, so no OpenAPI document lists it. `GET
 * /search/v1docs?q=` responds with a SearchResponse; the build of the site writes the SearchRecords.
 */
import { escapeRegExp } from './regular-expressions.ts';
import type { SearchHit } from './search-records.ts';

/** Path of the search endpoint; `v1docs` is the name of the index. */
export const SEARCH_PATH = '/search/v1docs';
/** The server refuses longer queries. */
export const SEARCH_QUERY_CHARS_MAX = 200;
export const SEARCH_HITS_MAX = 10;

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
