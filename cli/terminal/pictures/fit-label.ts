/** Labels of pictures, in a column of a fixed width. */
import stringWidth from 'string-width';
import { cleanLine } from '../clean-text.ts';

/** Returns the text in exactly this many columns: filled with spaces, or cut with `..` at its end. */
export function fitLabel(text: string, columns: number): string {
  let label = '';
  let used = 0;
  const clean = cleanLine(text);
  const isCut = stringWidth(clean) > columns;
  for (const { segment } of new Intl.Segmenter().segment(clean)) {
    const size = stringWidth(segment);
    if (used + size > (isCut ? columns - 2 : columns)) break;
    label += segment;
    used += size;
  }
  if (isCut) return `${label}..${' '.repeat(Math.max(0, columns - used - 2))}`;
  return label + ' '.repeat(columns - used);
}
