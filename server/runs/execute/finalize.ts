/**
 * Brings the end of a run's attempt into the database.
 *
 * What must stay true: an attempt that is over leaves its run ended or queued again, whatever goes wrong on the way. The
 * database being away is waited out; an end that cannot be written though the database is there (a result file that cannot
 * be read, a disk that is full) is given up after some tries, and the run is queued again or, in the end, failed. A fault of
 * the host never fails a run (host-faults.ts).
 */
import { ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import type { EndedRun, Outcome } from '@switchyard/runner';
import type { Contents } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import type { Metrics } from '../../http/metrics.ts';
import { errorMessage, type Log } from '../../log.ts';
import type { Random } from '../../random.ts';
import type { Mask } from '../../secrets/mask.ts';
import type { LogWriter } from '../logs/log-writer.ts';
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
import { isEndedByHostFault, retryDelayMs } from './host-faults.ts';
import { NotExecutableError } from './prepare-job.ts';

const RETRY_DELAY_MS = 1000;
const TRIES_MAX = 10;

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
}

/** How an attempt is over: the app's outcome, or why there was no app. */
export type AttemptOutcome = Outcome | { kind: 'unstarted'; error: unknown };

/** Whether this machine kept the app from starting or from doing its work: another try, perhaps on another one, may help. */
export function isHostFailure(end: AttemptOutcome): boolean {
  if (end.kind === 'unstarted') return !(end.error instanceof NotExecutableError);
  return end.kind === 'ended' && end.reason === 'host';
}

interface RequeueOptions {
  /** Whether the attempt counts towards the limit. */
  counts?: boolean;
  /** Whether a fault of the host is to blame: the attempt does not count, and the run waits before the next. */
  hostFault?: boolean;
}

interface Attempt {
  run: RunsTable;
  end: AttemptOutcome;
  lines: LogWriter;
  /** Hides the secrets of the app. */
  mask: Mask;
  /** Whether the process shuts down, which ends apps that are not to blame. */
  isDraining(): boolean;
}

/** Never throws. */
export async function finalizeRun(parts: Parts, attempt: Attempt): Promise<void> {
  const { clock, log } = parts;
  const { run } = attempt;
  const trial = new FinalizeAttempt(parts, attempt);
  for (let tries = 1; ; tries += 1) {
    try {
      await trial.write();
      return;
    } catch (error) {
      const why = attempt.mask.maskText(errorMessage(error));
      log.error({ run: run.id, tries, error: why }, 'The end of a run could not be written; trying again.');
      if (tries >= TRIES_MAX && (await trial.abandonResult(why, isHostError(error)))) return;
    }
    // What is left running is queued again when this worker has left.
    if (attempt.isDraining()) return;
    await new Promise<void>((resolve) => clock.after(RETRY_DELAY_MS, resolve));
  }
}

/** One attempt's way into the database; what was prepared is kept from one try to the next. */
class FinalizeAttempt {
  readonly #parts: Parts;
  readonly #attempt: Attempt;
  #prepared: PreparedResult | undefined;

  constructor(parts: Parts, attempt: Attempt) {
    this.#parts = parts;
    this.#attempt = attempt;
  }

  async write(): Promise<void> {
    const { run, end } = this.#attempt;
    if (end.kind === 'lost') return this.#requeue(end.error);
    if (end.kind === 'unstarted') {
      if (end.error instanceof NotExecutableError) return this.#fail(end.error.message);
      const why = `it could not be prepared: ${errorMessage(end.error)}`;
      return this.#requeue(why, { hostFault: isEndedByHostFault(end) });
    }
    if (isHostFailure(end)) return this.#requeue(end.error, { hostFault: isEndedByHostFault(end) });
    if (this.#isCutShort(end) && !(await isCancelRequested(this.#parts.database.read, run.id)))
      return this.#requeue('The server was shut down.', { counts: false });
    await this.#finish(end);
  }

  /** Queues the run again though its app has ended; false when that cannot be written either. */
  async abandonResult(why: string, hostFault: boolean): Promise<boolean> {
    try {
      await this.#requeue(`its results could not be kept: ${why}`, { hostFault });
      return true;
    } catch {
      return false;
    }
  }

  /** A shutdown ends apps by a cancel of ours, or by the signal that everything on the machine gets. */
  #isCutShort(end: EndedRun): boolean {
    return this.#attempt.isDraining() && (end.reason === 'canceled' || end.signal === 'SIGTERM');
  }

  async #finish(ended: EndedRun): Promise<void> {
    const { database, log } = this.#parts;
    const { run, lines, mask } = this.#attempt;
    this.#prepared ??= await prepareRunResult(this.#parts, run, ended, { lines, mask });
    const written = await storeRunResult(database, run, this.#prepared, lines);
    const { status } = this.#prepared.finalColumns;
    if (written) {
      const labels = { execution_class: run.execution_class, status };
      this.#parts.metrics.runSeconds.observe(labels, ended.executionMs / 1000);
      this.#ended(status);
    } else await this.#discardStale();
    log.debug({ run: run.id, status, written, reason: ended.reason, ms: ended.executionMs }, 'run ended');
  }

  async #requeue(reason: string, { counts = true, hostFault = false }: RequeueOptions = {}): Promise<void> {
    const why = this.#attempt.mask.maskText(reason).replaceAll('\0', '\u{fffd}');
    const { database, clock, log, metrics } = this.#parts;
    const { run, lines } = this.#attempt;
    await lines.waitForWrites();
    const attempt = counts && !hostFault ? run.attempt : run.attempt - 1;
    const now = clock.now();
    const faults = run.host_faults + 1;
    const fault = hostFault
      ? { message: why, faultCount: faults, retryAt: now + retryDelayMs(faults) }
      : undefined;
    const status = await database.transact(async (tx) => {
      const given = await requeueOrEnd(tx, { ...run, attempt }, why, now, fault);
      if (given) await lines.flush(tx);
      return given;
    });
    if (fault) {
      const fields = { run: run.id, faults, retryInMs: retryDelayMs(faults), status, why };
      log.warn(fields, 'Run requeued after a fault of the host; the attempt does not count.');
    } else
      log.warn({ run: run.id, attempt: run.attempt, of: ATTEMPTS_MAX, status, why }, 'A run was cut short.');
    if (status === 'queued') {
      metrics.runsRequeued.inc();
      database.notify('runs-queued');
    } else if (status) this.#ended(status);
    await discardContents(this.#prepared?.contents ?? []);
  }

  async #fail(error: string): Promise<void> {
    const { database, clock } = this.#parts;
    const ending = { status: 'failed', error, finished_at: clock.now() } as const;
    const written = await database.transact((tx) => endRunningRun(tx, this.#attempt.run, ending));
    if (written) this.#ended('failed');
  }

  #ended(status: 'succeeded' | 'failed' | 'canceled'): void {
    this.#parts.metrics.runsFinished.inc({ status });
    this.#parts.database.notify('runs-ended');
  }

  /** The run was deleted, or somebody else has it; or an earlier try was written though it looked as if it failed. */
  async #discardStale(): Promise<void> {
    const { run } = this.#attempt;
    this.#parts.log.warn(
      { run: run.id, fence: run.fence },
      'The end of a run that is not held here any more was dropped.',
    );
    this.#parts.database.notify('runs-ended');
    await discardContents(this.#prepared?.contents ?? []);
  }
}
