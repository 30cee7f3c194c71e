/** The commands of `switchyard` as data, from the definitions that the program runs; the documentation lists them. */
import { Readable } from 'node:stream';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { createSession } from '../session/session.ts';
import { createProgram } from './create-program.ts';
import { readExample } from './read-example.ts';

export interface CommandDescription {
  /** The words of the command after `switchyard`; empty for the program itself. */
  name: string;
  /** The heading of the help that has the command; empty for the program. */
  group: string;
  /** The whole line, such as `switchyard push [options] [folder] [application]`. */
  usage: string;
  description: string;
  arguments: readonly Term[];
  options: readonly Term[];
  /** The lines of the example of its help; empty without one. */
  example: string;
}

/** An argument or option with its description, and its default and allowed values. */
interface Term {
  term: string;
  description: string;
}

/** Returns the program and every command that can be run, in the order of the help: by group, then by name. */
export function describeCommands(): CommandDescription[] {
  const signal = new AbortController().signal;
  const terminal = {
    in: Readable.from([]),
    out: { write() {} },
    err: { write() {} },
    env: {},
    cwd: '/',
    signal,
  };
  return describe(createProgram(createSession(terminal)), { path: [], group: '' });
}

interface Place {
  path: readonly string[];
  group: string;
}

function describe(command: CommandUnknownOpts, { path, group }: Place): CommandDescription[] {
  const help = command.createHelp();
  const below = listChildren(command).flatMap((child) =>
    describe(child, { path: [...path, child.name()], group: group || child.helpGroup() }),
  );
  const example = readExample(command);
  // A command with commands below it and without an example only groups them; `runs` lists runs and has `runs get` below it.
  if (path.length > 0 && below.length > 0 && example === '') return below;
  const own: CommandDescription = {
    name: path.join(' '),
    group,
    usage: help.commandUsage(command),
    description: help.commandDescription(command),
    arguments: help.visibleArguments(command).map((argument) => ({
      term: help.argumentTerm(argument),
      description: help.argumentDescription(argument),
    })),
    options: help.visibleOptions(command).map((option) => ({
      term: help.optionTerm(option),
      description: help.optionDescription(option),
    })),
    example,
  };
  return [own, ...below];
}

/** Returns the commands below one, sorted by name within each group. */
function listChildren({ commands }: Pick<CommandUnknownOpts, 'commands'>): CommandUnknownOpts[] {
  const groups = [...new Set(commands.map((child) => child.helpGroup()))];
  return commands
    .filter((child) => child.name() !== 'help')
    .toSorted((a, b) => (a.name() < b.name() ? -1 : 1))
    .toSorted((a, b) => groups.indexOf(a.helpGroup()) - groups.indexOf(b.helpGroup()));
}
