/**
 * The index of the documentation, in memory, made once at the start from what the build of the site wrote. A question is
 * asked three times at most: for places with all its words, then for places with some, and only when there are none for
 * words that are nearly the same.
 */
import {
  SEARCH_HITS_MAX,
  type SearchAnswer,
  type SearchHit,
  type SearchRecord,
} from '@switchyard/contract/search.ts';
import MiniSearch, { type Query, type SearchResult } from 'minisearch';
import { passageOf } from './passage.ts';
import { isCommon, rootOf, termsOf, wordsOf } from './search-words.ts';

const HITS_A_PAGE_MAX = 2;
/** Words beyond it add nothing but work. */
const WORDS_MAX = 16;
const PREFIX_CHARS_MIN = 2;
const FUZZY_CHARS_MIN = 4;
const FUZZY_SHARE = 0.25;

/** How much a word counts where it stands: what names a place says more than what is said there. */
const BOOST = { pageTitle: 4, sectionHeader: 3, pageNavLabel: 3, pageSection: 1, content: 1, names: 0.4 };
const FIELDS = Object.keys(BOOST);

export type Search = (query: string) => SearchAnswer;

export function createSearch(records: readonly SearchRecord[]): Search {
  const index = new MiniSearch<SearchRecord & { id: number }>({
    fields: FIELDS,
    extractField: (record, field) => {
      const { meta } = record;
      return String({ ...record, ...meta }[field as keyof SearchRecord] ?? '');
    },
    tokenize: wordsOf,
    // A word is found as it is written, so that half of it finds it too, and by its root.
    processTerm: termsOf,
  });
  index.addAll(records.map((record, id) => ({ ...record, id })));

  const run = (words: readonly string[], combineWith: 'AND' | 'OR', fuzzy: boolean): SearchResult[] =>
    index.search({ combineWith, queries: words.map((word) => oneWord(word, fuzzy)) }, { boost: BOOST });

  return (query) => {
    const all = [...new Set(wordsOf(query).map((word) => termsOf(word)[0] ?? word))].slice(0, WORDS_MAX);
    const telling = all.filter((word) => !isCommon(word));
    const words = telling.length > 0 ? telling : all;
    if (words.length === 0) return { query, hits: [], marks: [] };
    const found = merge(run(words, 'AND', false), words.length > 1 ? run(words, 'OR', false) : []);
    const results = found.length > 0 ? found : run(words, 'OR', true);
    return answerOf(query, pick(results, records));
  };
}

/** One word of a question: as it is, as the beginning of a longer one, or by its root. */
function oneWord(word: string, fuzzy: boolean): Query {
  const root = rootOf(word);
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
      ...(root === word
        ? []
        : [{ queries: [root], tokenize: (text: string) => [text], processTerm: (term: string) => term }]),
    ],
  };
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

function answerOf(query: string, picked: readonly Picked[]): SearchAnswer {
  const marks = new Set<string>();
  const hits = picked.map(({ record, terms }): SearchHit => {
    const wanted = new Set(terms);
    const matches = (word: string): boolean =>
      termsOf(word).some((term) => wanted.has(term)) && !isCommon(word.toLowerCase());
    const { names: _names, ...hit } = record;
    const content = passageOf(hit.content, matches);
    for (const text of [content, hit.sectionHeader, hit.meta.pageTitle]) {
      for (const word of wordsOf(text)) if (matches(word)) marks.add(word.toLowerCase());
    }
    return { ...hit, content };
  });
  return { query, hits, marks: [...marks] };
}
