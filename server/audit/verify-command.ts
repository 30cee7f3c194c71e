/**
 * `npm run audit -- verify`: walks the chain of the audit log, on the database that the settings name, while a server runs
 * or not. Ends with 0 when it is whole, 1 when it is not, 2 when it could not be looked at.
 *
 *     npm run audit -- verify [--anchor <number>:<hash>]
 */
import { parseArgs } from 'node:util';
import type { AuditHead } from '@switchyard/contract/account/audit.ts';
import { readConfig } from '../config.ts';
import { openReadOnly } from '../database/maintenance/snapshot-connection.ts';
import { sqlitePath } from '../database/open.ts';
import { errorMessage } from '../log.ts';
import { verifyChain } from './verify-chain.ts';

const USAGE = 'Usage: npm run audit -- verify [--anchor <number>:<hash>]';

class UsageError extends Error {}

function readAnchor(text: string | undefined): AuditHead | null {
  if (text === undefined) return null;
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number === undefined || hash === undefined)
    throw new UsageError(
      `--anchor is "${text}"; it must be a number, a colon and a hash of 64 hexadecimal digits, as verify printed them.\n${USAGE}`,
    );
  return { number: Number(number), hash };
}

function readAnchorFrom(args: readonly string[]): AuditHead | null {
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
 * The command as a function: answers what it ends with and what it says. Throws what keeps it from looking: wrong arguments
 * or settings, a database that cannot be opened.
 */
export async function runVerifyCommand(
  args: readonly string[],
  env?: Record<string, string | undefined>,
): Promise<{ code: 0 | 1; said: string }> {
  const anchor = readAnchorFrom(args);
  const config = readConfig(env);
  const reader = await openReadOnly(config.postgres ?? sqlitePath(config.data));
  try {
    const { entries, last, unchained, problem: wrong } = await verifyChain(reader.read, anchor);
    if (wrong !== null)
      return { code: 1, said: `${wrong}\nThe ${entries} entries before it are as they were.\n` };
    const rest = unchained === 0 ? '' : `; ${unchained} more are not chained yet`;
    return { code: 0, said: `${entries} entries, chain whole, last ${last.number}:${last.hash}${rest}\n` };
  } finally {
    await reader.close();
  }
}

if (import.meta.main) {
  runVerifyCommand(process.argv.slice(2)).then(
    ({ code, said }) => {
      process.stdout.write(said);
      process.exitCode = code;
    },
    (error: unknown) => {
      process.stderr.write(`${errorMessage(error)}\n`);
      process.exitCode = 2;
    },
  );
}
