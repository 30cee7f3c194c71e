/** The end of commands that delete several resources. */
import type { Session } from '../session/session.ts';
import { cleanLine } from '../terminal/clean-text.ts';

/** Prints the ids of the deleted resources. */
export function printDeleted({ output }: Pick<Session, 'output'>, deleted: readonly string[]): void {
  output.print({
    json: { deleted },
    text: () => `Deleted ${deleted.map(cleanLine).join(', ')}.\n`,
    quiet: () => deleted,
  });
}
