/** Makes the runner's job of a claimed run. */
import type { Readable } from 'node:stream';
import { CLASS_LIMITS } from '@switchyard/contract/execution-classes.ts';
import { LOG_BYTES_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { OptionSummary } from '@switchyard/contract/run-shapes.ts';
import { effectiveLimits, type Job, type Runner } from '@switchyard/runner';
import { requirementsOf } from '../applications/executable.ts';
import type { ExecutablesTable } from '../applications/schema.ts';
import { findExecutable } from '../applications/store.ts';
import type { Content, Contents } from '../blobs/contents.ts';
import type { Database } from '../database/database.ts';
import { argumentsOf } from './options.ts';
import type { RunsTable } from './schema.ts';

/** Why a run can never be executed, however often it is tried; the message goes into the run. */
export class NotExecutableError extends Error {}

/** The job of a run's attempt; throws NotExecutableError when something it needs was removed. */
export async function prepareJob(
  run: RunsTable,
  { database, contents, runner }: { database: Database; contents: Contents; runner: Runner },
): Promise<Job> {
  const [executable, input] = await Promise.all([
    findExecutable(database.read, run.executable_id),
    contents.find(run.input_content_id),
  ]);
  if (!executable) throw new NotExecutableError(`The executable ${run.executable_id} of the run is gone.`);
  if (!input) throw new NotExecutableError('The input of the run is gone.');
  return jobOf(run, executable, input, contents, runner);
}

function jobOf(
  run: RunsTable,
  executable: ExecutablesTable,
  input: Content,
  contents: Contents,
  runner: Runner,
): Job {
  const requirements = requirementsOf(executable);
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
    arguments: argumentsOf(summary, requirements.options),
    environment: { NEXTMV_APP_ID: run.application_id, NEXTMV_RUN_ID: run.id },
    secretFiles: [],
    input: { format: run.input_format, open: () => input.open() },
    content: content
      ? {
          inputPath: content.input_path ?? undefined,
          solutionsPath: content.output_configuration?.solutions_path ?? undefined,
          statisticsPath: content.output_configuration?.statistics_path ?? undefined,
          metricsPath: content.output_configuration?.metrics_path ?? undefined,
          assetsPath: content.output_configuration?.assets_path ?? undefined,
        }
      : undefined,
    limits: effectiveLimits(
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
export function limitsShown(job: Job): string {
  return JSON.stringify({
    cores: job.limits.cores,
    memory_bytes: job.limits.memoryBytes,
    duration_ms: job.limits.durationMs,
  });
}
