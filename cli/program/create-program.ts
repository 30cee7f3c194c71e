/** The program `switchyard`: its global options, its commands, and the answer to wrong arguments. */
import { Command } from '@commander-js/extra-typings';
import { CommanderError } from 'commander';
import { COMMAND_GROUPS } from '../commands/command-groups.ts';
import { EXIT_CODES, type ExitCode } from '../errors/exit-codes.ts';
import { reportError } from '../errors/report-error.ts';
import { createSession, type Session } from '../session/session.ts';
import { getColumns, type Terminal } from '../terminal/terminal.ts';
import { VERSION } from './version.ts';

/** Returns the program with every command. */
function createProgram(session: Session): Command {
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
    .option('-q, --quiet', 'Print ids alone.')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: true })
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
  program.hook('preAction', (_program, command) => session.configure(command.optsWithGlobals()));
  return program;
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
