/** Confirmation of commands that delete or replace what no command brings back. */
import { createInterface } from 'node:readline/promises';
import { CommandError } from '../errors/command-error.ts';
import type { Session } from './session.ts';

/**
 * Returns after the person has typed the word, by default `yes`. `--yes` skips the question. Throws for any other answer,
 * and without a terminal: nobody can answer there, so the caller must have decided before.
 */
export async function confirm(
  { terminal }: Pick<Session, 'terminal'>,
  { what, word = 'yes', yes }: { what: string; word?: string; yes: boolean | undefined },
): Promise<void> {
  if (yes) return;
  if (!terminal.in.isTTY)
    throw new CommandError(`${what} Standard input is no terminal for an answer; give --yes to go ahead.`);
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
    `Nothing was changed: the answer was not ${word}. Give --yes to go ahead without a question.`,
  );
}
