/** Finds text in lines, in any case. Pure. */
import { escapeRegExp } from '@switchyard/contract/site/regular-expressions.ts';

/** Returns the pattern of a searched text; null for an empty one. */
export function createTextPattern(text: string): RegExp | null {
  return text === '' ? null : new RegExp(escapeRegExp(text), 'gi');
}

/** Returns the line as parts that alternate between other text and matches, first other text, which may be empty. */
export function splitAtMatches(line: string, text: string): string[] {
  const pattern = createTextPattern(text);
  if (pattern === null) return [line];
  const parts: string[] = [];
  let from = 0;
  for (const { index, 0: match } of line.matchAll(pattern)) {
    parts.push(line.slice(from, index), match);
    from = index + match.length;
  }
  return [...parts, line.slice(from)];
}

/** Returns the positions in the list of those of the values that it has; both are in ascending order. */
export function findPositions(list: readonly number[], values: readonly number[]): number[] {
  const positions: number[] = [];
  let position = 0;
  for (const value of values) {
    while ((list[position] ?? Number.POSITIVE_INFINITY) < value) position += 1;
    if (list[position] === value) positions.push(position);
  }
  return positions;
}
