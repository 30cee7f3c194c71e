/** Commands that a message suggests, with the options by which they reach the same server and application. */
import type { Session } from '../session/session.ts';

/** Returns the command line `switchyard …` for a shell. */
export function formatHint({ options }: Pick<Session, 'options'>, command: string): string {
  return [
    `switchyard ${command}`,
    ...(options.app === undefined ? [] : [`--app ${options.app}`]),
    ...(options.profile === undefined ? [] : [`--profile ${options.profile}`]),
  ].join(' ');
}
