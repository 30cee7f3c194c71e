/** The end of a run that a command has waited for: its result, or its error with the last lines of its log. */
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { measureTimes } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine, cleanText } from '../../terminal/clean-text.ts';
import { formatFields } from '../../terminal/table.ts';
import { saveContent } from '../contents/save-content.ts';
import type { RunParams } from './follow-run.ts';
import { requestOutput } from './run-content.ts';

const ERROR_LINES = 20;

/**
 * Prints the outcome of an ended run, and writes its output to a file, or to standard output with `-`. The exit code becomes 1
 * unless the run has succeeded.
 */
export async function printOutcome(
  session: Session,
  params: RunParams,
  { output: target, hasLog }: { output?: string | undefined; hasLog: boolean },
): Promise<void> {
  const { terminal, output } = session;
  const client = session.connect();
  const { body } = await client.call('getRunMetadata', { params });
  const status = body.status_v2;
  const line = `Run ${params.run_id} ${status === 'canceled' ? 'was canceled' : status} ${formatTimes(body.metadata)}.`;
  if (status !== 'succeeded') {
    session.exitCode = EXIT_CODES.failure;
    terminal.err.write(`${line}${body.error === '' ? '' : ` ${cleanLine(body.error)}`}\n`);
    if (!hasLog) await printLastLines(session, params);
  } else if (target !== undefined) {
    const { url } = await requestOutput(client, params);
    if (url !== undefined) await saveContent(session, url, target);
  }
  if (target === '-') return;
  const fields = Object.fromEntries(
    body.statistics.indicators.map(({ name, value }) => [cleanLine(name), value]),
  );
  output.print({
    json: body,
    text: () => (status === 'succeeded' ? `${line}\n${formatFields(fields)}` : ''),
    quiet: () => params.run_id,
  });
}

/** Returns what the app took and what the run waited: `after 948 ms, having waited 1 min 31 s`. */
function formatTimes(metadata: RunInformation['metadata']): string {
  const { ran, waited } = measureTimes(metadata, Date.parse(metadata.created_at) + metadata.duration);
  if (waited === null) return `after ${formatDuration(ran ?? 0)}`;
  if (ran === null) return `after ${formatDuration(waited)} in the queue`;
  return `after ${formatDuration(ran)}, having waited ${formatDuration(waited)}`;
}

async function printLastLines(session: Session, params: RunParams): Promise<void> {
  const { errorLog } = await requestOutput(session.connect(), params);
  const text = cleanText(errorLog?.stderr ?? '').trimEnd();
  if (text === '') return;
  session.terminal.err.write(`The end of its log:\n${text.split('\n').slice(-ERROR_LINES).join('\n')}\n`);
}
