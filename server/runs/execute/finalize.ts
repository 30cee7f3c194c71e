/**
 * Finalises the attempts of runs: computes the outcome and stores it.
 *
 * Invariant: after an attempt its run has ended or is requeued, whatever fails in between. While the database is
 * unavailable the write is retried. After ten other errors, such as an unreadable result file or a full disk, the result is
 * abandoned. Then the run is requeued, or fails after its last attempt. A fault of the host never fails a run
 * (host-faults.ts), except that the attempts count which a shortage of memory has ended.
 */
import { ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import type { EndedRun } from '@switchyard/runner';
import { computeBackoffMs } from '@switchyard/worker/backoff.ts';
import { isEndedByHostFault } from '@switchyard/worker/execute/executor.ts';
import {
  type AttemptEnd,
  type AttemptOutcome,
  isHostFailure,
  isMemoryVictim,
  NotExecutableError,
} from '@switchyard/worker/execute/job.ts';
import { Mask, NO_MASK } from '@switchyard/worker/log/mask.ts';
import type { JsonReader } from '@switchyard/worker/results/json-reader.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Metrics } from '../../platform/http/metrics.ts';
import { errorMessage, type Log } from '../../platform/log.ts';
import type { Random } from '../../platform/random.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import { storeLogEnd } from '../logs/log-batches.ts';
import { RETRY_DELAY_MAX_MS } from '../queue/order/retry-times.ts';
import { requeueOrEnd } from '../queue/requeue.ts';
import { isHostError } from '../results/host-errors.ts';
import {
  discardContents,
  type PreparedResult,
  prepareRunResult,
  storeRunResult,
} from '../results/prepared-result.ts';
import { isCancelRequested } from '../store/leases.ts';
import type { RunsTable } from '../store/schema.ts';
import { endRunningRun } from '../store/transitions.ts';
import { recordAttempt } from '../tracing/run-spans.ts';

const RETRY_DELAY_MS = 1000;
const TRIES_MAX = 10;

export interface FinalizeParts {
  database: Database;
  contents: Contents;
  clock: Clock;
  random: Random;
  jsonReader: JsonReader;
  log: Log;
  metrics: Metrics;
  tracing: Tracing | null;
}

/** Other runs hold the memory of a host for longer than most of its faults last. */
const MEMORY_RETRY_DELAY_MS = 10_000;

const FIRST_RETRY_DELAY_MS = 1_000;

interface RequeueOptions {
  /** True: the attempt counts towards the limit. The default is true, except after a fault of the host. */
  counts?: boolean;
  /** True: a fault of the host ended the attempt; the retry is delayed. */
  hostFault?: boolean;
  /** The delay of the retry after the first fault in a row. */
  firstDelayMs?: number;
}

/** The end of an attempt of a run. */
interface Attempt {
  run: RunsTable;
  /** When this process had the claimed run; absent for a remote worker. */
  claimedAt?: number;
  outcome: AttemptOutcome;
  log: AttemptEnd['log'];
  /** Hides the secrets of the app. */
  mask: Mask;
  /** Returns true while the worker shuts down, which ends apps that did not fail. */
  isDraining(): boolean;
}

/** Stores the end of an attempt, with retries. Never throws. */
export async function finalizeRun(
  parts: FinalizeParts,
  claimed: RunsTable,
  end: AttemptEnd & Pick<Attempt, 'claimedAt'>,
): Promise<void> {
  const { clock, log } = parts;
  const { limits, runtimeVersion, startConditions, secretValues } = end;
  const run = {
    ...claimed,
    limits: limits && JSON.stringify(limits),
    runtime_version: runtimeVersion,
    start_conditions: startConditions && JSON.stringify(startConditions),
  };
  const mask = secretValues.length === 0 ? NO_MASK : new Mask(secretValues);
  const finalization = new FinalizeAttempt(parts, { ...end, run, mask });
  for (let tries = 1; ; tries += 1) {
    try {
      await finalization.write();
      // Its licence tokens are free now, and another run may wait for them.
      if (run.required_licenses !== null) parts.database.notify('runs-queued');
      return;
    } catch (error) {
      const message = mask.maskText(errorMessage(error));
      log.error({ run: run.id, tries, error: message }, 'End of a run could not be stored; retrying.');
      if (tries >= TRIES_MAX && (await finalization.abandonResult(message, isHostError(error)))) return;
    }
    // Another worker requeues the run once this worker is removed.
    if (end.isDraining()) return;
    await new Promise<void>((resolve) => clock.after(RETRY_DELAY_MS, resolve));
  }
}

/** Stores one attempt; keeps the prepared result from one try to the next. */
class FinalizeAttempt {
  readonly #parts: FinalizeParts;
  readonly #attempt: Attempt;
  #prepared: PreparedResult | undefined;

  constructor(parts: FinalizeParts, attempt: Attempt) {
    this.#parts = parts;
    this.#attempt = attempt;
  }

  async write(): Promise<void> {
    const { run, outcome: end } = this.#attempt;
    if (end.kind === 'lost') return this.#requeue(end.error);
    if (end.kind === 'unstarted') {
      if (end.error instanceof NotExecutableError) return this.#fail(end.error.message);
      const reason = `it could not be prepared: ${errorMessage(end.error)}`;
      return this.#requeue(reason, { hostFault: isEndedByHostFault(end) });
    }
    if (isMemoryVictim(end))
      return this.#requeue(end.error, { counts: true, hostFault: true, firstDelayMs: MEMORY_RETRY_DELAY_MS });
    if (isHostFailure(end)) return this.#requeue(end.error, { hostFault: isEndedByHostFault(end) });
    if (this.#isCutShort(end) && !(await isCancelRequested(this.#parts.database.read, run.id)))
      // A worker that ends apps for no reason must not keep a run in the queue for ever.
      return this.#requeue(this.#describeCut(), { counts: !this.#attempt.isDraining() });
    await this.#finish(end);
  }

  /** Requeues the run although its app has ended; returns false when that cannot be stored either. */
  async abandonResult(reason: string, hostFault: boolean): Promise<boolean> {
    try {
      await this.#requeue(`its results could not be stored: ${reason}`, { hostFault });
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Returns true if the app was ended from outside: by its worker, or by a signal to every process of a machine that shuts down. A
   * worker also ends the app of a claim that a power cut undid, and the next claim may have the same fencing token.
   */
  #isCutShort(end: EndedRun): boolean {
    return end.reason === 'canceled' || (this.#attempt.isDraining() && end.signal === 'SIGTERM');
  }

  #describeCut(): string {
    return this.#attempt.isDraining()
      ? 'The server was shut down.'
      : 'Its worker ended the app, although nobody had canceled the run.';
  }

  async #finish(ended: EndedRun): Promise<void> {
    const { database, log } = this.#parts;
    const { run, log: lines, mask } = this.#attempt;
    this.#prepared ??= await prepareRunResult(this.#parts, run, ended, { lines, mask });
    const written = await storeRunResult(database, run, this.#prepared, lines);
    const { status } = this.#prepared.finalColumns;
    if (written) {
      const labels = { execution_class: run.execution_class, status };
      this.#recordSpans(status);
      this.#parts.metrics.runSeconds.observe(labels, ended.executionMs / 1000);
      this.#reportEnd(status, ended.executionMs);
    } else await this.#discardStale();
    log.debug({ run: run.id, status, written, reason: ended.reason, ms: ended.executionMs }, 'Run ended.');
  }

  async #requeue(
    cause: string,
    { hostFault = false, counts = !hostFault, firstDelayMs }: RequeueOptions = {},
  ): Promise<void> {
    const reason = this.#attempt.mask.maskText(cause).replaceAll('\0', '\u{fffd}');
    const { database, clock, log, metrics } = this.#parts;
    const { run, log: lines } = this.#attempt;
    const attempt = counts ? run.attempt : run.attempt - 1;
    const now = clock.now();
    const faults = run.host_faults + 1;
    const retryInMs = retryDelayMs(faults, firstDelayMs);
    const fault = hostFault ? { message: reason, faultCount: faults, retryAt: now + retryInMs } : undefined;
    const status = await database.transact(async (tx) => {
      const written = await requeueOrEnd(tx, { ...run, attempt }, { reason, now, fault });
      if (written) await storeLogEnd(tx, run, lines);
      return written;
    });
    if (fault) {
      log.warn({ run: run.id, faults, retryInMs, attempt, status, reason }, 'Fault of the host ended a run.');
    } else
      log.warn({ run: run.id, attempt: run.attempt, of: ATTEMPTS_MAX, status, reason }, 'Run cut short.');
    if (status) this.#recordSpans(status);
    if (status === 'queued') {
      metrics.runsRequeued.inc();
      database.notify('runs-queued');
    } else if (status) this.#reportEnd(status);
    await discardContents(this.#prepared?.contents ?? []);
  }

  async #fail(error: string): Promise<void> {
    const { database, clock } = this.#parts;
    const ending = { status: 'failed', error, finished_at: clock.now() } as const;
    const written = await database.transact((tx) => endRunningRun(tx, this.#attempt.run, ending));
    if (!written) return;
    this.#recordSpans('failed');
    this.#reportEnd('failed');
  }

  #reportEnd(status: 'succeeded' | 'failed' | 'canceled', executionMs = 0): void {
    const { metrics, database } = this.#parts;
    metrics.runsFinished.inc({ status });
    metrics.applications.countRun(this.#attempt.run, status, executionMs);
    database.notify('runs-ended');
  }

  #recordSpans(status: RunsTable['status']): void {
    const { tracing, clock } = this.#parts;
    const { run, claimedAt, outcome: end } = this.#attempt;
    recordAttempt(tracing, { run, claimedAt, end, status, storedAt: clock.now() });
  }

  /** Discards the result: the run was deleted, another worker has the lease, or an earlier try was stored after all. */
  async #discardStale(): Promise<void> {
    const { run } = this.#attempt;
    this.#parts.log.warn(
      { run: run.id, fence: run.fence },
      "Result discarded: this worker's lease on the run has expired.",
    );
    this.#parts.database.notify('runs-ended');
    await discardContents(this.#prepared?.contents ?? []);
  }
}

/** Returns the delay in milliseconds before a run is retried after its n-th fault in a row, counted from 1. */
export function retryDelayMs(faults: number, firstMs = FIRST_RETRY_DELAY_MS): number {
  return computeBackoffMs(faults, firstMs, RETRY_DELAY_MAX_MS);
}
