/** Colours and weights of text at a terminal. Colour never carries a meaning that the words do not have. */
import { styleText } from 'node:util';
import type { Terminal } from './terminal.ts';

export type Tone = 'good' | 'bad' | 'active' | 'quiet' | 'strong';

/** Returns the text in a tone, or as it is. */
export type Style = (tone: Tone, text: string) => string;

const FORMATS = { good: 'green', bad: 'red', active: 'cyan', quiet: 'dim', strong: 'bold' } as const;

/**
 * Returns the style for standard output: none for a file or a pipe, with `NO_COLOR` (https://no-color.org) and on a dumb
 * terminal. `FORCE_COLOR` uses colours in any case.
 */
export function createStyle({ out, env }: Pick<Terminal, 'out' | 'env'>): Style {
  const isColored = env.FORCE_COLOR
    ? env.FORCE_COLOR !== '0'
    : out.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  if (!isColored) return (_tone, text) => text;
  return (tone, text) => styleText(FORMATS[tone], text, { validateStream: false });
}
