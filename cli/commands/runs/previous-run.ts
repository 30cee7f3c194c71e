/** The run whose output a new run starts from, as `--previous` names it. */
import type { Client } from '@switchyard/contract/client.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { PreviousOutput } from '../../development/local-run.ts';
import { CommandError } from '../../errors/command-error.ts';
import { findOrNone } from '../../errors/find-or-none.ts';
import type { Session } from '../../session/session.ts';
import { downloadContent } from '../../transfer/download.ts';
import { requestOutput } from './run-content.ts';

const LATEST = 'latest';

export const PREVIOUS_DESCRIPTION = `Give the app the output of this earlier run beside its input; ${LATEST} is the newest succeeded run of the same instance, without those of experiments, ensembles and replays.`;

/** What a new run executes: the instance or the ensemble; without either, the default instance of the application. */
export interface RunTarget {
  instanceId?: string;
  ensembleId?: string;
}

/** Returns the id of the run that the option means. Throws CommandError when the instance has no succeeded run. */
export async function findPreviousRun(
  session: Session,
  application_id: string,
  previous: string,
  target: RunTarget,
): Promise<RunId> {
  if (previous !== LATEST) return previous as RunId;
  const client = session.connect();
  const { filter, noun } = await selectTarget(client, application_id, target);
  const query = { status: 'succeeded', production: true, limit: LATEST_PAGE, ...filter };
  for (let pagetoken: string | undefined; ; ) {
    const { body } = await client.call('listRuns', {
      params: { application_id },
      query: { ...query, ...(pagetoken === undefined ? {} : { pagetoken }) },
    });
    for (const run of body.runs) if (await isPlan(client, application_id, run)) return run.id;
    pagetoken = body.next_page_token;
    if (pagetoken === undefined) break;
  }
  throw new CommandError(
    `--previous is ${LATEST}; ${noun} of the application ${application_id} has no succeeded run. Leave the option out for the first run.`,
  );
}

/** The first run is the wanted one unless the newest are replays. */
const LATEST_PAGE = 5;

async function selectTarget(client: Client, application_id: string, { instanceId, ensembleId }: RunTarget) {
  if (ensembleId !== undefined)
    return { filter: { ensemble_id: ensembleId }, noun: `the ensemble ${ensembleId}` };
  const instance_id = instanceId || (await findDefaultInstance(client, application_id));
  return { filter: { instance_id }, noun: `the instance ${instance_id}` };
}

/** Returns the id of the instance that a run without one executes. */
export async function findDefaultInstance(client: Client, application_id: string): Promise<string> {
  const { body } = await client.call('getApplication', { params: { application_id } });
  return body.default_instance || 'latest';
}

/**
 * Returns false for a run whose output nobody has acted on. A child run is one of several proposals of an ensemble, and a
 * replay repeats a plan of another day. A clone is a plan of its own.
 */
async function isPlan(
  client: Client,
  application_id: string,
  { id: run_id, run_type }: Run,
): Promise<boolean> {
  const { reference_id } = run_type;
  if (reference_id !== null) {
    // A caller may have set any text.
    const referenced = await find(client, application_id, reference_id);
    if (referenced?.run_type.type === 'ensemble') return false;
  }
  const original = (await find(client, application_id, run_id))?.metadata.tracking?.cloned_run_id;
  if (original === undefined || !(await find(client, application_id, original))) return true;
  const { body } = await client.call('listRunReplays', { params: { application_id, run_id: original } });
  return body.items.every((replay) => replay.run_id !== run_id);
}

/** Returns the run; undefined when there is none. */
async function find(client: Client, application_id: string, run_id: string) {
  const params = { application_id, run_id };
  return (await findOrNone(() => client.call('getRunMetadata', { params })))?.body;
}

/** Downloads the output of the run that the option means, for a run on this machine. Throws CommandError for a run without one. */
export async function downloadPrevious(session: Session, previous: string): Promise<PreviousOutput> {
  const application_id = session.findApplication();
  const run_id = await findPreviousRun(session, application_id, previous, {});
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
