/**
 * `npm run verify`: verifies every row and every blob of the installation that the settings name. Ends with 0 when all is
 * well, 1 when there are problems, 2 when it could not look.
 */
import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { errorMessage } from '../log.ts';
import { formatBytes } from './command-line.ts';
import { type VerificationResult, verifyInstallation } from './verify-installation.ts';

const USAGE = 'Usage: npm run verify';

function table({ tables, rows, blobs, bytes, trashedBlobs: trashed, problems }: VerificationResult): string {
  const widths = [0, 0];
  const lines = problems.map(({ kind, subject: what, detail }) => [kind, what, detail]);
  for (const [kind = '', what = ''] of lines) {
    widths[0] = Math.max(widths[0] ?? 0, kind.length);
    widths[1] = Math.max(widths[1] ?? 0, what.length);
  }
  const read = `Read ${rows} rows of ${tables} tables and ${blobs} blobs (${formatBytes(bytes)}); ${trashed} blobs are in the trash.`;
  return [
    ...lines.map(([kind = '', what = '', detail = '']) =>
      `${kind.padEnd(widths[0] ?? 0)}  ${what.padEnd(widths[1] ?? 0)}  ${detail}`.trimEnd(),
    ),
    read,
    problems.length === 0
      ? 'Everything is there and unchanged.'
      : `${problems.length} problem${problems.length === 1 ? '' : 's'}. Restore missing and changed blobs from a backup: its blobs/ has each under its SHA-256.`,
  ].join('\n');
}

async function main(args: readonly string[]): Promise<void> {
  if (args.length > 0) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = args[0] === '--help' ? 0 : 2;
    return;
  }
  try {
    const verified = await verifyInstallation(readConfig(), { clock: systemClock });
    process.stdout.write(`${table(verified)}\n`);
    process.exitCode = verified.problems.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n`);
    process.exitCode = 2;
  }
}

await main(process.argv.slice(2));
