/** Labels of pictures, in a column of a fixed width. */
import stringWidth from 'string-width';
import { cleanLine } from '../clean-text.ts';
import { cutText } from '../cut-text.ts';

/** Returns the text in exactly this many columns: filled with spaces, or cut with `..` at its end. */
export function fitLabel(text: string, columns: number): string {
  const clean = cleanLine(text);
  const label = stringWidth(clean) <= columns ? clean : `${cutText(clean, columns - 2)}..`;
  return label + ' '.repeat(Math.max(0, columns - stringWidth(label)));
}
