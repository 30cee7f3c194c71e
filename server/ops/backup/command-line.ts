/** Output and exit codes of the commands `backup` and `restore`. */
import { ConfigError } from '../../platform/config.ts';
import { errorMessage } from '../../platform/log.ts';
import { BackupError } from './backup-error.ts';

/** Parses the arguments and prints the result of the work. Exit code 2 means wrong arguments, 1 a failure. */
export async function runCommand<Arguments>(
  usage: string,
  readArguments: (args: string[]) => Arguments,
  work: (parsed: Arguments) => Promise<string>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  let parsed: Arguments;
  try {
    parsed = readArguments(args);
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n${usage}\n`);
    process.exitCode = 2;
    return;
  }
  try {
    process.stdout.write(`${await work(parsed)}\n`);
  } catch (error) {
    const known = error instanceof BackupError || error instanceof ConfigError;
    process.stderr.write(`${known ? error.message : `The command failed: ${errorMessage(error)}`}\n`);
    process.exitCode = 1;
  }
}
