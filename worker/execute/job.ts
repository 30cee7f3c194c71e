/** The attempt of a run as a worker receives it, and the interface by which the worker reports to the server. */
import type { Readable } from 'node:stream';
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import type { Secret } from '@switchyard/contract/applications/secrets.ts';
import {
  CLASS_LIMITS,
  type ClassLimits,
  type ExecutionClass,
} from '@switchyard/contract/execution-classes.ts';
import type { StartConditions } from '@switchyard/contract/experiments/experiment-runs.ts';
import { LOG_BYTES_MAX, OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { TraceVariables } from '@switchyard/contract/workers/job-schemas.ts';
import {
  type ContentPaths,
  computeEffectiveLimits,
  type ExecutableType,
  type Host,
  type Outcome,
  type RunSpec,
} from '@switchyard/runner';
import type { LogBatch, LogEnd } from '../log/log-batch.ts';

/** An attempt of a run, without anything that depends on the machine that executes it. */
export interface Job {
  runId: RunId;
  /** The fencing token of the attempt. */
  fence: number;
  applicationId: ApplicationId;
  executionClass: ExecutionClass;
  /** The app is stopped after this time, which may be shorter than that of the execution class. */
  durationLimitMs: number;
  /** True: an experiment compares the run, so the conditions of its start are recorded. */
  isCompared: boolean;
  executable: {
    /** SHA-256 of the files, in hex. */
    hash: string;
    type: ExecutableType;
    entrypoint: string | null;
    workingDirectory: string | null;
  };
  /** The runtime that the application asks for, such as `ghcr.io/nextmv-io/runtime/python:3.11`. */
  runtime: string;
  arguments: string[];
  inputFormat: RunSpec['input']['format'];
  /** The format of the output of the earlier run that the app starts from; null without one. */
  previousFormat: RunSpec['input']['format'] | null;
  outputFormat: RunSpec['outputFormat'];
  content: ContentPaths | null;
  network: boolean;
  secrets: Secret[];
  /** The run token of a workflow; null for a run without access to the API. */
  accessToken: string | null;
  /** The span of the app; empty without a trace. */
  trace: TraceVariables;
}

/** A content that an attempt reads. */
export type ContentName = 'executable' | 'input' | 'previous';

/** The end of an attempt: the outcome of the app, or the error that kept it from starting. */
export type AttemptOutcome = Outcome | { kind: 'unstarted'; error: unknown };

/** Everything that the server stores when an attempt has ended. */
export interface AttemptEnd {
  outcome: AttemptOutcome;
  log: LogEnd;
  /** The effective limits; null when the app was not prepared. */
  limits: ClassLimits | null;
  runtimeVersion: string | null;
  /** Null for a run that no experiment compares. */
  startConditions: StartConditions | null;
  /** The values of secrets, to be masked in what the server stores. */
  secretValues: readonly string[];
  /** True while the worker shuts down, which ends apps that did not fail. */
  isDraining(): boolean;
}

/** An attempt that a worker was given, and the server's side of it. */
export interface Assignment {
  run: { id: RunId; fence: number };
  executionClass: ExecutionClass;
  /** The number of runs above a workflow; null for a run without access to the API. */
  workflowDepth: number | null;
  /** Returns the job; throws when the run cannot be executed. */
  loadJob(): Promise<Job>;
  openExecutable(): Promise<Readable>;
  openInput(): Promise<Readable>;
  /** Opens the output of the earlier run of the job. */
  openPrevious(): Promise<Readable>;
  /** Returns the proof that requests at the endpoint come from the app of the attempt. */
  proveEndpoint(endpoint: string): Promise<string>;
  /** Stores lines of the log; returns false when the lease on the run has expired. */
  writeLog(batch: LogBatch): Promise<boolean>;
  /** Returns the damage of a content of the job, once reading has found it, or null. */
  findDamage(): NotExecutableError | null;
  /** Stores the end of the attempt, with retries. Never throws. The files of the outcome exist until it returns. */
  finish(end: AttemptEnd): Promise<void>;
}

/** The run can never be executed, however often it is retried; the message becomes the error of the run. */
export class NotExecutableError extends Error {}

/** Identifies an attempt: a run that the same process claims again has another fencing token, and another app. */
export function formatAttemptKey(run: { id: string; fence: number }): string {
  return `${run.id} ${run.fence}`;
}

/** Returns true if the host kept the app from starting or working, so that a retry, perhaps on another machine, may help. */
export function isHostFailure(end: AttemptOutcome): boolean {
  if (end.kind === 'unstarted') return !(end.error instanceof NotExecutableError);
  return end.kind === 'ended' && end.reason === 'host';
}

/**
 * Returns true if the app was ended because its host had no memory left, while the app kept within its own limit. Its
 * memory is free again at once, so the worker continues to claim runs. The attempt counts: a host that is too small for a
 * run does not become larger.
 */
export function isMemoryVictim(end: AttemptOutcome): boolean {
  return end.kind === 'ended' && end.reason === 'memory' && end.hostFault === true;
}

/** Returns the paths of a multi-file app in the form of the runner; null when its manifest names none. */
export function describeContent({ io_configuration }: Requirements): ContentPaths | null {
  const content = io_configuration?.multi_file;
  if (!content) return null;
  const output = content.output_configuration;
  return {
    inputPath: content.input_path ?? undefined,
    solutionsPath: output?.solutions_path ?? undefined,
    statisticsPath: output?.statistics_path ?? undefined,
    metricsPath: output?.metrics_path ?? undefined,
    assetsPath: output?.assets_path ?? undefined,
  };
}

/** The parts of a run that the worker adds to a job. */
interface LocalParts extends Pick<RunSpec, 'environment' | 'forward'> {
  /** The most that a run can have here. */
  size: Pick<Host, 'cores' | 'memoryBytes'>;
  openExecutable(): Promise<Readable>;
  openInput(): Promise<Readable>;
  /** Not called without a `previousFormat`. */
  openPrevious(): Promise<Readable>;
}

/** The parts of a job that its app depends on. An app that runs without a server has other ids. */
interface AppJob extends Omit<Job, 'runId' | 'applicationId' | 'isCompared' | 'runtime' | 'accessToken'> {
  runId: string;
  applicationId: string;
}

/** Returns the job in the form of the runner, with limits that fit the worker. */
export function buildRunSpec(job: AppJob, parts: LocalParts): RunSpec {
  const { size, openExecutable, openInput, openPrevious, environment, forward } = parts;
  const { hash, type, entrypoint, workingDirectory } = job.executable;
  const limits = CLASS_LIMITS[job.executionClass];
  const variables = job.secrets.filter((secret) => secret.type === 'env');
  return {
    key: `${job.runId}-${job.fence}`,
    executable: { hash, open: openExecutable },
    type,
    ...(entrypoint === null ? {} : { entrypoint }),
    ...(workingDirectory === null ? {} : { workingDirectory }),
    arguments: job.arguments,
    environment: {
      // A secret of the same name takes precedence.
      ...job.trace,
      ...Object.fromEntries(variables.map(({ location, value }) => [location, value])),
      ...environment,
      NEXTMV_APP_ID: job.applicationId,
      NEXTMV_RUN_ID: job.runId,
      // In seconds, so that a solver can take it as its time limit.
      SWITCHYARD_MAX_DURATION: String(job.durationLimitMs / 1000),
    },
    secretFiles: job.secrets
      .filter((secret) => secret.type === 'file')
      .map(({ location, value }) => ({ location, value })),
    input: { format: job.inputFormat, open: openInput },
    ...(job.previousFormat === null ? {} : { previous: { format: job.previousFormat, open: openPrevious } }),
    outputFormat: job.outputFormat,
    ...(job.content ? { content: job.content } : {}),
    limits: computeEffectiveLimits(
      { cores: limits.cores, memoryBytes: limits.memory_bytes, durationMs: job.durationLimitMs },
      size,
      { outputBytes: OUTPUT_BYTES_MAX, logBytes: LOG_BYTES_MAX },
    ),
    network: job.network,
    ...(forward ? { forward } : {}),
  };
}

/** Returns the effective limits in the form of the run's metadata. */
export function describeLimits({ limits }: RunSpec): ClassLimits {
  return { cores: limits.cores, memory_bytes: limits.memoryBytes, duration_ms: limits.durationMs };
}
