/** Input and output of a run, byte for byte. */
import { ApiError, type Client, type ResponseBody } from '@switchyard/contract/client.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine, cleanText } from '../../terminal/clean-text.ts';
import { cutText } from '../../terminal/cut-text.ts';
import { saveContent } from '../contents/save-content.ts';
import type { RunParams } from './follow-run.ts';

type ErrorLog = ResponseBody<'getRunOutput'>['error_log'];

/** Returns the download URL of the output, if the run has one, and the error with its log. A failed run of files has an empty archive. */
export async function requestOutput(
  client: Client,
  params: RunParams,
): Promise<{ url: string | undefined; errorLog: ErrorLog }> {
  const { body } = await client.call('getRunOutput', { params, query: { format: 'url' } });
  return { url: body.output ? body.url : undefined, errorLog: body.error_log };
}

const LAST_LINES = 20;
const LINE_CHARS_MAX = 500;

/** Returns the last lines of the standard error of a failed run, safe for a terminal; empty for callers who may not read it. */
export async function readLastLines(client: Client, params: RunParams): Promise<string> {
  const { errorLog } = await requestOutput(client, params).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 403) return { errorLog: undefined };
    throw error;
  });
  const lines = cleanText(errorLog?.stderr ?? '')
    .trimEnd()
    .split('\n');
  return lines
    .slice(-LAST_LINES)
    .map((line) => (line.length > LINE_CHARS_MAX ? `${cutText(line, LINE_CHARS_MAX)}…` : line))
    .join('\n');
}

/** Writes the output of a run. Throws for a run without one, with its error. */
export async function writeOutput(session: Session, params: RunParams, target: string): Promise<void> {
  const client = session.connect();
  const { url, errorLog } = await requestOutput(client, params);
  if (url !== undefined) return saveContent(session, url, target);
  if (errorLog)
    throw new CommandError(
      `Run ${params.run_id} has no output: ${cleanLine(errorLog.error)}`,
      EXIT_CODES.failure,
    );
  throw new CommandError(
    `Run ${params.run_id} has no output yet. Wait for it with: switchyard logs ${params.run_id} --follow`,
    EXIT_CODES.failure,
  );
}

export async function writeInput(session: Session, params: RunParams, target: string): Promise<void> {
  const { body } = await session.connect().call('getRunInput', { params, query: { format: 'url' } });
  if (typeof body === 'object' && body !== null && 'url' in body && typeof body.url === 'string')
    return saveContent(session, body.url, target);
  throw new CommandError('The response of the server has no download URL.', EXIT_CODES.unavailable);
}
