/** An attempt that a remote worker executes: it reads and stores over HTTP what a worker of the server's process reads itself. */
import { readFile } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CLASS_LIMITS } from '@switchyard/contract/execution-classes.ts';
import { INLINE_RESULT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { AttemptFile, AttemptEnd as ReportedEnd } from '@switchyard/contract/workers/attempt-schemas.ts';
import type { ContentSource, WorkerJob } from '@switchyard/contract/workers/job-schemas.ts';
import { type EndedRun, isHostFault, type ResultFile } from '@switchyard/runner';
import { getErrorMessage } from '@switchyard/runner/process/errors.ts';
import type { WorkerLog } from '../environment.ts';
import type { Assignment, AttemptEnd, ContentName, Job } from '../execute/job.ts';
import type { LogBatch, LogEnd } from '../log/log-batch.ts';
import { RefusedError } from './http-client.ts';
import type { AttemptPlace, ServerConnection } from './server-connection.ts';

const ERROR_CHARS_MAX = 60 * 1024;
/** Chunks that the request for the end has with it; earlier ones are sent before. */
const LAST_CHUNKS_MAX = 2;

type ReportedFiles = Pick<
  NonNullable<ReportedEnd['outcome']['app']>,
  'stdout' | 'stderr' | 'solutions' | 'statistics' | 'metrics' | 'assets'
>;

interface AssignmentParts {
  workerId: string;
  server: ServerConnection;
  log: WorkerLog;
  /** The app has ended, and its end is not stored yet. */
  onEnding(): void;
  /** The end is stored, or never will be. */
  onFinished(): void;
}

/** One attempt, from the job to its stored end. */
export class RemoteAssignment implements Assignment {
  readonly run: Assignment['run'];
  readonly executionClass: Assignment['executionClass'];
  readonly workflowDepth: number | null;
  readonly #job: WorkerJob;
  readonly #server: ServerConnection;
  readonly #place: AttemptPlace;
  readonly #parts: AssignmentParts;
  #unreadable: ContentName | null = null;

  constructor(job: WorkerJob, parts: AssignmentParts) {
    this.run = { id: job.run_id, fence: job.fence };
    this.executionClass = job.execution_class;
    this.workflowDepth = job.workflow_depth;
    this.#job = job;
    this.#server = parts.server;
    this.#parts = parts;
    this.#place = { workerId: parts.workerId, runId: job.run_id, fence: job.fence };
  }

  async loadJob(): Promise<Job> {
    const { executable, input, previous, content, ...job } = this.#job;
    return {
      runId: job.run_id,
      fence: job.fence,
      applicationId: job.application_id,
      executionClass: job.execution_class,
      durationLimitMs: job.duration_limit_ms ?? CLASS_LIMITS[job.execution_class].duration_ms,
      isCompared: job.is_compared,
      executable: {
        hash: executable.hash,
        type: executable.type,
        entrypoint: executable.entrypoint,
        workingDirectory: executable.working_directory,
      },
      runtime: job.runtime,
      arguments: job.arguments,
      inputFormat: input.format,
      previousFormat: previous?.format ?? null,
      outputFormat: job.output_format,
      content,
      network: job.network,
      secrets: job.secrets,
      accessToken: job.access_token,
      trace: job.trace,
    };
  }

  openExecutable(): Promise<Readable> {
    return this.#open(this.#job.executable.source, 'executable');
  }

  openInput(): Promise<Readable> {
    return this.#open(this.#job.input.source, 'input');
  }

  async openPrevious(): Promise<Readable> {
    const { previous } = this.#job;
    if (!previous) throw new Error('The job has no output of an earlier run.');
    return this.#open(previous.source, 'previous');
  }

  async #open(source: ContentSource, name: ContentName): Promise<Readable> {
    if (source.content !== null)
      return Readable.from([Buffer.from(source.content, 'base64')], { objectMode: false });
    try {
      const stream = limitBytes(await this.#server.download(source.path), source.bytes);
      return stream.once('error', (error) => this.#fail(name, error));
    } catch (error) {
      throw this.#fail(name, error);
    }
  }

  /** Records what could not be read: the server knows whether it is damaged. Anything else is a fault of the network. */
  #fail(name: ContentName, error: unknown): Error {
    this.#unreadable = name;
    const fault = error instanceof Error ? error : new Error(String(error));
    return Object.assign(fault, { hostFault: true });
  }

  proveEndpoint(endpoint: string): Promise<string> {
    return this.#server.prove(this.#place, endpoint);
  }

  async writeLog(batch: LogBatch): Promise<boolean> {
    try {
      await this.#server.writeLog(this.#place, batch);
      return true;
    } catch (error) {
      if (error instanceof RefusedError) return false;
      throw error;
    }
  }

  /** The server finds out by itself. */
  findDamage(): null {
    return null;
  }

  async finish(end: AttemptEnd): Promise<void> {
    this.#parts.onEnding();
    await this.#reportWithFallback(end);
    this.#parts.onFinished();
  }

  /** Never throws. */
  async #reportWithFallback(end: AttemptEnd): Promise<void> {
    try {
      await this.#report(end);
    } catch (error) {
      if (error instanceof RefusedError && error.status === 400) return this.#reportUnstorable(end, error);
      // A worker that stops leaves, and the server queues its runs again.
      const level = error instanceof RefusedError ? 'warn' : 'error';
      this.#parts.log[level](
        { run: this.run.id, fence: this.run.fence, error: getErrorMessage(error) },
        'End of a run not stored; the server queues the run again if it needs to.',
      );
    }
  }

  async #report(end: AttemptEnd): Promise<void> {
    const log = await this.#sendEarlierLines(end.log);
    const outcome = await this.#formatOutcome(end.outcome);
    const stored = await this.#server.end(this.#place, formatEnd(end, outcome, log));
    if (stored) return;
    const fields = { run: this.run.id, fence: this.run.fence };
    this.#parts.log.warn(fields, "Result discarded: this worker's lease on the run has expired.");
  }

  /** A result that the server refuses would be refused again, so the attempt counts as failed. */
  async #reportUnstorable(end: AttemptEnd, { message }: Error): Promise<void> {
    this.#parts.log.error({ run: this.run.id, error: message }, 'Result refused by the server.');
    const outcome = { kind: 'unstarted' as const, error: `its results were refused. ${message}` };
    const log = { batches: [], times: null };
    await this.#server
      .end(this.#place, formatEnd({ ...end, limits: null, startConditions: null }, outcome, log))
      .catch((error: unknown) =>
        this.#parts.log.error(
          { run: this.run.id, error: getErrorMessage(error) },
          'End of a run not stored.',
        ),
      );
  }

  /** Sends all lines but the last ones, so that the request for the end stays small. */
  async #sendEarlierLines({ batches, times }: LogEnd): Promise<LogEnd> {
    const last = batches.at(-1);
    const chunks = batches.flatMap((batch) => batch.chunks);
    if (!last || chunks.length <= LAST_CHUNKS_MAX) return { batches, times };
    const earlier = chunks.slice(0, -LAST_CHUNKS_MAX);
    const series = batches.length > 1 ? batches[0]?.series : undefined;
    for (const [index, chunk] of earlier.entries())
      await this.#sendLines({
        chunks: [chunk],
        series: (index === 0 && series) || { replacement: null, addition: null },
      });
    return { batches: [{ chunks: chunks.slice(-LAST_CHUNKS_MAX), series: last.series }], times };
  }

  async #sendLines(batch: LogBatch): Promise<void> {
    await this.#server.retry(() => this.#server.writeLog(this.#place, batch));
  }

  async #formatOutcome(outcome: AttemptEnd['outcome']): Promise<ReportedEnd['outcome']> {
    const unreadable = this.#unreadable;
    if (outcome.kind === 'lost') return { kind: 'lost', error: outcome.error };
    if (outcome.kind === 'unstarted') {
      const error = getErrorMessage(outcome.error).slice(0, ERROR_CHARS_MAX);
      return { kind: 'unstarted', error, is_host_fault: isHostFault(outcome.error), unreadable };
    }
    return {
      kind: 'ended',
      error: outcome.error.slice(0, ERROR_CHARS_MAX),
      is_host_fault: outcome.hostFault === true,
      unreadable: outcome.reason === 'host' ? unreadable : null,
      app: {
        succeeded: outcome.succeeded,
        reason: outcome.reason,
        exit_code: outcome.exitCode,
        signal: outcome.signal,
        started_at: outcome.startedAt,
        ended_at: outcome.endedAt,
        execution_ms: outcome.executionMs,
        peak_memory_bytes: outcome.peakMemoryBytes ?? null,
        containment: outcome.containment,
        is_log_truncated: outcome.isLogTruncated,
        ...(await this.#formatFiles(outcome)),
      },
    };
  }

  async #formatFiles(outcome: EndedRun): Promise<ReportedFiles> {
    let inlineBytes = 0;
    const format = async (file: ResultFile): Promise<AttemptFile> => {
      const { bytes } = file;
      if (inlineBytes + bytes > INLINE_RESULT_BYTES_MAX)
        return { bytes, content: null, file_id: await this.#server.putFile(this.#place, file) };
      inlineBytes += bytes;
      const content = bytes === 0 ? '' : (await readFile(file.path)).toString('base64');
      return { bytes, content, file_id: null };
    };
    const formatOptional = async (file: ResultFile | undefined) => (file ? format(file) : null);
    return {
      stdout: await format(outcome.stdout),
      stderr: await format(outcome.stderr),
      solutions: await formatOptional(outcome.solutions),
      statistics: await formatOptional(outcome.statistics),
      metrics: await formatOptional(outcome.metrics),
      assets: await formatOptional(outcome.assets),
    };
  }
}

/** Returns the stream, which fails when it has more bytes than the server said: it would fill the disk of the worker. */
function limitBytes(stream: Readable, bytesMax: number): Readable {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes <= bytesMax) done(null, chunk);
      else done(new Error(`The content has more than the ${bytesMax} bytes that the server named.`));
    },
  });
  // Either stream ends the other, and the reader of the limited one gets the error.
  pipeline(stream, limit).catch(() => {});
  return limit;
}

function formatEnd(
  end: AttemptEnd,
  outcome: ReportedEnd['outcome'],
  { batches, times }: LogEnd,
): ReportedEnd {
  return {
    outcome,
    log: { batches, times: times?.toString('base64') ?? null },
    limits: end.limits,
    runtime_version: end.runtimeVersion,
    start_conditions: end.startConditions,
    secret_values: [...end.secretValues],
    stopping: end.isDraining(),
  };
}
