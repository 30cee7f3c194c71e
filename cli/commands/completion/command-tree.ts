/** The commands and options of the program, as completions need them. */
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { listGlobalOptions } from '../global-options.ts';

/** A command with the commands below it. */
export interface CommandNode {
  /** The names from the program on, such as `/instances/create`; empty for the program. */
  path: string;
  /** The commands below it, the values of its arguments where they are one of a list, and its options. */
  words: readonly Word[];
  options: readonly CommandOption[];
  hasCommands: boolean;
  /** true: the first argument is the id of an application. */
  hasApplicationArgument: boolean;
}

/** A word that may stand in the line, with its description. */
export interface Word {
  text: string;
  description: string;
}

export interface CommandOption {
  short: string | undefined;
  long: string | undefined;
  description: string;
  /** true: the next word is the value, and no command. */
  hasValue: boolean;
  /** The values where they are one of a list, otherwise empty. */
  values: readonly string[];
}

/** Commander adds it to every command by itself. */
const HELP = new Option('-h, --help', 'Print the help.');

type CommandPart = Pick<
  CommandUnknownOpts,
  'name' | 'commands' | 'options' | 'description' | 'registeredArguments'
>;

/** Returns the program and all commands below it. Options of the program belong to every command. */
export function listCommandNodes(program: CommandPart): CommandNode[] {
  const shared = listGlobalOptions(program);
  const visit = (command: CommandPart, path: string): CommandNode[] => {
    const own = command === program ? program.options : command.options.filter(({ hidden }) => !hidden);
    const options = [...new Map([...own, ...shared, HELP].map((option) => [option.flags, option])).values()];
    const words = [
      ...command.commands.map((child) => ({ text: child.name(), description: child.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((text) => ({ text, description })),
      ),
      ...options.map(({ long, flags, description }) => ({ text: long ?? flags, description })),
    ];
    const node: CommandNode = {
      path,
      words: words.sort((a, b) => (a.text < b.text ? -1 : 1)),
      options: options.map(describeOption),
      hasCommands: command.commands.length > 0,
      hasApplicationArgument: command.registeredArguments[0]?.name() === 'application',
    };
    return [node, ...command.commands.flatMap((child) => visit(child, `${path}/${child.name()}`))];
  };
  return visit(program, '');
}

function describeOption({
  short,
  long,
  description,
  required,
  optional,
  argChoices = [],
}: Option): CommandOption {
  return { short, long, description, hasValue: required || optional, values: argChoices };
}
