/** A bar of three parts, such as wins, ties and losses. */
import type { Glyphs } from './glyphs.ts';

interface TallyPart {
  word: string;
  count: number;
}

const BAR_COLUMNS_MAX = 40;

/** Returns the bar and its key. Every part with a count has at least one column. */
export function drawTallyBar(
  parts: readonly [TallyPart, TallyPart, TallyPart],
  { width, glyphs }: { width: number; glyphs: Glyphs },
): string[] {
  const columns = Math.min(width, BAR_COLUMNS_MAX);
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  const sizes = parts.map(({ count }) =>
    count === 0 ? 0 : Math.max(1, Math.round((count / total) * columns)),
  );
  // Rounding can exceed the width; the longest part gives up the rest.
  const longest = sizes.indexOf(Math.max(...sizes));
  sizes[longest] =
    (sizes[longest] ?? 0) + (total === 0 ? 0 : columns - sizes.reduce((sum, size) => sum + size, 0));
  const key = parts.map(({ word, count }, index) => `${glyphs.fills[index]} ${count} ${word}`).join('   ');
  return [sizes.map((size, index) => (glyphs.fills[index] ?? '').repeat(size)).join(''), key];
}
