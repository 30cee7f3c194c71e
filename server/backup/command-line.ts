/** What the two commands share: how they end, and how they speak. */
import { ConfigError } from '../config.ts';
import { errorMessage } from '../log.ts';
import { BackupError } from './backup-error.ts';

/** Prints what the work answers, or why there is nothing; exit code 2 for wrong arguments, 1 for what went wrong. */
export async function runCommand<Asked>(
  usage: string,
  readArguments: (args: string[]) => Asked,
  work: (asked: Asked) => Promise<string>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  let asked: Asked;
  try {
    asked = readArguments(args);
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n${usage}\n`);
    process.exitCode = 2;
    return;
  }
  try {
    process.stdout.write(`${await work(asked)}\n`);
  } catch (error) {
    const known = error instanceof BackupError || error instanceof ConfigError;
    process.stderr.write(`${known ? error.message : `It failed: ${errorMessage(error)}`}\n`);
    process.exitCode = 1;
  }
}

/** Bytes for people. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
}
