/**
 * The index of the documentation, in memory, made once at the start from what the build of the site wrote. A question is
 * asked three times at most: for places with all its words, then for places with some, and only when there are none for
 * words that are nearly the same.
 */
import {
  SEARCH_HITS_MAX,
  type SearchHit,
  type SearchRecord,
  type SearchResponse,
} from '@switchyard/contract/site/search.ts';
import MiniSearch, { type Query, type QueryCombination, type SearchResult } from 'minisearch';
import { extractExcerpt } from './search-excerpt.ts';
import { isStopWord, listSynonyms, splitWords, stemWord, wordStem } from './search-words.ts';

const HITS_A_PAGE_MAX = 2;
/** Words beyond it add nothing but work. */
const WORDS_MAX = 16;
const PREFIX_CHARS_MIN = 2;
const FUZZY_CHARS_MIN = 4;
const FUZZY_SHARE = 0.25;
/** What a synonym is worth, of the word itself. */
const SYNONYM_SHARE = 0.5;

/** How much a word counts where it stands: what names a place says more than what is said there. */
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
/** What the whole page says counts more than one place of it, or a passing word would lead away from the page on it. */
const PAGE_WEIGHT = 2;

export type Search = (query: string) => SearchResponse;

type Place = { id: number } & Record<keyof typeof PLACE_BOOST, string>;
type Page = { id: string } & Record<keyof typeof PAGE_BOOST, string>;

export function createSearch(records: readonly SearchRecord[]): Search {
  // The words of the pages, so that none of them is taken to its root again for every answer.
  const known = new Map<string, string[]>();
  const termsOfKnown = (word: string): string[] => {
    const terms = known.get(word) ?? stemWord(word);
    known.set(word, terms);
    return terms;
  };
  const words = { tokenize: splitWords, processTerm: termsOfKnown };
  const places = new MiniSearch<Place>({ fields: Object.keys(PLACE_BOOST), ...words });
  places.addAll(records.map((record, id) => ({ ...record, ...record.meta, id })));
  const pages = new MiniSearch<Page>({ fields: Object.keys(PAGE_BOOST), ...words });
  pages.addAll([...Map.groupBy(records, ({ slug }) => slug)].map(([slug, all]) => pageOf(slug, all)));

  /** All pages that have any of the words, with what they are worth as a whole. */
  const scoresOf = (words: readonly string[], fuzzy: boolean): Map<string, number> => {
    const query: Query = { combineWith: 'OR', queries: words.map((word) => oneWord(word, fuzzy)) };
    const found = pages.search(query, { boost: PAGE_BOOST });
    return new Map(found.map(({ id, score }) => [id, score / (found[0]?.score ?? score)]));
  };
  /** Places, the best first: by their own worth and that of their page. */
  const run = (
    words: readonly string[],
    how: { combineWith: 'AND' | 'OR'; fuzzy: boolean; scores: Map<string, number> },
  ): SearchResult[] => {
    const { combineWith, fuzzy, scores } = how;
    const query: Query = { combineWith, queries: words.map((word) => oneWord(word, fuzzy)) };
    const found = places.search(query, { boost: PLACE_BOOST });
    const best = found[0]?.score ?? 1;
    const worth = ({ id, score }: SearchResult): number =>
      score / best + PAGE_WEIGHT * (scores.get(records[id]?.slug ?? '') ?? 0);
    return found.toSorted((one, other) => worth(other) - worth(one));
  };

  return (query) => {
    const all = [...new Set(splitWords(query).map((word) => stemWord(word)[0] ?? word))].slice(0, WORDS_MAX);
    const telling = all.filter((word) => !isStopWord(word));
    const words = telling.length > 0 ? telling : all;
    if (words.length === 0) return { query, hits: [], marks: [] };
    const exact = { fuzzy: false, scores: scoresOf(words, false) };
    const found = merge(
      run(words, { ...exact, combineWith: 'AND' }),
      words.length > 1 ? run(words, { ...exact, combineWith: 'OR' }) : [],
    );
    const results =
      found.length > 0
        ? found
        : run(words, { combineWith: 'OR', fuzzy: true, scores: scoresOf(words, true) });
    return answerOf(query, pick(results, records), termsOfKnown);
  };
}

/** A page as a whole; its lead is what stands before its first heading. */
function pageOf(slug: string, records: readonly SearchRecord[]): Page {
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

/** One word of a question: as it is, as the beginning of a longer one, by its root, or by a word of the same meaning. */
function oneWord(word: string, fuzzy: boolean): Query {
  const root = wordStem(word);
  return {
    combineWith: 'OR',
    queries: [
      {
        queries: [word],
        tokenize: (text) => [text],
        processTerm: (term) => term,
        prefix: word.length >= PREFIX_CHARS_MIN,
        fuzzy: fuzzy && word.length >= FUZZY_CHARS_MIN ? FUZZY_SHARE : false,
      },
      ...(root === word ? [] : [oneTerm(root)]),
      ...listSynonyms(word).map((other) => ({ ...oneTerm(other), boostTerm: () => SYNONYM_SHARE })),
    ],
  };
}

/** A term of the index as it is. */
function oneTerm(term: string): QueryCombination {
  return { queries: [term], tokenize: (text) => [text], processTerm: (text) => text };
}

/** The first list, and then what only the second has. */
function merge(first: readonly SearchResult[], second: readonly SearchResult[]): SearchResult[] {
  const known = new Set(first.map(({ id }) => id));
  return [...first, ...second.filter(({ id }) => !known.has(id))];
}

type Picked = { record: SearchRecord; terms: readonly string[] };

/** The best place of every page, and then the second best, so that one long page does not hide the others. */
function pick(results: readonly SearchResult[], records: readonly SearchRecord[]): Picked[] {
  const rounds: Picked[][] = Array.from({ length: HITS_A_PAGE_MAX }, () => []);
  const perPage = new Map<string, number>();
  for (const { id, terms } of results) {
    const record = records[id];
    if (record === undefined) continue;
    const count = perPage.get(record.slug) ?? 0;
    perPage.set(record.slug, count + 1);
    rounds[count]?.push({ record, terms });
  }
  return rounds.flat().slice(0, SEARCH_HITS_MAX);
}

function answerOf(
  query: string,
  picked: readonly Picked[],
  termsOf: (word: string) => readonly string[],
): SearchResponse {
  const marks = new Set<string>();
  const hits = picked.map(({ record, terms }): SearchHit => {
    const wanted = new Set(terms);
    const matches = (word: string): boolean =>
      termsOf(word).some((term) => wanted.has(term)) && !isStopWord(word.toLowerCase());
    const { names: _names, keywords: _keywords, ...hit } = record;
    const content = extractExcerpt(hit.content, matches);
    for (const text of [content, hit.sectionHeader, hit.meta.pageTitle]) {
      for (const word of splitWords(text)) if (matches(word)) marks.add(word.toLowerCase());
    }
    return { ...hit, content };
  });
  return { query, hits, marks: [...marks] };
}
