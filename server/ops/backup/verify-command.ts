/**
 * `npm run verify`: verifies every row and every blob of the installation that the settings name. Exit code 0 means no
 * problems, 1 problems, 2 that it could not verify.
 */
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { systemClock } from '../../platform/clock.ts';
import { readStorageConfig } from '../../platform/config.ts';
import { errorMessage } from '../../platform/log.ts';
import { type VerificationResult, verifyInstallation } from './verify-installation.ts';

const USAGE = 'Usage: npm run verify';

function formatResult({
  tables,
  rows,
  blobs,
  bytes,
  trashedBlobs: trashed,
  problems,
}: VerificationResult): string {
  const widths = [0, 0];
  const lines = problems.map(({ kind, subject, detail }) => [kind, subject, detail]);
  for (const [kind = '', subject = ''] of lines) {
    widths[0] = Math.max(widths[0] ?? 0, kind.length);
    widths[1] = Math.max(widths[1] ?? 0, subject.length);
  }
  const read = `Read ${rows} rows of ${tables} tables and ${blobs} blobs (${formatBytes(bytes)}); ${trashed} blobs are in the trash.`;
  return [
    ...lines.map(([kind = '', subject = '', detail = '']) =>
      `${kind.padEnd(widths[0] ?? 0)}  ${subject.padEnd(widths[1] ?? 0)}  ${detail}`.trimEnd(),
    ),
    read,
    problems.length === 0
      ? 'Everything is there and unchanged.'
      : `${formatCount(problems.length, 'problem')}. Restore missing and changed blobs from a backup: its blobs/ has each under its SHA-256.`,
  ].join('\n');
}

async function main(args: readonly string[]): Promise<void> {
  if (args.length > 0) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = args[0] === '--help' ? 0 : 2;
    return;
  }
  try {
    const verified = await verifyInstallation(readStorageConfig(), { clock: systemClock });
    process.stdout.write(`${formatResult(verified)}\n`);
    process.exitCode = verified.problems.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n`);
    process.exitCode = 2;
  }
}

await main(process.argv.slice(2));
