/**
 * Takes runs from the queue and executes them, as many at once as there are slots.
 *
 * What must stay true: a run is executed only under a fence claimed in a transaction, and its end is written only under
 * that fence; a slot is given back when the app is gone, before its results are kept; whatever this process cannot finish
 * is queued again, by itself when it can still say so, else by whoever sees that its heartbeat has stopped.
 */
import type { RunId } from '@switchyard/contract/ids.ts';
import { ATTEMPTS_MAX } from '@switchyard/contract/limits.ts';
import type { Outcome, Runner, RunningApp } from '@switchyard/runner';
import type { ExecutablesTable } from '../applications/schema.ts';
import { findExecutable } from '../applications/store.ts';
import type { Contents } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import { type Database, skipsLocked } from '../database/database.ts';
import type { Metrics } from '../http/metrics.ts';
import { type Log, messageOf } from '../log.ts';
import type { Slots } from '../queue/pools.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import { jobOf, limitsShown } from './execute.ts';
import { finish } from './finish.ts';
import { giveBack } from './give-back.ts';
import { LogWriter } from './log-writer.ts';
import type { RunsTable } from './schema.ts';
import { claimRuns, endRunning, listToGoOn } from './store.ts';

const LOOK_EVERY_MS = 1000;
const KEEP_AGAIN_MS = 1000;
/** Ended apps whose results are still being written; beyond it nothing new is claimed, so that a slow disk is felt. */
const KEEPING_MAX = 64;

