/**
 * `npm run audit -- verify`: verifies the chain of the audit log in the database that the settings name, also while a
 * server runs. Exits with 0 when the chain is intact, 1 when it is not, and 2 when it could not be verified.
 *
 *     npm run audit -- verify [--anchor <number>:<hash>]
 */
import { parseArgs } from 'node:util';
import type { AuditHead } from '@switchyard/contract/account/audit.ts';
import { parseAnchor } from '@switchyard/contract/account/proofs/audit-chain.ts';
import { readStorageConfig } from '../../platform/config.ts';
import { openReadOnly } from '../../platform/database/maintenance/snapshot-connection.ts';
import { sqlitePath } from '../../platform/database/open.ts';
import { errorMessage } from '../../platform/log.ts';
import { verifyChain } from './verify-chain.ts';

const USAGE = 'Usage: npm run audit -- verify [--anchor <number>:<hash>]';

class UsageError extends Error {}

function readAnchor(text: string | undefined): AuditHead | null {
  const anchor = text === undefined ? null : parseAnchor(text);
  if (text !== undefined && anchor === null)
    throw new UsageError(
      `--anchor is "${text}"; it must be a number, a colon and a hash of 64 hexadecimal digits, as verify prints them.\n${USAGE}`,
    );
  return anchor;
}

function parseArguments(args: readonly string[]): AuditHead | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { anchor: { type: 'string' } },
      allowPositionals: true,
    });
    if (positionals.length !== 1 || positionals[0] !== 'verify') throw new UsageError(USAGE);
    return readAnchor(values.anchor);
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${errorMessage(error)}\n${USAGE}`);
  }
}

/**
 * Runs the command and returns its exit code and output. Throws an error with a message for the user when the arguments or
 * settings are wrong, or the database cannot be opened.
 */
export async function runVerifyCommand(
  args: readonly string[],
  env?: Record<string, string | undefined>,
): Promise<{ code: 0 | 1; output: string }> {
  const anchor = parseArguments(args);
  const config = readStorageConfig(env);
  const reader = await openReadOnly(config.postgres ?? sqlitePath(config.data));
  try {
    const { entries, last, unchained, problem } = await verifyChain(reader.read, anchor);
    if (problem !== null)
      return { code: 1, output: `${problem}\nThe ${entries} entries before it are intact.\n` };
    const rest = unchained === 0 ? '' : `; ${unchained} more are not chained yet`;
    return { code: 0, output: `${entries} entries, chain whole, last ${last.number}:${last.hash}${rest}\n` };
  } finally {
    await reader.close();
  }
}

if (import.meta.main) {
  runVerifyCommand(process.argv.slice(2)).then(
    ({ code, output }) => {
      process.stdout.write(output);
      process.exitCode = code;
    },
    (error: unknown) => {
      process.stderr.write(`${errorMessage(error)}\n`);
      process.exitCode = 2;
    },
  );
}
