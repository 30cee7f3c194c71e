import { splitWords } from './search-words.ts';

const PASSAGE_CHARS_MAX = 220;

/** The passage of a text that has the most of what was asked, cut at words, with … where something is left out. */
export function extractExcerpt(text: string, matches: (word: string) => boolean): string {
  if (text.length <= PASSAGE_CHARS_MAX) return text;
  const words = [...text.matchAll(/\S+/gu)].map(({ 0: word, index }) => ({
    from: index,
    to: index + word.length,
    matched: splitWords(word).some(matches),
    ends: /[.!?:]$/.test(word),
  }));
  let best = { first: 0, last: 0, count: -1 };
  let last = -1;
  let count = 0;
  for (const [first, word] of words.entries()) {
    while ((words[last + 1]?.to ?? Number.POSITIVE_INFINITY) - word.from <= PASSAGE_CHARS_MAX) {
      last += 1;
      if (words[last]?.matched) count += 1;
    }
    // A passage begins at the beginning of a sentence where that shows as much.
    const begins = words[first - 1]?.ends ?? true;
    const worth = count + (begins ? 0.5 : 0);
    if (last >= first && worth > best.count) best = { first, last, count: worth };
    if (word.matched && last >= first) count -= 1;
    last = Math.max(last, first);
  }
  const from = words[best.first]?.from ?? 0;
  // No passage begins with a word that is longer than one may be; then there is only the beginning of the first.
  const to = Math.min(words[best.last]?.to ?? 0, from + PASSAGE_CHARS_MAX);
  const passage = text.slice(from, to);
  return `${from > 0 ? '… ' : ''}${passage}${to < text.length ? ' …' : ''}`;
}
