/** The characters of pictures: line drawing for a UTF-8 locale, ASCII for others. */
import type { Terminal } from '../terminal.ts';
import { supportsUnicode } from '../unicode.ts';

/** The characters of pictures. Every meaning has its own character, so that no picture needs colour. */
export interface Glyphs {
  /** Horizontal and vertical line. */
  line: string;
  zero: string;
  /** End of an interval, and of one that is cut off there. */
  start: string;
  end: string;
  cutStart: string;
  cutEnd: string;
  margin: string;
  /** An estimate or a counted value, and one that does not count. */
  dot: string;
  hollow: string;
  /** An input that one side failed on. */
  cross: string;
  /** Fills of the parts of a bar. */
  fills: readonly [first: string, second: string, third: string];
  /** The sign of numbers, which the formatter of numbers writes as `−`. */
  minus: string;
}

const LINE_DRAWING: Glyphs = {
  line: '─',
  zero: '│',
  start: '├',
  end: '┤',
  cutStart: '◄',
  cutEnd: '►',
  margin: '┊',
  dot: '●',
  hollow: '○',
  cross: '×',
  fills: ['█', '▒', '░'],
  minus: '−',
};

const ASCII: Glyphs = {
  line: '-',
  zero: '|',
  start: '[',
  end: ']',
  cutStart: '<',
  cutEnd: '>',
  margin: ':',
  dot: 'o',
  hollow: '.',
  cross: 'x',
  fills: ['#', '=', '.'],
  minus: '-',
};

/** Returns the characters for the locale of the environment. Windows Terminal has UTF-8 without a locale. */
export function chooseGlyphs(env: Terminal['env']): Glyphs {
  return supportsUnicode({ env }) || env.WT_SESSION ? LINE_DRAWING : ASCII;
}
