/** The last line of a terminal, which changes while a command waits. Everything else is printed above it. */
import { cutText } from './cut-text.ts';
import type { Terminal } from './terminal.ts';

const REDRAW_MS = 100;
const ERASE_LINE = '\r\u001b[2K';

export interface LiveLine {
  /** false where nothing is drawn. */
  readonly isVisible: boolean;
  /** Sets the text of the line, as far as the terminal is wide. Draws it at most ten times a second. */
  update(text: string): void;
  /** Erases the line, calls `print`, and draws the line again. */
  printAbove(print: () => void): void;
  /** Removes the line. */
  end(): void;
}

/** Returns the line on standard error; one that shows nothing unless that is a terminal. */
export function createLiveLine({ err, env }: Pick<Terminal, 'err' | 'env'>, isEnabled = true): LiveLine {
  if (!isEnabled || err.isTTY !== true || env.TERM === 'dumb')
    return { isVisible: false, update() {}, printAbove: (print) => print(), end() {} };
  let text = '';
  let drawnAt = 0;
  const draw = (): void => {
    drawnAt = Date.now();
    // A line that wraps could not be erased.
    err.write(`${ERASE_LINE}${cutText(text, (err.columns || 80) - 1)}`);
  };
  return {
    isVisible: true,
    update(next) {
      text = next;
      if (Date.now() - drawnAt >= REDRAW_MS) draw();
    },
    printAbove(print) {
      err.write(ERASE_LINE);
      print();
      if (text !== '') draw();
    },
    end() {
      err.write(ERASE_LINE);
      text = '';
    },
  };
}
