/** Prints the error that ended a command, and returns the exit code. */
import { ApiError } from '@switchyard/contract/client.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { cleanText } from '../terminal/clean-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { CommandError } from './command-error.ts';
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';

/** Codes of TLS for a chain that ends at an authority which this machine does not know. */
const UNTRUSTED_CODES = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

interface Problem {
  message: string;
  exitCode: ExitCode;
  /** The status of the response, when the server refused. */
  status?: number;
}

/** Prints the error to standard error: a sentence, or an object with `--json`. An unexpected error has its stack trace. */
export function reportError({ err }: Pick<Terminal, 'err'>, error: unknown, isJson: boolean): ExitCode {
  const { message, exitCode, status } = describeProblem(error);
  err.write(
    isJson
      ? `${JSON.stringify({ error: { message, exit_code: exitCode, ...(status && { status }) } })}\n`
      : `${message}\n`,
  );
  return exitCode;
}

function describeProblem(error: unknown): Problem {
  if (error instanceof ApiError) return describeProblem(describeRefusal(error.status, error.reason));
  if (error instanceof Refusal) return error;
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode };
  if (isFailedFetch(error)) return { message: formatError(error), exitCode: EXIT_CODES.unavailable };
  if (error instanceof Error && 'code' in error && 'syscall' in error)
    return { message: error.message, exitCode: EXIT_CODES.usage };
  return {
    message: error instanceof Error ? error.message : String(error),
    exitCode: EXIT_CODES.failure,
  };
}

/** A response that refuses the request. */
class Refusal extends CommandError {
  readonly status: number;

  constructor(message: string, exitCode: ExitCode, status: number) {
    super(message, exitCode);
    this.status = status;
  }
}

/** Returns the error for a response that refuses the request: its sentence, and the exit code for its status. */
export function describeRefusal(status: number, body: string): CommandError {
  const message = cleanText(readMessage(body));
  if (status === 401)
    return new Refusal(`${message}\nSign in with: switchyard login`, EXIT_CODES.forbidden, status);
  if (status === 403) return new Refusal(message, EXIT_CODES.forbidden, status);
  if (status === 404) return new Refusal(message, EXIT_CODES.notFound, status);
  return new Refusal(message, status >= 500 ? EXIT_CODES.unavailable : EXIT_CODES.refused, status);
}

/** Returns the sentence of the server in a body of JSON, or the body. */
function readMessage(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    if (isRecord(parsed) && typeof parsed.error === 'string') return parsed.error;
  } catch {}
  return body === '' ? 'The server gave no reason.' : body;
}

function isFailedFetch(error: unknown): error is Error {
  return error instanceof TypeError && ['fetch failed', 'terminated'].includes(error.message);
}

/** Formats the first error of a server that does not answer, and the time for which the request is repeated. */
export function formatOutage(error: unknown, waitMs: number): string {
  const reason =
    error instanceof ApiError ? `The server returned ${error.status}: ${error.reason}` : formatError(error);
  return cleanText(`${reason} Trying again for ${formatDuration(waitMs)}.`);
}

/** Formats an error for the terminal. `fetch` reports only that it failed; its cause names the reason. */
export function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, message } = error;
  if (message === 'terminated') return 'The connection was lost.';
  if (message !== 'fetch failed' || !(cause instanceof Error)) return message;
  const code = 'code' in cause ? String(cause.code) : '';
  if (UNTRUSTED_CODES.has(code))
    return `The certificate of the server is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to the certificate of its authority; for a self-signed server that is tls/authority.pem in its data folder.`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return 'The server does not speak TLS at this address. Use http:// instead of https://, or start the server with HTTPS.';
  return `The server cannot be reached: ${cause.message || code}.`;
}
