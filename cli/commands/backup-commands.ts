/** Commands on the server's machine: backup, restore and verification of a server's data. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES, type ExitCode } from '../errors/exit-codes.ts';
import type { Session } from '../session/session.ts';
import { age } from '../terminal/columns.ts';
import { parseWholeNumber } from './parse-values.ts';
import { defineList } from './resource/define-resource.ts';

const BACKUPS_MAX = 999_999;
/** The folder of the server's programs in a clone of the repository; the packed command line has none. */
const PROGRAMS = resolve(import.meta.dirname, '..', '..', 'server', 'ops', 'backup');

/** Defines `backup`, `backups`, `restore` and `verify`. */
export function defineBackupCommands(program: Command, session: Session): void {
  program
    .command('backup')
    .description('On the server: back its data up, while it runs.')
    .argument('<folder>', 'The folder of the backups.')
    .option(
      '--keep <count>',
      'Keep this many backups, and remove older ones.',
      parseWholeNumber(1, BACKUPS_MAX),
    )
    .option('--without-key', 'Leave the master key out.')
    .addHelpText('after', '\nExample:\n  switchyard backup /var/backups/switchyard --keep 7')
    .action(async (folder, { keep, withoutKey }) => {
      await runProgram(session, 'backup', [
        resolve(session.terminal.cwd, folder),
        ...(keep === undefined ? [] : ['--keep', String(keep)]),
        ...(withoutKey ? ['--without-key'] : []),
      ]);
    });
  defineBackups(program, session);
  program
    .command('restore')
    .description('On the server: restore a backup, or check it. The installation must be empty.')
    .argument('<backup>', 'A backup, or a folder of backups for its newest.')
    .option('--check', 'Check the backup, and restore nothing.')
    .addHelpText('after', '\nExample:\n  switchyard restore /var/backups/switchyard --check')
    .action((backup, { check }) =>
      runProgram(session, 'restore', [resolve(session.terminal.cwd, backup), ...(check ? ['--check'] : [])]),
    );
  program
    .command('verify')
    .description('On the server: find missing, changed and orphaned data. Reads every row and every blob.')
    .addHelpText('after', '\nExample:\n  switchyard verify')
    .action(() => runProgram(session, 'verify', []));
}

function defineBackups(program: Command, session: Session): void {
  defineList(program, session, {
    name: 'backups',
    operation: 'getBackups',
    text: 'List the backups of the server. The newest is first, each with what its last check found.',
    columns: {
      BACKUP: 'id',
      MADE: age('made_at'),
      SIZE: { value: ({ bytes }) => formatBytes(bytes), isNumeric: true },
      COPIED: { value: ({ copied_bytes }) => formatBytes(copied_bytes), isNumeric: true },
      KEY: ({ has_key }) => (has_key ? 'yes' : ''),
      CHECKED: {
        value: (backup) => backup.problem || age('verified_at')(backup),
        tone: ({ problem }) => (problem ? 'bad' : undefined),
      },
      FOLDER: 'folder',
    },
    empty: 'The server has no backups.',
  });
}

/** Runs a program of the server with the environment of this one, and ends with its exit code. */
async function runProgram(session: Session, name: string, args: string[]): Promise<void> {
  const { terminal } = session;
  const file = join(PROGRAMS, `${name}-command.ts`);
  if (!existsSync(file))
    throw new CommandError(
      `"switchyard ${name}" reads the database and the files of the server, so it runs on the server's machine, in the folder of Switchyard: npm run ${name} -- …`,
    );
  const child = spawn(process.execPath, [file, ...args], {
    cwd: terminal.cwd,
    env: { ...terminal.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: terminal.signal,
  });
  child.stdout.on('data', (chunk: Buffer) => terminal.out.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => terminal.err.write(chunk));
  const code = await new Promise<number | null>((end, fail) => child.on('error', fail).on('close', end));
  session.exitCode = toExitCode(code);
}

function toExitCode(code: number | null): ExitCode {
  if (code === 0) return EXIT_CODES.success;
  return code === EXIT_CODES.usage ? EXIT_CODES.usage : EXIT_CODES.failure;
}
