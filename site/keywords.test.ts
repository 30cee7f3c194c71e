/** Keywords lift a page in the search, so a page may have only those that it answers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchRecord } from '@switchyard/contract/site/search-records.ts';
import {
  isStopWord,
  listSynonyms,
  splitWords,
  stemWord,
} from '@switchyard/server/ops/search/search-words.ts';
import { expect, test } from 'vitest';
import { builtSiteFolder } from './testing/built-site.ts';

/** Lists the keywords of a page that no place of it answers: one that has each of their words, or a synonym. */
function listUnanswered(places: readonly SearchRecord[]): string[] {
  const terms = places.map(
    ({ sectionHeader, content, names, meta }) =>
      new Set(splitWords(`${meta.pageTitle} ${sectionHeader} ${content} ${names}`).flatMap(stemWord)),
  );
  const keywords = places[0]?.keywords.split(',').map((keyword) => keyword.trim()) ?? [];
  return keywords.filter((keyword) => {
    // The parts of a joined word such as app.yaml stand for it.
    const words = splitWords(keyword.toLowerCase()).filter(
      (word) => !/[_./-]/.test(word) && !isStopWord(word),
    );
    const isIn = (place: Set<string>) =>
      words.every((word) => [...stemWord(word), ...listSynonyms(word)].some((term) => place.has(term)));
    return !terms.some(isIn);
  });
}

test('D1: each keyword of a page, or a synonym, is in a section of the page', () => {
  const records: SearchRecord[] = JSON.parse(readFileSync(join(builtSiteFolder, 'search.json'), 'utf8'));
  const unanswered = [...Map.groupBy(records, ({ slug }) => slug)].flatMap(([slug, places]) =>
    listUnanswered(places).map((keyword) => `${slug}: ${keyword}`),
  );
  expect(unanswered).toEqual([]);
});
