/** Confirmation of commands that delete what no command brings back. */
import { createInterface } from 'node:readline/promises';
import { CommandError } from '../errors/command-error.ts';
import type { Session } from './session.ts';

/**
 * Returns after the person has typed the word, such as the id of the application. `--yes` skips the question. Throws for any
 * other answer, and for a standard input that ends without one.
 */
export async function confirmDeletion(
  { terminal }: Pick<Session, 'terminal'>,
  { what, word, yes }: { what: string; word: string; yes: boolean | undefined },
): Promise<void> {
  if (yes) return;
  const lines = createInterface({ input: terminal.in, signal: terminal.signal });
  try {
    terminal.err.write(`${what} Type ${word} to confirm: `);
    const { value } = await lines[Symbol.asyncIterator]().next();
    if (value?.trim() === word) return;
  } finally {
    lines.close();
  }
  terminal.err.write('\n');
  throw new CommandError(
    `Nothing was deleted: the answer was not ${word}. Give --yes to delete without a question.`,
  );
}
