/** The program `switchyard`: its global options, its commands, and the answer to wrong arguments. */
import { Command, CommanderError, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { distance } from 'fastest-levenshtein';
import { hasApplication, takeApplication } from '../commands/application-argument.ts';
import { defineCommands, FIRST_GROUP } from '../commands/command-groups.ts';
import { listGlobalOptions } from '../commands/global-options.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES, type ExitCode } from '../errors/exit-codes.ts';
import { reportError } from '../errors/report-error.ts';
import { createSession, type GlobalOptions, type Session } from '../session/session.ts';
import { VERSION } from '../session/version.ts';
import { getColumns, type Terminal } from '../terminal/terminal.ts';
import { readExample } from './read-example.ts';

/** Returns the program with every command. With `isSilent`, wrong arguments print nothing and are errors alone. */
export function createProgram(session: Session, { isSilent = false } = {}): Command {
  const { terminal } = session;
  const program = new Command('switchyard')
    .description('Push, run and test decision apps on a Switchyard server.')
    .version(VERSION, '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .commandsGroup(FIRST_GROUP)
    .helpCommand('help [command]', 'Print the help of a command.')
    .option('--profile <name>', 'Use the server of this profile.')
    .option(
      '-a, --app <id>',
      'Use this application, as the last argument does; otherwise SWITCHYARD_APP, or that of the folder.',
    )
    .option('--json', 'Print the response of the API as JSON.')
    .option(
      '--select <expression>',
      'Print what this JMESPath expression selects: a value a line, objects as JSON, and rows with tabs, or with --json as JSON.',
    )
    .option('-q, --quiet', 'Print ids alone.')
    .configureHelp({
      showGlobalOptions: true,
      sortSubcommands: true,
      // One line for each command, so that all fit on two screens. The help of the command has the rest.
      subcommandTerm: (command) => command.name(),
      subcommandDescription: (command) => command.description().split(/(?<=\.) /)[0] ?? '',
      visibleGlobalOptions: (command): Option[] =>
        command.parent ? listGlobalOptions(findProgram(command)) : [],
    })
    // Otherwise the program would read options of its commands, such as `--version` of push.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => isSilent || terminal.err.write(text),
      getOutHelpWidth: () => getColumns(terminal),
      getErrHelpWidth: () => getColumns(terminal),
    })
    .showHelpAfterError('Print the help with: switchyard --help')
    .exitOverride();
  // Commands copy the settings above when they are created.
  defineCommands(program, session);
  for (const command of program.commands) completeCommand(command, listGlobalOptions(program));
  program.hook('preAction', (_program, command) => {
    refuseUnknownCommand(command);
    session.configure(readOptions(command));
    // Some commands make a request of their options, which must not contain those of the program.
    for (const option of listGlobalOptions(program))
      command.setOptionValue(option.attributeName(), undefined);
  });
  return program;
}

function findProgram(command: CommandUnknownOpts): CommandUnknownOpts {
  return command.parent ? findProgram(command.parent) : command;
}

/** Names of commands that a group runs without a name. */
const DEFAULT_COMMANDS: ReadonlySet<string> = new Set(['list', 'get']);

/** Adds the global options to a command and those below it. Their help shows them once, as those of the program. */
function completeCommand(command: CommandUnknownOpts, options: readonly Option[]): void {
  command.showHelpAfterError(`Print the help with: switchyard ${listWords(command).join(' ')} --help`);
  if (command.commands.length > 0 && readExample(command) === '')
    command.addHelpText('after', () => `\nExamples of its commands:\n${listExamples(command)}`);
  for (const { flags, description } of options) command.addOption(new Option(flags, description).hideHelp());
  // An unknown command below one with an action looks like an argument; `refuseUnknownCommand` has the better message.
  if (command.commands.length > 0 && command.registeredArguments.length === 0) command.allowExcessArguments();
  // So does one in place of the default command of a group.
  if (DEFAULT_COMMANDS.has(command.name()) && command.parent?.parent) command.allowExcessArguments();
  for (const child of command.commands) completeCommand(child, options);
}

