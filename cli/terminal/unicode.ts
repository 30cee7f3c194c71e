/** Characters that a terminal can show. */
import type { Terminal } from './terminal.ts';

/** Returns true when the locale of the terminal is UTF-8, so that it shows block and braille characters. */
export function supportsUnicode({ env }: Pick<Terminal, 'env'>): boolean {
  // The order of POSIX: LC_ALL overrides LC_CTYPE, which overrides LANG.
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}
