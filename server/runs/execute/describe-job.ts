/** Describes the next attempt of a run to the worker that executes it. */
import type { Readable } from 'node:stream';
import { buildArguments } from '@switchyard/contract/applications/run-options.ts';
import type { Secret } from '@switchyard/contract/applications/secrets.ts';
import { computeDurationLimit } from '@switchyard/contract/execution-classes.ts';
import {
  type ContentName,
  describeContent,
  type Job,
  NotExecutableError,
} from '@switchyard/worker/execute/job.ts';
import { parseRequirements } from '../../apps/applications/executable.ts';
import { findExecutable } from '../../apps/applications/executables-store.ts';
import type { ExecutablesTable } from '../../apps/applications/schema.ts';
import { readSecrets } from '../../apps/secrets/store.ts';
import type { Content, Contents } from '../../platform/blobs/contents.ts';
import { findDamagedBlobError } from '../../platform/blobs/verified-blobs.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Encryptor } from '../../platform/database/encryption.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import type { RunTokens } from '../access/run-tokens.ts';
import { isHostError } from '../results/host-errors.ts';
import { parseOptionsSummary } from '../run-columns.ts';
import type { RunsTable } from '../store/schema.ts';
import { buildTraceEnvironment } from '../tracing/run-trace.ts';

export interface DescribeParts {
  database: Database;
  contents: Contents;
  seal: Encryptor;
  runTokens: RunTokens;
  tracing: Tracing | null;
}

/** The job of an attempt, and the contents that its worker reads. */
export interface DescribedJob {
  job: Job;
  executable: Content;
  input: Content;
  /** The output of an earlier run; absent without one. */
  previous?: Content;
}

/** Describes the next attempt of a run; throws NotExecutableError when its executable, input or secrets are gone. */
export async function describeJob(run: RunsTable, parts: DescribeParts): Promise<DescribedJob> {
  try {
    return await readJob(run, parts);
  } catch (error) {
    throw markHostFault(error);
  }
}

async function readJob(run: RunsTable, parts: DescribeParts): Promise<DescribedJob> {
  const { database, contents, runTokens, tracing } = parts;
  const [executable, input, previous, secrets] = await Promise.all([
    findExecutable(database.read, run.executable_id),
    contents.find(run.input_content_id),
    run.previous_content_id === null ? undefined : contents.find(run.previous_content_id),
    readRunSecrets(run, parts),
  ]);
  const archive = executable && (await contents.find(executable.content_id));
  if (!executable || !archive)
    throw new NotExecutableError(`The executable ${run.executable_id} of the run is gone.`);
  if (!input) throw new NotExecutableError('The input of the run is gone.');
  if (!previous && run.previous_content_id !== null)
    throw new NotExecutableError(`The stored output of the previous run ${run.previous_run_id} is gone.`);
  const accessToken = run.api_access === null ? null : runTokens.sign(run);
  const trace = buildTraceEnvironment(run, tracing);
  const job = buildJob(run, executable, { secrets, accessToken, trace });
  return { job, executable: archive, input, ...(previous && { previous }) };
}

/** Reads the secrets of a run. Each attempt reads them again; they are stored nowhere else. */
async function readRunSecrets(run: RunsTable, { database, seal }: DescribeParts): Promise<Secret[]> {
  if (run.secrets_collection_id === null) return [];
  const read = await readSecrets(database.read, seal, {
    account: run.account_id,
    applicationUid: run.application_uid,
    id: run.secrets_collection_id,
  });
  if ('error' in read) throw new NotExecutableError(read.error);
  return read.secrets;
}

function buildJob(
  run: RunsTable,
  executable: ExecutablesTable,
  environment: Pick<Job, 'secrets' | 'accessToken' | 'trace'>,
): Job {
  const requirements = parseRequirements(executable);
  const summary = parseOptionsSummary(run);
  return {
    runId: run.id,
    fence: run.fence,
    applicationId: run.application_id,
    executionClass: run.execution_class,
    durationLimitMs: computeDurationLimit(run),
    // The ensemble run of an experiment takes over the conditions of its child runs, which belong to no experiment themselves.
    isCompared: run.experiment_uid !== null || run.parent_run_id !== null,
    executable: {
      hash: executable.hash,
      type: requirements.executable_type,
      entrypoint: requirements.entrypoint ?? null,
      workingDirectory: requirements.working_directory ?? null,
    },
    runtime: run.runtime,
    arguments: buildArguments(summary, requirements.options),
    inputFormat: run.input_format,
    previousFormat: run.previous_format,
    outputFormat: run.output_format,
    content: describeContent(requirements),
    network: run.network === 1,
    ...environment,
  };
}

/** Sets the property by which the worker recognises a fault of the host: it keeps only that and the message of an error. */
function markHostFault(error: unknown): unknown {
  return error instanceof Error && isHostError(error) ? Object.assign(error, { hostFault: true }) : error;
}

/** Opens contents for a worker of this process, and records their damage. */
export class ContentOpener {
  #damage: NotExecutableError | null = null;

  /** The damage that reading has found; null while there is none. */
  get damage(): NotExecutableError | null {
    return this.#damage;
  }

  /** Opens the content. `source` names it in the error. */
  async open(content: Content, source: ContentName): Promise<Readable> {
    try {
      const stream = await content.open();
      return stream.once('error', (error) => this.#record(source, error));
    } catch (error) {
      this.#record(source, error);
      throw error;
    }
  }

  #record(source: ContentName, error: unknown): void {
    const found = findDamagedBlobError(error);
    if (found) this.#damage = describeDamage(source, found);
    else markHostFault(error);
  }
}

/** Returns the error of a run with a damaged content. */
export function describeDamage(source: ContentName, { message }: Error): NotExecutableError {
  const name = source === 'previous' ? 'stored output of the previous run' : `${source} of the run`;
  return new NotExecutableError(`The ${name} cannot be read. ${message}`);
}
