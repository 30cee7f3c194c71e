/**
 * Brings the end of a run's attempt into the database.
 *
 * What must stay true: an attempt that is over leaves its run ended or queued again, whatever goes wrong on the way. The
 * database being away is waited out; an end that cannot be written though the database is there (a result file that cannot
 * be read, a disk that is full) is given up after some tries, and the run is queued again or, in the end, failed. A fault of
 * the host never fails a run (host-faults.ts).
 */
import { ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import type { Ended, Outcome } from '@switchyard/runner';
import type { Contents } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Metrics } from '../http/metrics.ts';
import { type Log, messageOf } from '../log.ts';
import type { Random } from '../random.ts';
import type { Mask } from '../secrets/mask.ts';
import { NotExecutableError } from './execute.ts';
import { discardAll, type PreparedEnd, prepareEnd, writeEnd } from './finish.ts';
import { giveBack } from './give-back.ts';
import { endedByHost, isFaultOfHost, retryPauseMs } from './host-faults.ts';
import type { LogWriter } from './log-writer.ts';
import { endRunning, isToBeCanceled } from './moves.ts';
import type { RunsTable } from './schema.ts';

const TRY_AGAIN_MS = 1000;
const TRIES = 10;

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
}

/** How an attempt is over: the app's outcome, or why there was no app. */
export type AttemptEnd = Outcome | { kind: 'unstarted'; error: unknown };

/** Whether this machine kept the app from starting or from doing its work: another try, perhaps on another one, may help. */
export function isHostTrouble(end: AttemptEnd): boolean {
  if (end.kind === 'unstarted') return !(end.error instanceof NotExecutableError);
  return end.kind === 'ended' && end.reason === 'host';
}

interface GiveBack {
  /** Whether the attempt counts towards the limit. */
  counts?: boolean;
  /** Whether a fault of the host is to blame: the attempt does not count, and the run waits before the next. */
  hostFault?: boolean;
}

interface Attempt {
  run: RunsTable;
  end: AttemptEnd;
  lines: LogWriter;
  /** Hides the secrets of the app. */
  mask: Mask;
  /** Whether the process shuts down, which ends apps that are not to blame. */
  isDraining(): boolean;
}

/** Never throws. */
export async function conclude(parts: Parts, attempt: Attempt): Promise<void> {
  const { clock, log } = parts;
  const { run } = attempt;
  const trial = new Trial(parts, attempt);
  for (let tries = 1; ; tries += 1) {
    try {
      await trial.write();
      return;
    } catch (error) {
      const why = attempt.mask.text(messageOf(error));
      log.error({ run: run.id, tries, error: why }, 'The end of a run could not be written; trying again.');
      if (tries >= TRIES && (await trial.giveUp(why, isFaultOfHost(error)))) return;
    }
    // What is left running is queued again when this worker has left.
    if (attempt.isDraining()) return;
    await new Promise<void>((resolve) => clock.after(TRY_AGAIN_MS, resolve));
  }
}

/** One attempt's way into the database; what was prepared is kept from one try to the next. */
class Trial {
  readonly #parts: Parts;
  readonly #attempt: Attempt;
  #prepared: PreparedEnd | undefined;

  constructor(parts: Parts, attempt: Attempt) {
    this.#parts = parts;
    this.#attempt = attempt;
  }

  async write(): Promise<void> {
    const { run, end } = this.#attempt;
    if (end.kind === 'lost') return this.#giveBack(end.why);
    if (end.kind === 'unstarted') {
      if (end.error instanceof NotExecutableError) return this.#fail(end.error.message);
      const why = `it could not be prepared: ${messageOf(end.error)}`;
      return this.#giveBack(why, { hostFault: endedByHost(end) });
    }
    if (isHostTrouble(end)) return this.#giveBack(end.error, { hostFault: endedByHost(end) });
    if (this.#isCutShort(end) && !(await isToBeCanceled(this.#parts.database.read, run.id)))
      return this.#giveBack('The server was shut down.', { counts: false });
    await this.#finish(end);
  }

  /** Queues the run again though its app has ended; false when that cannot be written either. */
  async giveUp(why: string, hostFault: boolean): Promise<boolean> {
    try {
      await this.#giveBack(`its results could not be kept: ${why}`, { hostFault });
      return true;
    } catch {
      return false;
    }
  }

  /** A shutdown ends apps by a cancel of ours, or by the signal that everything on the machine gets. */
  #isCutShort(end: Ended): boolean {
    return this.#attempt.isDraining() && (end.reason === 'canceled' || end.signal === 'SIGTERM');
  }

  async #finish(ended: Ended): Promise<void> {
    const { database, log } = this.#parts;
    const { run, lines, mask } = this.#attempt;
    this.#prepared ??= await prepareEnd(this.#parts, run, ended, { lines, mask });
    const written = await writeEnd(database, run, this.#prepared, lines);
    const { status } = this.#prepared.ending;
    if (written) {
      const labels = { execution_class: run.execution_class, status };
      this.#parts.metrics.runSeconds.observe(labels, ended.executionMs / 1000);
      this.#ended(status);
    } else await this.#dropped();
    log.debug({ run: run.id, status, written, reason: ended.reason, ms: ended.executionMs }, 'run ended');
  }

  async #giveBack(reason: string, { counts = true, hostFault = false }: GiveBack = {}): Promise<void> {
    const why = this.#attempt.mask.text(reason).replaceAll('\0', '\u{fffd}');
    const { database, clock, log, metrics } = this.#parts;
    const { run, lines } = this.#attempt;
    await lines.settle();
    const attempt = counts && !hostFault ? run.attempt : run.attempt - 1;
    const now = clock.now();
    const faults = run.host_faults + 1;
    const fault = hostFault ? { message: why, faults, retryAt: now + retryPauseMs(faults) } : undefined;
    const status = await database.transact(async (tx) => {
      const given = await giveBack(tx, { ...run, attempt }, why, now, fault);
      if (given) await lines.finish(tx);
      return given;
    });
    if (fault) {
      const fields = { run: run.id, faults, retryInMs: retryPauseMs(faults), status, why };
      log.warn(fields, 'Run requeued after a fault of the host; the attempt does not count.');
    } else
      log.warn({ run: run.id, attempt: run.attempt, of: ATTEMPTS_MAX, status, why }, 'A run was cut short.');
    if (status === 'queued') {
      metrics.runsRequeued.inc();
      database.notify('runs-queued');
    } else if (status) this.#ended(status);
    await discardAll(this.#prepared?.contents ?? []);
  }

  async #fail(error: string): Promise<void> {
    const { database, clock } = this.#parts;
    const ending = { status: 'failed', error, finished_at: clock.now() } as const;
    const written = await database.transact((tx) => endRunning(tx, this.#attempt.run, ending));
    if (written) this.#ended('failed');
  }

  #ended(status: 'succeeded' | 'failed' | 'canceled'): void {
    this.#parts.metrics.runsFinished.inc({ status });
    this.#parts.database.notify('runs-ended');
  }

  /** The run was deleted, or somebody else has it; or an earlier try was written though it looked as if it failed. */
  async #dropped(): Promise<void> {
    const { run } = this.#attempt;
    this.#parts.log.warn(
      { run: run.id, fence: run.fence },
      'The end of a run that is not held here any more was dropped.',
    );
    this.#parts.database.notify('runs-ended');
    await discardAll(this.#prepared?.contents ?? []);
  }
}
