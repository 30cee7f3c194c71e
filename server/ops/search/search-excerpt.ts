import { splitWords } from './search-words.ts';

const PASSAGE_CHARS_MAX = 220;

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