export interface DispatchParts {
  database: Database;
  contents: Contents;
  runner: Runner;
  slots: Slots;
  workerId: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

interface Active {
  run: RunsTable;
  app: RunningApp;
}

export class Dispatcher {
  readonly #parts: DispatchParts;
  readonly #active = new Map<RunId, Active>();
  readonly #work = new Set<Promise<void>>();
  readonly #claims: Reconciler;
  readonly #cancels: Reconciler;
  readonly #unlisten: (() => void)[] = [];
  #keeping = 0;
  #draining = false;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
    const { clock, log } = parts;
    this.#claims = new Reconciler({
      name: 'claim runs',
      everyMs: LOOK_EVERY_MS,
      clock,
      log,
      run: () => this.#claim(),
    });
    this.#cancels = new Reconciler({
      name: 'cancel runs',
      everyMs: LOOK_EVERY_MS,
      clock,
      log,
      run: () => this.#cancel(),
    });
  }

  start(): void {
    const { database } = this.#parts;
    this.#unlisten.push(database.listen('runs-queued', () => this.#claims.poke()));
    this.#unlisten.push(database.listen('runs-canceled', () => this.#cancels.poke()));
    this.#claims.start();
    this.#cancels.start();
  }

  /** Claims nothing more, gives running apps their grace, queues again what was cut short, and waits for all of it. */
  async drain(): Promise<void> {
    this.#draining = true;
    for (const stop of this.#unlisten) stop();
    await this.#claims.stop();
    await this.#cancels.stop();
    for (const { app } of this.#active.values()) app.cancel();
    await Promise.all(this.#work);
  }

  async #claim(): Promise<void> {
    const { database, slots, workerId, clock } = this.#parts;
    for (const pool of slots.pools) {
      const free = Math.min(slots.free(pool), KEEPING_MAX - this.#keeping);
      if (free <= 0 || this.#draining) continue;
      const claimed = await database.transact(
        (tx) =>
          claimRuns(tx, {
            workerId,
            classes: pool.classes,
            limit: free,
            now: clock.now(),
            skipLocked: skipsLocked(database),
          }),
        { durable: false },
      );
      for (const run of claimed) this.#start(run);
    }
  }

  #start(run: RunsTable): void {
    const work = this.#execute(run).catch((error: unknown) => this.#fail(run, messageOf(error)));
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  async #execute(run: RunsTable): Promise<void> {
    const { database, contents, runner, slots, clock, log, metrics } = this.#parts;
    const release = slots.take(run.execution_class);
    metrics.slotsBusy.set(slots.busy);
    const lines = new LogWriter({ database, clock, log }, run.id, run.attempt);
    let app: RunningApp | null = null;
    try {
      const executable = await this.#executable(run);
      const job = jobOf(run, executable, contents, runner);
      run.limits = limitsShown(job);
      app = runner.run(job, { onStart: () => {}, onLog: (added) => lines.add(added) });
      this.#active.set(run.id, { run, app });
      if (this.#draining) app.cancel();
      const outcome = await app.done;
      this.#active.delete(run.id);
      release();
      metrics.slotsBusy.set(slots.busy);
      this.#keeping += 1;
      this.#claims.poke();
      await this.#keep(run, outcome, lines).finally(() => {
        this.#keeping -= 1;
      });
    } finally {
      this.#active.delete(run.id);
      release();
      metrics.slotsBusy.set(slots.busy);
      this.#claims.poke();
      await app?.dispose();
    }
  }

  /** What goes wrong before the app is started, such as an executable that was deleted meanwhile, ends the run. */
  async #fail(run: RunsTable, why: string): Promise<void> {
    const { database, clock, log, metrics } = this.#parts;
    log.error({ run: run.id, error: why }, 'A run could not be executed.');
    const ending = {
      status: 'failed',
      error: `The run could not be executed: ${why}`,
      finished_at: clock.now(),
    } as const;
    const written = await database.transact((tx) => endRunning(tx, run, ending)).catch(() => false);
    if (!written) return;
    metrics.runsFinished.inc({ status: 'failed' });
    database.notify('runs-ended');
  }

  async #executable(run: RunsTable): Promise<ExecutablesTable> {
    const executable = await findExecutable(this.#parts.database.read, run.executable_id);
    if (!executable) throw new Error(`the executable ${run.executable_id} is gone`);
    return executable;
  }

  /** Keeps the end, trying until the database takes it: the results are still in the run's folder. */
  async #keep(run: RunsTable, outcome: Outcome, lines: LogWriter): Promise<void> {
    const { clock, log } = this.#parts;
    for (;;) {
      try {
        await this.#keepOnce(run, outcome, lines);
        return;
      } catch (error) {
        log.error(
          { run: run.id, error: messageOf(error) },
          'The end of a run could not be written; trying again.',
        );
        if (this.#draining) return;
        await new Promise<void>((resolve) => clock.after(KEEP_AGAIN_MS, resolve));
      }
    }
  }

  async #keepOnce(run: RunsTable, outcome: Outcome, lines: LogWriter): Promise<void> {
    const { database, clock, log, metrics } = this.#parts;
    if (outcome.kind === 'lost' || (this.#draining && outcome.reason === 'canceled')) {
      const why = outcome.kind === 'lost' ? outcome.why : 'The server was shut down.';
      await lines.settle();
      // A shutdown is nobody's fault, so the attempt does not count.
      const attempt = outcome.kind === 'lost' ? run.attempt : run.attempt - 1;
      const status = await database.transact((tx) => giveBack(tx, { ...run, attempt }, why, clock.now()));
      if (status === 'queued') metrics.runsRequeued.inc();
      log.warn({ run: run.id, attempt: run.attempt, of: ATTEMPTS_MAX, status, why }, 'A run was cut short.');
      if (status) database.notify(status === 'queued' ? 'runs-queued' : 'runs-ended');
      return;
    }
    const status = await finish(this.#parts, run, outcome, lines);
    if (status) {
      metrics.runsFinished.inc({ status });
      database.notify('runs-ended');
    } else
      log.warn(
        { run: run.id, fence: run.fence },
        'A run ended here that somebody else has by now; the end was dropped.',
      );
    log.debug({ run: run.id, status, reason: outcome.reason, ms: outcome.executionMs }, 'run ended');
  }

  /** Cancels the apps of runs that are to be canceled or were deleted. */
  async #cancel(): Promise<void> {
    if (this.#active.size === 0) return;
    const before = [...this.#active];
    const goOn = new Set(await listToGoOn(this.#parts.database.read, this.#parts.workerId));
    for (const [id, { app }] of before) if (!goOn.has(id)) app.cancel();
  }
}
