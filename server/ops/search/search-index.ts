/**
 * The search index of the documentation, in memory, built at the start from the records that the site's build wrote. It
 * runs at most three searches for a query: places with all words, places with some of them, and, when both find nothing,
 * places with similar words.
 */
import { SEARCH_HITS_MAX, type SearchResponse } from '@switchyard/contract/site/search.ts';
import type { SearchHit, SearchRecord } from '@switchyard/contract/site/search-records.ts';
import MiniSearch, { type Query, type QueryCombination, type SearchResult } from 'minisearch';
import { isStopWord, listSynonyms, splitWords, stemWord, unifySpelling, wordStem } from './search-words.ts';

const HITS_PER_PAGE_MAX = 2;
/** More words cost time and do not improve the result. */
const QUERY_WORDS_MAX = 16;
const PREFIX_CHARS_MIN = 2;
const FUZZY_CHARS_MIN = 4;
/** The number of edits allowed, as a share of the word's length. */
const FUZZY_SHARE = 0.25;
/** The weight of a synonym; the word itself has 1. */
const SYNONYM_WEIGHT = 0.5;

/** The weight of each field: titles and headings describe a place better than its text. */
const PLACE_BOOST = {
  pageTitle: 4,
  sectionHeader: 3,
  pageNavLabel: 3,
  keywords: 3,
  pageSection: 1,
  content: 1,
  names: 0.4,
};
const PAGE_BOOST = {
  title: 4,
  label: 3,
  keywords: 3,
  lead: 3,
  headers: 2,
  content: 1,
  section: 0.5,
  names: 0.4,
};
/** The weight of the page against the place; with less, a passing mention outranks the page about the topic. */
const PAGE_WEIGHT = 2;
/** The weight of a page of operations against a guide. Its many names match most queries, and readers start with the guide. */
const OPERATIONS_WEIGHT = 0.75;
const OPERATIONS_PATH = '/reference/api/';

const PASSAGE_CHARS_MAX = 220;

/** Returns the hits for a query, best first, and the words to mark in them. Any text is a valid query. */
export type Search = (query: string) => SearchResponse;

type Place = { id: number } & Record<keyof typeof PLACE_BOOST, string>;
type Page = { id: string } & Record<keyof typeof PAGE_BOOST, string>;

/** Builds the index and returns its search function. */
export function createSearch(records: readonly SearchRecord[]): Search {
  // Caches the terms of every word of the pages, because each search stems the words of its hits again.
  const termsByWord = new Map<string, string[]>();
  const findTerms = (word: string): string[] => {
    const terms = termsByWord.get(word) ?? stemWord(word);
    termsByWord.set(word, terms);
    return terms;
  };
  const words = { tokenize: splitWords, processTerm: findTerms };
  const places = new MiniSearch<Place>({ fields: Object.keys(PLACE_BOOST), ...words });
  places.addAll(records.map((record, id) => ({ ...record, ...record.meta, id })));
  const pages = new MiniSearch<Page>({ fields: Object.keys(PAGE_BOOST), ...words });
  pages.addAll([...Map.groupBy(records, ({ slug }) => slug)].map(([slug, all]) => createPage(slug, all)));

  const spellings = groupSpellings(termsByWord.values());
  const createQuery = (word: string, fuzzy: boolean): Query =>
    createWordQuery(word, spellings.get(unifySpelling(word)) ?? [], fuzzy);

  /** Returns the score of every page with any of the words, relative to the best page (0 to 1). */
  const scorePages = (words: readonly string[], fuzzy: boolean): Map<string, number> => {
    const query: Query = { combineWith: 'OR', queries: words.map((word) => createQuery(word, fuzzy)) };
    const found = pages.search(query, {
      boost: PAGE_BOOST,
      boostDocument: (slug) => (String(slug).includes(OPERATIONS_PATH) ? OPERATIONS_WEIGHT : 1),
    });
    return new Map(found.map(({ id, score }) => [id, score / (found[0]?.score ?? score)]));
  };
  /** Returns matching places, best first, by their own score and the score of their page. */
  const searchPlaces = (
    words: readonly string[],
    options: { combineWith: 'AND' | 'OR'; fuzzy: boolean; scores: Map<string, number>; anchor: string },
  ): SearchResult[] => {
    const { combineWith, fuzzy, scores, anchor } = options;
    const query: Query = { combineWith, queries: words.map((word) => createQuery(word, fuzzy)) };
    const found = places.search(query, { boost: PLACE_BOOST });
    const best = found[0]?.score ?? 1;
    const combineScores = ({ id, score }: SearchResult): number => {
      const { type, sectionId, slug = '' } = records[id] ?? {};
      if (type === 'operation' && sectionId === anchor) return Number.POSITIVE_INFINITY;
      return score / best + PAGE_WEIGHT * (scores.get(slug) ?? 0);
    };
    return found.toSorted((one, other) => combineScores(other) - combineScores(one));
  };

  return (query) => {
    const all = [...new Set(splitWords(query).map((word) => stemWord(word)[0] ?? word))].slice(
      0,
      QUERY_WORDS_MAX,
    );
    const specific = all.filter((word) => !isStopWord(word));
    const words = specific.length > 0 ? specific : all;
    if (words.length === 0) return { query, hits: [], marks: [] };
    const anchor = formatAnchor(query);
    const exact = { fuzzy: false, scores: scorePages(words, false), anchor };
    const found = mergeResults(
      searchPlaces(words, { ...exact, combineWith: 'AND' }),
      words.length > 1 ? searchPlaces(words, { ...exact, combineWith: 'OR' }) : [],
    );
    const results =
      found.length > 0
        ? found
        : searchPlaces(words, { combineWith: 'OR', fuzzy: true, scores: scorePages(words, true), anchor });
    return createResponse(query, selectHits(results, records), findTerms);
  };
}

