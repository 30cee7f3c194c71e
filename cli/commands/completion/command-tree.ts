/** The commands and options of the program, as completions need them. */
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { listGlobalOptions } from '../global-options.ts';

/** A command with the commands below it. */
export interface CommandNode {
  /** The names from the program on, such as `/instances/create`; empty for the program. */
  path: string;
  words: readonly Word[];
  /** The options whose value is one of a list. */
  choices: readonly { flags: readonly string[]; values: readonly string[] }[];
  /** true: the first argument is the id of an application. */
  hasApplicationArgument: boolean;
  /** The options that take a value, so that the next word is no command. */
  valueFlags: readonly string[];
}

/** A name of a command or an option. */
export interface Word {
  text: string;
  description: string;
  isCommand: boolean;
}

type CommandPart = Pick<
  CommandUnknownOpts,
  'name' | 'commands' | 'options' | 'description' | 'registeredArguments'
>;

/** Returns the program and all commands below it. Options of the program belong to every command. */
export function listCommandNodes(program: CommandPart): CommandNode[] {
  const shared = listGlobalOptions(program);
  const visit = (command: CommandPart, path: string): CommandNode[] => {
    const own = command === program ? program.options : command.options.filter(({ hidden }) => !hidden);
    const options = [...new Map([...own, ...shared].map((option) => [option.flags, option])).values()];
    const words = [
      ...command.commands.map((child) => ({
        ...{ text: child.name(), description: child.description(), isCommand: true },
      })),
      ...options.map((option) => ({
        ...{ text: option.long ?? option.flags, description: option.description, isCommand: false },
      })),
      { text: '--help', description: 'Print the help.', isCommand: false },
    ];
    const node: CommandNode = {
      path,
      words: words.sort((a, b) => (a.text < b.text ? -1 : 1)),
      choices: options.flatMap((option) =>
        option.argChoices ? [{ flags: listFlags(option), values: option.argChoices }] : [],
      ),
      hasApplicationArgument: command.registeredArguments[0]?.name() === 'application',
      valueFlags: options.filter((option) => option.required || option.optional).flatMap(listFlags),
    };
    return [node, ...command.commands.flatMap((child) => visit(child, `${path}/${child.name()}`))];
  };
  return visit(program, '');
}

function listFlags({ short, long }: Pick<Option, 'short' | 'long'>): string[] {
  return [short, long].filter((flag) => flag !== undefined);
}
