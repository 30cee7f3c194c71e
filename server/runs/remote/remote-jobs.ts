/** Describes attempts to a remote worker. */
import { buffer } from 'node:stream/consumers';
import { INLINE_CONTENT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { ContentSource, WorkerJob } from '@switchyard/contract/workers/job-schemas.ts';
import type { Uploads } from '../../apps/uploads/uploads.ts';
import type { Content } from '../../platform/blobs/contents.ts';
import { errorMessage } from '../../platform/log.ts';
import { type DescribeParts, describeJob } from '../execute/describe-job.ts';
import { type FinalizeParts, finalizeRun } from '../execute/finalize.ts';
import type { RunsTable } from '../store/schema.ts';

export interface RemoteJobParts extends DescribeParts, FinalizeParts {
  uploads: Uploads;
}

/**
 * Returns the job of an attempt; null when the run cannot be executed. Such a run is finalised here, without its worker: it
 * fails, or is queued again after a fault of the storage.
 */
export async function describeRemoteJob(parts: RemoteJobParts, run: RunsTable): Promise<WorkerJob | null> {
  try {
    return await formatJob(parts, run);
  } catch (error) {
    parts.log.warn({ run: run.id, error: errorMessage(error) }, 'Run could not be described to its worker.');
    await finalizeRun(parts, run, {
      outcome: { kind: 'unstarted', error },
      log: { batches: [], times: null },
      ...{ limits: null, runtimeVersion: null, startConditions: null, secretValues: [] },
      isDraining: () => false,
    });
    return null;
  }
}

async function formatJob(parts: RemoteJobParts, run: RunsTable): Promise<WorkerJob> {
  const { job, executable, input, previous } = await describeJob(run, parts);
  return {
    run_id: job.runId,
    fence: job.fence,
    application_id: job.applicationId,
    execution_class: job.executionClass,
    duration_limit_ms: job.durationLimitMs,
    workflow_depth: run.api_access === null ? null : run.workflow_depth,
    is_compared: job.isCompared,
    executable: {
      hash: job.executable.hash,
      type: job.executable.type,
      entrypoint: job.executable.entrypoint,
      working_directory: job.executable.workingDirectory,
      // A worker keeps executables, so most of their copies would not be read.
      source: formatPath(parts.uploads, executable),
    },
    runtime: job.runtime,
    arguments: job.arguments,
    input: { format: job.inputFormat, source: await formatSource(parts.uploads, input) },
    ...(previous &&
      job.previousFormat !== null && {
        previous: { format: job.previousFormat, source: await formatSource(parts.uploads, previous) },
      }),
    output_format: job.outputFormat,
    content: job.content,
    network: job.network,
    secrets: job.secrets,
    access_token: job.accessToken,
    trace: job.trace,
  };
}

async function formatSource(uploads: Uploads, content: Content): Promise<ContentSource> {
  const source = formatPath(uploads, content);
  if (content.bytes > INLINE_CONTENT_BYTES_MAX) return source;
  return { ...source, content: (await buffer(await content.open())).toString('base64') };
}

function formatPath(uploads: Uploads, { id, bytes }: Content): ContentSource {
  const { pathname, search } = new URL(uploads.downloadUrl(id, 'application/octet-stream'));
  return { bytes, content: null, path: `${pathname}${search}` };
}
