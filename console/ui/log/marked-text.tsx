import { splitAtMatches } from './find-matches.ts';

/** A text in which each match of the searched text is marked. */
export function MarkedText({ text, searched }: { text: string; searched: string }) {
  return splitAtMatches(text, searched).map((part, position) =>
    position % 2 === 1 ? <mark key={position}>{part}</mark> : part,
  );
}
