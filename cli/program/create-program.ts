/** The program `switchyard`: its global options, its commands, and the answer to wrong arguments. */
import { Command, CommanderError, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { COMMAND_GROUPS } from '../commands/command-groups.ts';
import { listGlobalOptions } from '../commands/global-options.ts';
import { EXIT_CODES, type ExitCode } from '../errors/exit-codes.ts';
import { reportError } from '../errors/report-error.ts';
import { createSession, type Session } from '../session/session.ts';
import { VERSION } from '../session/version.ts';
import { getColumns, type Terminal } from '../terminal/terminal.ts';

/** Returns the program with every command. */
export function createProgram(session: Session): Command {
  const { terminal } = session;
  const program = new Command('switchyard')
    .description('Push, run and test decision apps on a Switchyard server.')
    .version(VERSION, '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .helpCommand('help [command]', 'Print the help of a command.')
    .option('--profile <name>', 'Use the server of this profile.')
    .option(
      '-a, --app <id>',
      'Use this application; otherwise SWITCHYARD_APP, or that of the working folder.',
    )
    .option('--json', 'Print the response of the API as JSON.')
    .option('--select <expression>', 'Print what this JMESPath expression selects from that JSON.')
    .option('-q, --quiet', 'Print ids alone.')
    .configureHelp({
      showGlobalOptions: true,
      sortSubcommands: true,
      visibleGlobalOptions: (command): Option[] =>
        command.parent ? listGlobalOptions(findProgram(command)) : [],
    })
    // Otherwise the program would read options of its commands, such as `--version` of push.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => terminal.err.write(text),
      getOutHelpWidth: () => getColumns(terminal),
      getErrHelpWidth: () => getColumns(terminal),
    })
    .showHelpAfterError('Print the help with: switchyard help')
    .exitOverride();
  // Commands copy the settings above when they are created.
  for (const define of COMMAND_GROUPS) define(program, session);
  for (const command of program.commands) completeCommand(command, listGlobalOptions(program));
  program.hook('preAction', (_program, command) => {
    refuseUnknownCommand(command);
    session.configure(command.optsWithGlobals());
    // Some commands make a request of their options, which must not contain those of the program.
    for (const option of listGlobalOptions(program))
      command.setOptionValue(option.attributeName(), undefined);
  });
  return program;
}

function findProgram(command: CommandUnknownOpts): CommandUnknownOpts {
  return command.parent ? findProgram(command.parent) : command;
}

/** Adds the global options to a command and those below it. Their help shows them once, as those of the program. */
function completeCommand(command: CommandUnknownOpts, options: readonly Option[]): void {
  for (const { flags, description } of options) command.addOption(new Option(flags, description).hideHelp());
  // An unknown command below one with an action looks like an argument; `refuseUnknownCommand` has the better message.
  if (command.commands.length > 0 && command.registeredArguments.length === 0) command.allowExcessArguments();
  for (const child of command.commands) completeCommand(child, options);
}

function refuseUnknownCommand(command: CommandUnknownOpts): void {
  const [unknown] = command.args;
  if (unknown === undefined || command.commands.length === 0 || command.registeredArguments.length > 0)
    return;
  const names = command.commands.map((one) => one.name()).sort();
  command.error(`error: unknown command '${unknown}'; ${command.name()} has ${names.join(', ')}`);
}

/** Runs a command line and returns its exit code. Nothing is thrown. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const session = createSession(terminal);
  try {
    await createProgram(session).parseAsync(args, { from: 'user' });
    return session.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.success : EXIT_CODES.usage;
    if (terminal.signal.aborted) return EXIT_CODES.interrupted;
    return reportError(terminal, error, session.options.json ?? false);
  }
}