/**
 * Returns the anchor of the operation with this name, such as `create-run` for `createRun`. Such a query finds the operation
 * before the guides that call it.
 */
function formatAnchor(query: string): string {
  return query.trim().replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Joins the records of a page. The lead is the text before its first heading. */
function createPage(slug: string, records: readonly SearchRecord[]): Page {
  const [first] = records;
  const all = (field: 'sectionHeader' | 'content' | 'names'): string =>
    records.map((record) => record[field]).join(' ');
  return {
    id: slug,
    title: first?.meta.pageTitle ?? '',
    label: first?.meta.pageNavLabel ?? '',
    section: first?.meta.pageSection ?? '',
    keywords: first?.keywords ?? '',
    lead: first?.content ?? '',
    headers: all('sectionHeader'),
    content: all('content'),
    names: all('names'),
  };
}

/** Returns the words of the pages by the form that all spellings of a word have. */
function groupSpellings(terms: Iterable<readonly string[]>): Map<string, string[]> {
  return Map.groupBy(new Set([...terms].flatMap(([plain = '']) => plain)), unifySpelling);
}

/**
 * Returns the query for a word in its spellings: the word, longer words that begin with it, its stem and its synonyms.
 * Without the other spellings, pages that use the one of the query would come first.
 */
function createWordQuery(word: string, spellings: readonly string[], fuzzy: boolean): Query {
  const stem = wordStem(word);
  return {
    combineWith: 'OR',
    queries: [
      {
        queries: [...new Set([word, ...spellings])],
        tokenize: (text) => [text],
        processTerm: (term) => term,
        prefix: word.length >= PREFIX_CHARS_MIN,
        fuzzy: fuzzy && word.length >= FUZZY_CHARS_MIN ? FUZZY_SHARE : false,
      },
      ...(stem === word ? [] : [createTermQuery(stem)]),
      ...listSynonyms(word).map((other) => ({ ...createTermQuery(other), boostTerm: () => SYNONYM_WEIGHT })),
    ],
  };
}

/** Returns the query for an exact term of the index. */
function createTermQuery(term: string): QueryCombination {
  return { queries: [term], tokenize: (text) => [text], processTerm: (text) => text };
}

/** Appends the places that only the second list has to the first. */
function mergeResults(first: readonly SearchResult[], second: readonly SearchResult[]): SearchResult[] {
  const inFirst = new Set(first.map(({ id }) => id));
  return [...first, ...second.filter(({ id }) => !inFirst.has(id))];
}

type Match = { record: SearchRecord; terms: readonly string[] };

/** Selects the best place of every page, then the second best, so that one long page does not hide the others. */
function selectHits(results: readonly SearchResult[], records: readonly SearchRecord[]): Match[] {
  const ranks: Match[][] = Array.from({ length: HITS_PER_PAGE_MAX }, () => []);
  const perPage = new Map<string, number>();
  for (const { id, terms } of results) {
    const record = records[id];
    if (record === undefined) continue;
    const count = perPage.get(record.slug) ?? 0;
    perPage.set(record.slug, count + 1);
    ranks[count]?.push({ record, terms });
  }
  return ranks.flat().slice(0, SEARCH_HITS_MAX);
}

function createResponse(
  query: string,
  matches: readonly Match[],
  findTerms: (word: string) => readonly string[],
): SearchResponse {
  const marks = new Set<string>();
  const hits = matches.map(({ record, terms }): SearchHit => {
    const wanted = new Set(terms);
    const isMatch = (word: string): boolean =>
      findTerms(word).some((term) => wanted.has(term)) && !isStopWord(word.toLowerCase());
    const { names: _names, keywords: _keywords, ...hit } = record;
    const content = extractExcerpt(hit.content, isMatch);
    for (const text of [content, hit.sectionHeader, hit.meta.pageTitle]) {
      for (const word of splitWords(text)) if (isMatch(word)) marks.add(word.toLowerCase());
    }
    return { ...hit, content };
  });
  return { query, hits, marks: [...marks] };
}

/**
 * Returns the passage of at most 220 characters with the most matching words. It cuts between words, prefers the beginning
 * of a sentence, and marks omitted text with `…`.
 */
export function extractExcerpt(text: string, matches: (word: string) => boolean): string {
  if (text.length <= PASSAGE_CHARS_MAX) return text;
  const words = [...text.matchAll(/\S+/gu)].map(({ 0: word, index }) => ({
    from: index,
    to: index + word.length,
    matched: splitWords(word).some(matches),
    endsSentence: /[.!?:]$/.test(word),
  }));
  let best = { first: 0, last: 0, score: -1 };
  let last = -1;
  let count = 0;
  for (const [first, word] of words.entries()) {
    while ((words[last + 1]?.to ?? Number.POSITIVE_INFINITY) - word.from <= PASSAGE_CHARS_MAX) {
      last += 1;
      if (words[last]?.matched) count += 1;
    }
    // Of passages with equal counts, the one that begins a sentence wins.
    const isAtStart = words[first - 1]?.endsSentence ?? true;
    const score = count + (isAtStart ? 0.5 : 0);
    if (last >= first && score > best.score) best = { first, last, score };
    if (word.matched && last >= first) count -= 1;
    last = Math.max(last, first);
  }
  const from = words[best.first]?.from ?? 0;
  // A first word longer than the limit is cut, because no passage can hold it.
  const to = Math.min(words[best.last]?.to ?? 0, from + PASSAGE_CHARS_MAX);
  const passage = text.slice(from, to);
  return `${from > 0 ? '… ' : ''}${passage}${to < text.length ? ' …' : ''}`;
}
