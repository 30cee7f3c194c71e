/** The application as the last argument of every command that works in one application. */
import type { Argument, CommandUnknownOpts } from '@commander-js/extra-typings';

const NAME = 'application';

/**
 * Adds the argument to a command and those below it that can be run. A list of ids has no end, so a command with one has
 * only `--app`. The program reads the argument as `--app` before the action, which does not get it.
 */
export function addApplication(command: CommandUnknownOpts): void {
  const { registeredArguments: known, commands, options } = command;
  for (const child of commands) addApplication(child);
  const isGroup = commands.length > 0 && known.length + options.length === 0;
  if (isGroup || known.at(-1)?.variadic || known.some((one) => one.name() === NAME)) return;
  command.argument(`[${NAME}]`, 'The application; otherwise --app, or that of the working folder.');
}

/** Returns true for a command whose last argument is the application. */
export function hasApplication({
  registeredArguments: known,
}: Pick<CommandUnknownOpts, 'registeredArguments'>): boolean {
  const last = known.at(-1);
  return last?.name() === NAME && !last.required;
}

/** Removes the argument, and returns its value; undefined without one. */
export function takeApplication(command: CommandUnknownOpts): string | undefined {
  if (!hasApplication(command)) return undefined;
  const known = command.registeredArguments as Argument[];
  known.pop();
  return command.args[known.length];
}