/** The words of a command after `switchyard`. */
function listWords(command: CommandUnknownOpts): string[] {
  return command.parent ? [...listWords(command.parent), command.name()] : [];
}

/** The first line of the example of each command below one. */
function listExamples({ commands }: CommandUnknownOpts): string {
  const lines = commands.map((child) => readExample(child).split('\n')[0] ?? '');
  return lines
    .filter((line) => line !== '')
    .map((line) => `  ${line}\n`)
    .join('')
    .trimEnd();
}

/** Returns the options of the command, with the application that is its last argument. */
function readOptions(command: CommandUnknownOpts): GlobalOptions {
  const options: GlobalOptions = command.optsWithGlobals();
  const app = takeApplication(command);
  if (app !== undefined && options.app !== undefined && options.app !== app)
    throw new CommandError(
      `The application is "${app}" as the last argument and "${options.app}" with --app; give one of them.`,
    );
  return app === undefined ? options : { ...options, app };
}

function refuseUnknownCommand(command: CommandUnknownOpts): void {
  const { args, parent, registeredArguments: known } = command;
  const word = parent?.args[0];
  if (args.length <= known.length || known.at(-1)?.variadic) {
    // Behind the name of a group, an application may be a command with a mistake.
    const group = command.commands.length > 0 ? command : word === command.name() ? undefined : parent;
    const [first = ''] = args;
    if (group && known.length === 1 && hasApplication(command) && resemblesCommand(group, first))
      refuseWord(group, first);
    return;
  }
  if (command.commands.length > 0) refuseWord(command, args[0] ?? '');
  else if (parent && word !== undefined && word !== command.name()) refuseWord(parent, word);
  else
    command.error(
      `error: too many arguments for '${command.name()}'. Expected ${known.length} but got ${args.length}.`,
    );
}

function resemblesCommand({ commands }: CommandUnknownOpts, word: string): boolean {
  const sort = (text: string) => [...text].sort().join('');
  return commands
    .map((one) => one.name())
    .some((name) => sort(name) === sort(word) || distance(name, word) <= (word.length > 4 ? 2 : 1));
}

function refuseWord(group: CommandUnknownOpts, word: string): void {
  const names = group.commands.map((one) => one.name()).sort();
  group.error(`error: unknown command '${word}'; ${group.name()} has ${names.join(', ')}`);
}

/** Runs a command line and returns its exit code. Nothing is thrown. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const session = createSession(terminal);
  // Wrong arguments end the program before it has read its options.
  const isJson = args.includes('--json');
  try {
    const program = createProgram(session, { isSilent: isJson });
    await program.parseAsync(translateHelp(program, args), { from: 'user' });
    return session.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT_CODES.success;
      return isJson ? reportError(terminal, describeUsage(error), true) : EXIT_CODES.usage;
    }
    if (terminal.signal.aborted) return EXIT_CODES.interrupted;
    return reportError(terminal, error, session.options.json ?? false);
  }
}

/**
 * Returns `runs get --help` for `help runs get`. Commander prints the help of the program for a word that is no command; here
 * the word is parsed as a command, which names the nearest one.
 */
function translateHelp(program: CommandUnknownOpts, args: readonly string[]): readonly string[] {
  const [first, ...words] = args;
  if (first !== 'help' || words.length === 0 || words[0]?.startsWith('-')) return args;
  const known: string[] = [];
  for (let command: CommandUnknownOpts | undefined = program; command; ) {
    command = command.commands.find((child) => child.name() === words[known.length]);
    if (command) known.push(command.name());
  }
  return known.length === 0 ? words.slice(0, 1) : [...known, '--help'];
}

function describeUsage({ code, message }: CommanderError): CommandError {
  return new CommandError(
    code === 'commander.help'
      ? 'A command is missing. Print the commands with: switchyard --help'
      : message.replace(/^error: /, ''),
  );
}
