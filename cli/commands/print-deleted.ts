/** The end of commands that delete resources. */
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

/** Prints the id of the one deleted resource, with its kind, such as `webhook`. */
export function printDeletedOne({ output }: Pick<Session, 'output'>, kind: string, id: string): void {
  output.print({
    json: { deleted: id },
    text: () => `Deleted ${kind} ${cleanLine(id)}.\n`,
    quiet: () => id,
  });
}
