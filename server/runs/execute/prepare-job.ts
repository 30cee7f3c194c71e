/** Makes the runner's job of a claimed run. */
import type { Readable } from 'node:stream';
import type { Secret } from '@switchyard/contract/applications/secrets.ts';
import { CLASS_LIMITS } from '@switchyard/contract/execution-classes.ts';
import { LOG_BYTES_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { OptionSummary } from '@switchyard/contract/runs/run-schemas.ts';
import {
  computeEffectiveLimits,
  describeRuntimeMismatch,
  findRuntimeVersion,
  type Runner,
  type RunSpec,
} from '@switchyard/runner';
import { parseRequirements } from '../../applications/executable.ts';
import { findExecutable } from '../../applications/executables-store.ts';
import type { ExecutablesTable } from '../../applications/schema.ts';
import type { Content, Contents } from '../../blobs/contents.ts';
import { findDamagedBlobError } from '../../blobs/verified-blobs.ts';
import type { Database } from '../../database/database.ts';
import type { Encryptor } from '../../database/encryption.ts';
import { Mask, NO_MASK } from '../../secrets/mask.ts';
import { readSecrets } from '../../secrets/read.ts';
import { isHostError } from '../results/host-errors.ts';
import type { RunsTable } from '../store/schema.ts';
import { buildArguments } from '../submit/options.ts';

/** Why a run can never be executed, however often it is tried; the message goes into the run. */
export class NotExecutableError extends Error {}

interface Parts {
  database: Database;
  contents: Contents;
  seal: Encryptor;
  runner: Runner;
}

export interface PreparedJob {
  job: RunSpec;
  /** Hides the secrets that the app is given from what is written about the run. */
  mask: Mask;
  /** Version of the runtime that will run the app; null for compiled programs. */
  runtimeVersion: string | null;
  /** A sentence, when that is not the version that the executable asks for. */
  runtimeWarning?: string;
  /** Why the run fails however often it is tried, once that is known: its input or executable is damaged. */
  findDamage(): NotExecutableError | null;
}

/** The job of a run's attempt; throws NotExecutableError when something it needs was removed. */
export async function prepareJob(run: RunsTable, parts: Parts): Promise<PreparedJob> {
  const { database, contents, runner } = parts;
  const [executable, input, secrets] = await Promise.all([
    findExecutable(database.read, run.executable_id),
    contents.find(run.input_content_id),
    secretsOf(run, parts),
  ]);
  if (!executable) throw new NotExecutableError(`The executable ${run.executable_id} of the run is gone.`);
  if (!input) throw new NotExecutableError('The input of the run is gone.');
  const { executable_type: type } = parseRequirements(executable);
  const warning = describeRuntimeMismatch(type, run.runtime, runner.host);
  let damage: NotExecutableError | null = null;
  const note = (what: string, error: unknown): void => {
    const found = findDamagedBlobError(error);
    if (found) damage = new NotExecutableError(`The ${what} of the run cannot be read. ${found.message}`);
    // Of an error the runner keeps its text and whether it is one of these.
    else if (error instanceof Error && isHostError(error)) Object.assign(error, { hostFault: true });
  };
  const noting = (what: string, open: () => Promise<Readable>) => async (): Promise<Readable> => {
    try {
      const stream = await open();
      return stream.once('error', (error) => note(what, error));
    } catch (error) {
      note(what, error);
      throw error;
    }
  };
  const job = jobOf(run, executable, input, contents, runner);
  job.executable.open = noting('executable', job.executable.open);
  job.input.open = noting('input', job.input.open);
  return {
    job: { ...job, ...delivery(run, secrets) },
    findDamage: () => damage,
    mask: secrets.length === 0 ? NO_MASK : new Mask(secrets.map((secret) => secret.value)),
    runtimeVersion: findRuntimeVersion(type, runner.host) ?? null,
    ...(warning === undefined ? {} : { runtimeWarning: warning }),
  };
}

/** Read anew for every attempt, and kept nowhere else. */
async function secretsOf(run: RunsTable, { database, seal }: Parts): Promise<Secret[]> {
  if (run.secrets_collection_id === null) return [];
  const read = await readSecrets(database.read, seal, {
    account: run.account_id,
    applicationUid: run.application_uid,
    id: run.secrets_collection_id,
  });
  if ('error' in read) throw new NotExecutableError(read.error);
  return read.secrets;
}

/** How the app gets to its secrets, and to know which run it is. */
function delivery(run: RunsTable, secrets: readonly Secret[]): Pick<RunSpec, 'environment' | 'secretFiles'> {
  const variables = secrets.filter((secret) => secret.type === 'env');
  return {
    environment: {
      ...Object.fromEntries(variables.map(({ location, value }) => [location, value])),
      NEXTMV_APP_ID: run.application_id,
      NEXTMV_RUN_ID: run.id,
    },
    secretFiles: secrets
      .filter((secret) => secret.type === 'file')
      .map(({ location, value }) => ({ location, value })),
  };
}

function jobOf(
  run: RunsTable,
  executable: ExecutablesTable,
  input: Content,
  contents: Contents,
  runner: Runner,
): Omit<RunSpec, 'environment' | 'secretFiles'> {
  const requirements = parseRequirements(executable);
  const content = requirements.io_configuration?.multi_file;
  const summary = JSON.parse(run.options_summary) as OptionSummary[];
  const limits = CLASS_LIMITS[run.execution_class];
  return {
    key: `${run.id}-${run.fence}`,
    executable: {
      hash: executable.hash,
      open: () => openExecutable(contents, executable.content_id),
    },
    type: requirements.executable_type,
    entrypoint: requirements.entrypoint ?? undefined,
    workingDirectory: requirements.working_directory ?? undefined,
    arguments: buildArguments(summary, requirements.options),
    input: { format: run.input_format, open: () => input.open() },
    outputFormat: run.output_format,
    content: content
      ? {
          inputPath: content.input_path ?? undefined,
          solutionsPath: content.output_configuration?.solutions_path ?? undefined,
          statisticsPath: content.output_configuration?.statistics_path ?? undefined,
          metricsPath: content.output_configuration?.metrics_path ?? undefined,
          assetsPath: content.output_configuration?.assets_path ?? undefined,
        }
      : undefined,
    limits: computeEffectiveLimits(
      { cores: limits.cores, memoryBytes: limits.memory_bytes, durationMs: limits.duration_ms },
      runner.host,
      { outputBytes: OUTPUT_BYTES_MAX, logBytes: LOG_BYTES_MAX },
    ),
    network: run.network === 1,
  };
}

async function openExecutable(contents: Contents, id: string): Promise<Readable> {
  const content = await contents.find(id);
  if (!content) throw new Error('the executable is gone.');
  return content.open();
}

/** The effective limits as the run's metadata shows them. */
export function formatLimits(job: RunSpec): string {
  return JSON.stringify({
    cores: job.limits.cores,
    memory_bytes: job.limits.memoryBytes,
    duration_ms: job.limits.durationMs,
  });
}
