/** Executes one claimed run on this machine: makes the runner's job of it, follows its log, and keeps the end. */
import { CLASS_LIMITS } from '@switchyard/contract/execution-classes.ts';
import { LOG_BYTES_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { OptionSummary } from '@switchyard/contract/run-shapes.ts';
import { effectiveLimits, type Job, type Runner } from '@switchyard/runner';
import { requirementsOf } from '../applications/executable.ts';
import type { ExecutablesTable } from '../applications/schema.ts';
import type { Contents } from '../blobs/contents.ts';
import { argumentsOf } from './options.ts';
import type { RunsTable } from './schema.ts';

/** The job of a run's attempt. */
export function jobOf(run: RunsTable, executable: ExecutablesTable, contents: Contents, runner: Runner): Job {
  const requirements = requirementsOf(executable);
  const content = requirements.io_configuration?.multi_file;
  const summary = JSON.parse(run.options_summary) as OptionSummary[];
  const limits = CLASS_LIMITS[run.execution_class];
  return {
    key: `${run.id}-${run.fence}`,
    executable: {
      hash: executable.hash,
      open: () => openContent(contents, executable.content_id, 'executable'),
    },
    type: requirements.executable_type,
    entrypoint: requirements.entrypoint ?? undefined,
    workingDirectory: requirements.working_directory ?? undefined,
    arguments: argumentsOf(summary, requirements.options),
    environment: { NEXTMV_APP_ID: run.application_id, NEXTMV_RUN_ID: run.id },
    secretFiles: [],
    input: { format: run.input_format, open: () => openContent(contents, run.input_content_id, 'input') },
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

async function openContent(contents: Contents, id: string, what: string) {
  const content = await contents.find(id);
  if (!content) throw new Error(`The ${what} of the run is gone.`);
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
