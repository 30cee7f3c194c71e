/** Builds the job that the runner executes for a claimed run. */
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
import { type ApiAccess, type ApiTarget, openApiAccess } from '../access/api-proxy.ts';
import type { RunTokens } from '../access/run-tokens.ts';
import { isHostError } from '../results/host-errors.ts';
import type { RunsTable } from '../store/schema.ts';
import { buildArguments } from '../submit/options.ts';

/** The run can never be executed, however often it is retried; the message becomes the error of the run. */
export class NotExecutableError extends Error {}

interface Parts {
  database: Database;
  contents: Contents;
  seal: Encryptor;
  runner: Runner;
  runTokens: RunTokens;
  findApi(): ApiTarget | null;
  socketsFolder: string;
}

export interface PreparedJob {
  job: RunSpec;
  /** Hides the secrets of the app in the output, the log and the errors of the run. */
  mask: Mask;
  /** Version of the runtime that will run the app; null for compiled programs. */
  runtimeVersion: string | null;
  /** A sentence, when the version differs from the one that the executable requires. */
  runtimeWarning?: string;
  /** Returns the damage of the input or the executable, once reading has found it, or null. */
  findDamage(): NotExecutableError | null;
  /** The access of the app to the API; null without. Close it after the end of the app. */
  access: ApiAccess | null;
}

/** Prepares the next attempt of a run; throws NotExecutableError when its executable, input or secrets are gone. */
export async function prepareJob(run: RunsTable, parts: Parts): Promise<PreparedJob> {
  const { database, contents, runner } = parts;
  const [executable, input, secrets] = await Promise.all([
    findExecutable(database.read, run.executable_id),
    contents.find(run.input_content_id),
    readRunSecrets(run, parts),
  ]);
  if (!executable) throw new NotExecutableError(`The executable ${run.executable_id} of the run is gone.`);
  if (!input) throw new NotExecutableError('The input of the run is gone.');
  const { executable_type: type } = parseRequirements(executable);
  const warning = describeRuntimeMismatch(type, run.runtime, runner.host);
  let damage: NotExecutableError | null = null;
  const recordFault = (source: string, error: unknown): void => {
    const found = findDamagedBlobError(error);
    if (found) damage = new NotExecutableError(`The ${source} of the run cannot be read. ${found.message}`);
    // The runner keeps only the message of an error and this property.
    else if (error instanceof Error && isHostError(error)) Object.assign(error, { hostFault: true });
  };
  const withFaults = (source: string, open: () => Promise<Readable>) => async (): Promise<Readable> => {
    try {
      const stream = await open();
      return stream.once('error', (error) => recordFault(source, error));
    } catch (error) {
      recordFault(source, error);
      throw error;
    }
  };
  const job = buildRunSpec(run, { executable, input }, parts);
  const access = await openAccess(run, job, parts);
  job.executable.open = withFaults('executable', job.executable.open);
  job.input.open = withFaults('input', job.input.open);
  return {
    job: {
      ...job,
      ...buildEnvironment(run, secrets, access),
      ...(access?.forward ? { forward: access.forward } : {}),
    },
    access,
    findDamage: () => damage,
    mask: createMask(secrets, access),
    runtimeVersion: findRuntimeVersion(type, runner.host) ?? null,
    ...(warning === undefined ? {} : { runtimeWarning: warning }),
  };
}

/** Reads the secrets of a run. Each attempt reads them again; they are stored nowhere else. */
async function readRunSecrets(run: RunsTable, { database, seal }: Parts): Promise<Secret[]> {
  if (run.secrets_collection_id === null) return [];
  const read = await readSecrets(database.read, seal, {
    account: run.account_id,
    applicationUid: run.application_uid,
    id: run.secrets_collection_id,
  });
  if ('error' in read) throw new NotExecutableError(read.error);
  return read.secrets;
}

/** Opens the access of the app to the API, if its instance has one. */
async function openAccess(run: RunsTable, job: Pick<RunSpec, 'network'>, parts: Parts) {
  if (run.api_access === null) return null;
  return openApiAccess(run, parts.runner.host.containment === 'sandbox' && !job.network, parts);
}

/** The token can do less than a secret, and only during the run. In a log it would still look like one. */
function createMask(secrets: readonly Secret[], access: ApiAccess | null): Mask {
  const values = [...secrets.map((secret) => secret.value), ...(access ? [access.token] : [])];
  return values.length === 0 ? NO_MASK : new Mask(values);
}

/** Returns the environment variables and files that give the app its secrets, the id of its run, and its access to the API. */
function buildEnvironment(
  run: RunsTable,
  secrets: readonly Secret[],
  access: ApiAccess | null,
): Pick<RunSpec, 'environment' | 'secretFiles'> {
  const variables = secrets.filter((secret) => secret.type === 'env');
  return {
    environment: {
      ...Object.fromEntries(variables.map(({ location, value }) => [location, value])),
      ...access?.environment,
      NEXTMV_APP_ID: run.application_id,
      NEXTMV_RUN_ID: run.id,
    },
    secretFiles: secrets
      .filter((secret) => secret.type === 'file')
      .map(({ location, value }) => ({ location, value })),
  };
}

function buildRunSpec(
  run: RunsTable,
  { executable, input }: { executable: ExecutablesTable; input: Content },
  { contents, runner }: Pick<Parts, 'contents' | 'runner'>,
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

/** Formats the effective limits as JSON, in the form of the run's metadata. */
export function formatLimits(job: RunSpec): string {
  return JSON.stringify({
    cores: job.limits.cores,
    memory_bytes: job.limits.memoryBytes,
    duration_ms: job.limits.durationMs,
  });
}
