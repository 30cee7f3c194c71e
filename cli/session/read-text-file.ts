/** Files that a caller names. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError } from '../errors/command-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Returns the text of a file. Throws CommandError with this message when it cannot be read. */
export function readTextFile({ cwd }: Pick<Terminal, 'cwd'>, name: string, message: string): string {
  try {
    return readFileSync(resolve(cwd, name), 'utf8');
  } catch {
    throw new CommandError(message);
  }
}
