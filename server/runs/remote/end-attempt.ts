/** Stores the end of an attempt that a remote worker reports, as the worker of this process stores its own. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { computeDurationLimit } from '@switchyard/contract/execution-classes.ts';
import { LOG_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { AttemptFile, AttemptEnd as ReportedEnd } from '@switchyard/contract/workers/attempt-schemas.ts';
import type { EndedRun, ResultFile } from '@switchyard/runner';
import {
  type AttemptOutcome,
  type ContentName,
  formatAttemptKey,
  NotExecutableError,
} from '@switchyard/worker/execute/job.ts';
import { findUpload } from '../../apps/uploads/store.ts';
import { findDamagedBlobError } from '../../platform/blobs/verified-blobs.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import { describeDamage, describeJob } from '../execute/describe-job.ts';
import { finalizeRun } from '../execute/finalize.ts';
import type { RunsTable } from '../store/schema.ts';
import type { RemoteJobParts } from './remote-jobs.ts';

/** A worker cuts a longer log. Processes that the app left behind may write while it reads the end. */
const STDERR_BYTES_MAX = LOG_BYTES_MAX + 1024 * 1024;
/** An app is ended after its time limit and this, so a longer duration is wrong. */
const DURATION_MARGIN_MS = 60_000;

interface EndParts extends RemoteJobParts {
  /** The folder for files of results while they are stored. */
  resultsFolder: string;
}

type ReportedOutcome = ReportedEnd['outcome'];
type ReportedApp = NonNullable<ReportedOutcome['app']>;

/** Stores the end of an attempt once, however often it is reported at the same time. */
export class AttemptEnds {
  readonly #parts: EndParts;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(parts: EndParts) {
    this.#parts = parts;
  }

  /** Stores the end of the attempt of a run. Throws a 400 for a report that contradicts itself. */
  async store(run: RunsTable, end: ReportedEnd): Promise<void> {
    const key = formatAttemptKey(run);
    const stored = this.#underWay.get(key) ?? this.#store(run, end);
    this.#underWay.set(key, stored);
    await stored.finally(() => this.#underWay.delete(key));
  }

  async #store(run: RunsTable, end: ReportedEnd): Promise<void> {
    const folder = await mkdtemp(join(this.#parts.resultsFolder, 'result-'));
    try {
      const { batches, times } = end.log;
      await finalizeRun(this.#parts, run, {
        outcome: await this.#readOutcome(run, end.outcome, folder),
        log: { batches, times: times === null ? null : Buffer.from(times, 'base64') },
        limits: end.limits,
        runtimeVersion: end.runtime_version,
        startConditions: end.start_conditions,
        secretValues: end.secret_values,
        isDraining: () => end.stopping,
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #readOutcome(run: RunsTable, outcome: ReportedOutcome, folder: string): Promise<AttemptOutcome> {
    const { kind, error, app, unreadable } = outcome;
    if (kind === 'lost') return { kind, error };
    const damage = unreadable ? await this.#findDamage(run, unreadable) : null;
    if (damage) return { kind: 'unstarted', error: damage };
    const fault = outcome.is_host_fault === true ? { hostFault: true as const } : {};
    if (kind === 'unstarted') return { kind, error: Object.assign(new Error(error), fault) };
    if (!app)
      throw badRequest('outcome.app is missing; an outcome of the kind "ended" needs the end of the app.');
    return { ...fault, ...(await this.#readEndedRun(run, app, folder)), kind, error };
  }

  async #readEndedRun(
    run: RunsTable,
    app: ReportedApp,
    folder: string,
  ): Promise<Omit<EndedRun, 'kind' | 'error'>> {
    const read = (name: string, file: AttemptFile) => this.#readFile(run, file, join(folder, name));
    if (app.stderr.bytes > STDERR_BYTES_MAX)
      throw badRequest(
        `outcome.app.stderr.bytes is ${app.stderr.bytes}; the log of an app may have ${STDERR_BYTES_MAX} bytes.`,
      );
    const files: Partial<Record<'solutions' | 'statistics' | 'metrics' | 'assets', ResultFile>> = {};
    for (const name of ['solutions', 'statistics', 'metrics', 'assets'] as const) {
      const file = app[name];
      if (file) files[name] = await read(name, file);
    }
    return {
      succeeded: app.succeeded && app.reason === 'exit',
      reason: app.reason,
      exitCode: app.exit_code,
      signal: app.signal,
      stdout: await read('stdout', app.stdout),
      stderr: await read('stderr', app.stderr),
      ...files,
      ...this.#limitTimes(run, app),
      ...(app.peak_memory_bytes === null ? {} : { peakMemoryBytes: app.peak_memory_bytes }),
      containment: app.containment,
      isLogTruncated: app.is_log_truncated,
    };
  }

  /** The clock of a worker may be wrong, and a worker may lie: the app ran after the claim, and not longer than its limit. */
  #limitTimes(run: RunsTable, app: ReportedApp): Pick<EndedRun, 'startedAt' | 'endedAt' | 'executionMs'> {
    const now = this.#parts.clock.now();
    const claimedAt = Math.min(run.initiated_at ?? now, now);
    const limitMs = computeDurationLimit(run) + DURATION_MARGIN_MS;
    return {
      startedAt: Math.min(Math.max(app.started_at, claimedAt), now),
      endedAt: Math.min(Math.max(app.ended_at, claimedAt), now),
      executionMs: Math.min(app.execution_ms, now - claimedAt, limitMs),
    };
  }

  /** Writes the content of a reported file to the path. */
  async #readFile(run: RunsTable, file: AttemptFile, path: string): Promise<ResultFile> {
    if (file.file_id === null) {
      const bytes = Buffer.from(file.content ?? '', 'base64');
      await writeFile(path, bytes);
      return { path, bytes: bytes.length };
    }
    const { database, contents } = this.#parts;
    const upload = await findUpload(database.read, file.file_id);
    const content =
      upload?.attempt === formatAttemptKey(run) && upload.content_id !== null
        ? await contents.find(upload.content_id)
        : undefined;
    if (!content)
      throw badRequest(
        `file_id is ${quoteValue(file.file_id)}; it must be a file that was uploaded for this attempt.`,
      );
    await pipeline(await content.open(), createWriteStream(path));
    return { path, bytes: content.bytes };
  }

  /** Reads the content that the worker could not read; returns the error of the run when it is damaged or gone. */
  async #findDamage(run: RunsTable, source: ContentName): Promise<NotExecutableError | null> {
    try {
      const content = (await describeJob(run, this.#parts))[source];
      if (content) await finished((await content.open()).resume());
      return null;
    } catch (error) {
      if (error instanceof NotExecutableError) return error;
      const damage = findDamagedBlobError(error);
      return damage ? describeDamage(source, damage) : null;
    }
  }
}
