/** Commands that a message suggests, with the options by which they reach the same server and application. */
import type { Session } from './session.ts';

/** Returns the text as one argument for a shell: in quotes unless it needs none. */
export function quoteArgument(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the command line `switchyard …` for a shell. */
export function formatHint({ options }: Pick<Session, 'options'>, command: string): string {
  return [
    `switchyard ${command}`,
    ...(options.app === undefined ? [] : [`--app ${options.app}`]),
    ...(options.profile === undefined ? [] : [`--profile ${options.profile}`]),
  ].join(' ');
}
