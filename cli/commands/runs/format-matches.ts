/** Lines of a log that match a search, with their numbers. */
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import type { Style } from '../../terminal/style.ts';

type LogMatch = ResponseBody<'searchRunLog'>['items'][number];

/** Formats the matches, whose line numbers ascend: a line for each, the number before the text. */
export function formatMatches(items: readonly LogMatch[], style: Style): string {
  // The last number is the longest. A log can have more lines than a call can have arguments.
  const width = String(items.at(-1)?.line ?? 0).length;
  return items
    .map(({ line, level, log, truncated }) => {
      const text = `${cleanLine(log)}${truncated ? ' …' : ''}`;
      const number = style('quiet', String(line).padStart(width));
      return `${number}  ${level === 'error' ? style('bad', text) : text}\n`;
    })
    .join('');
}
