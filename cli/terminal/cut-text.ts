/** Text that fits into columns of a terminal. */
import stringWidth from 'string-width';

/** Returns the longest beginning of the text that has at most this many columns. */
export function cutText(text: string, columns: number): string {
  let cut = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += stringWidth(segment);
    if (used > columns) break;
    cut += segment;
  }
  return cut;
}
