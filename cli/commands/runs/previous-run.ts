/** The run whose output a new run starts from, as `--previous` names it. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { PreviousOutput } from '../../development/local-run.ts';
import { CommandError } from '../../errors/command-error.ts';
import type { Session } from '../../session/session.ts';
import { downloadContent } from '../../transfer/download.ts';
import { requestOutput } from './run-content.ts';

const LATEST = 'latest';

export const PREVIOUS_DESCRIPTION = `Give the app the output of this earlier run beside its input; ${LATEST} is the newest succeeded run of the application.`;

/** Returns the id of the run that the option means. Throws CommandError when the application has no succeeded run. */
export async function findPreviousRun(
  session: Session,
  application_id: string,
  previous: string,
): Promise<RunId> {
  if (previous !== LATEST) return previous as RunId;
  const { body } = await session.connect().call('listRuns', {
    params: { application_id },
    query: { status: 'succeeded', limit: 1 },
  });
  const [newest] = body.runs;
  if (newest) return newest.id;
  throw new CommandError(
    `--previous is ${LATEST}; the application ${application_id} has no succeeded run. Leave the option out for the first run.`,
  );
}

/** Downloads the output of the run that the option means, for a run on this machine. Throws CommandError for a run without one. */
export async function downloadPrevious(session: Session, previous: string): Promise<PreviousOutput> {
  const application_id = session.findApplication();
  const run_id = await findPreviousRun(session, application_id, previous);
  const client = session.connect();
  const { body } = await client.call('getRunMetadata', { params: { application_id, run_id } });
  const { url } = await requestOutput(client, { application_id, run_id });
  if (url === undefined)
    throw new CommandError(
      `--previous is ${previous}: the run ${run_id} is ${body.status_v2} and has no output. Give a run that has one.`,
    );
  const chunks: Uint8Array[] = [];
  const keep = async (chunk: Uint8Array) => void chunks.push(chunk);
  await downloadContent(client, url, keep, { signal: session.terminal.signal });
  return { format: body.metadata.format.output.type, content: Buffer.concat(chunks) };
}
