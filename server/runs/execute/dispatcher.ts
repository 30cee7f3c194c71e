/**
 * Takes runs from the queue and executes them, as many at once as there are slots.
 *
 * What must stay true: a run is executed only under a fence claimed in a transaction, and its end is written only under
 * that fence; a slot is given back when the app is gone, before its results are kept; whatever this process cannot finish
 * is queued again, by itself when it can still say so, else by whoever sees that its heartbeat has stopped.
 */
import type { Outcome, Runner, RunningApp } from '@switchyard/runner';
import type { Contents } from '../../blobs/contents.ts';
import type { Database } from '../../database/database.ts';
import type { Encryptor } from '../../database/encryption.ts';
import type { Metrics } from '../../http/metrics.ts';
import { defineJob, type Job, type JobContext } from '../../jobs/define-job.ts';
import { errorMessage } from '../../log.ts';
import type { Random } from '../../random.ts';
import { NO_MASK } from '../../secrets/mask.ts';
import type { SlotTracker } from '../../workers/slots.ts';
import { LogWriter } from '../logs/log-writer.ts';
import { claimRuns } from '../queue/claim-runs.ts';
import { requeueOrEnd } from '../queue/requeue.ts';
import { listLeasedRuns } from '../store/leases.ts';
import type { RunsTable } from '../store/schema.ts';
import { type AttemptOutcome, finalizeRun, isHostFailure } from './finalize.ts';
import { claimPauseMs, isEndedByHostFault } from './host-faults.ts';
import { formatLimits, type PreparedJob, prepareJob } from './prepare-job.ts';

const CLAIM_INTERVAL_MS = 1000;
const UNTRACKED_CHECK_INTERVAL_MS = 10_000;
/** Ended apps whose results are still being written; beyond it nothing new is claimed, so that a slow disk is felt. */
const PENDING_RESULTS_MAX = 64;

export interface DispatchParts extends JobContext {
  database: Database;
  contents: Contents;
  seal: Encryptor;
  runner: Runner;
  slots: SlotTracker;
  workerId: string;
  random: Random;
  metrics: Metrics;
}

/** A run claimed again by the same process has another fence, and its own app. */
const keyOf = (run: Pick<RunsTable, 'id' | 'fence'>): string => `${run.id} ${run.fence}`;

/** An app that failed by itself may have failed because its runtime is another version than it asks for. */
function withWarning(outcome: Outcome, warning: string | undefined): Outcome {
  if (warning === undefined || outcome.kind !== 'ended' || outcome.succeeded || outcome.reason !== 'exit')
    return outcome;
  return { ...outcome, error: `${outcome.error} Note: ${warning}` };
}

export class Dispatcher {
  readonly #parts: DispatchParts;
  /** Everything claimed here and not concluded yet. */
  readonly #work = new Map<string, Promise<void>>();
  readonly #apps = new Map<string, RunningApp>();
  readonly #claims: Job;
  readonly #cancels: Job;
  #keeping = 0;
  #strayLook = 0;
  #draining = false;
  /** Attempts in a row that ended in trouble of the host; those of a run that met a fault before count once. */
  #faults = 0;
  /** The runs of these attempts. */
  readonly #faulted = new Set<string>();
  #resting = false;
  /** Whether there was room on the disk when it was last looked at. */
  #roomy = true;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
    this.#claims = this.#claimRunsJob();
    this.#cancels = this.#cancelRunsJob();
  }

  start(): void {
    this.#claims.start();
    this.#cancels.start();
  }

  /** Claims nothing more, gives running apps their grace, queues again what was cut short, and waits for all of it. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#claims.stop();
    await this.#cancels.stop();
    for (const app of this.#apps.values()) app.cancel();
    await Promise.all(this.#work.values());
  }

  /** Claims queued runs for the free slots and executes them. */
  #claimRunsJob(): Job {
    return defineJob(this.#parts, {
      name: 'claim-runs',
      intervalMs: CLAIM_INTERVAL_MS,
      wakeOn: ['runs-queued'],
      handle: async () => {
        const claimed = await this.#claim();
        await this.#requeueUntracked();
        return claimed;
      },
    });
  }

  /** Ends the apps of canceled and deleted runs. */
  #cancelRunsJob(): Job {
    return defineJob(this.#parts, {
      name: 'cancel-runs',
      intervalMs: CLAIM_INTERVAL_MS,
      wakeOn: ['runs-canceled'],
      handle: () => this.#cancel(),
    });
  }

  /** Returns the number of claimed runs. */
  async #claim(): Promise<number> {
    const { database, runner, slots, workerId, clock } = this.#parts;
    if (this.#resting || !this.#hasDiskSpace()) return 0;
    let count = 0;
    for (const pool of slots.pools) {
      const limit = Math.min(slots.countFree(pool), PENDING_RESULTS_MAX - this.#keeping);
      if (limit <= 0 || this.#draining) continue;
      const claim = {
        workerId,
        classes: pool.classes,
        limit,
        now: clock.now(),
        containment: runner.host.containment,
      };
      const claimed = await database.transact((tx) => claimRuns(tx, claim), { durable: false });
      for (const run of claimed) this.#start(run);
      count += claimed.length;
    }
    return count;
  }

  /** Runs that a full disk would fail wait for room, or for another machine, and lose no attempt by it. */
  #hasDiskSpace(): boolean {
    const { runner, log } = this.#parts;
    const has = runner.hasDiskSpace();
    if (has !== this.#roomy)
      log.warn(
        {},
        has ? 'There is room on the disk again.' : 'The disk is full; no run is claimed until there is room.',
      );
    this.#roomy = has;
    return has;
  }

  /**
   * A claim can be committed though the answer never came. Nobody else claims for this worker and no claim is under way
   * here, so what the database says it holds and it knows nothing of is such a run.
   */
  async #requeueUntracked(): Promise<void> {
    const { database, clock, log, workerId } = this.#parts;
    if (clock.elapsed() < this.#strayLook) return;
    this.#strayLook = clock.elapsed() + UNTRACKED_CHECK_INTERVAL_MS;
    for (const run of await listLeasedRuns(database.read, workerId)) {
      if (this.#work.has(keyOf(run))) continue;
      const uncounted = { ...run, attempt: run.attempt - 1 };
      const why = 'its worker did not hear that it had claimed it.';
      const status = await database.transact((tx) => requeueOrEnd(tx, uncounted, why, clock.now()));
      if (status)
        log.warn({ run: run.id, status }, 'A run that was claimed and never started was given back.');
      if (status) database.notify(status === 'queued' ? 'runs-queued' : 'runs-ended');
    }
  }

  #start(run: RunsTable): void {
    const key = keyOf(run);
    const work = this.#execute(run, key)
      .catch((error: unknown) =>
        this.#parts.log.error({ run: run.id, error: errorMessage(error) }, 'Cleaning up after a run failed.'),
      )
      .finally(() => this.#work.delete(key));
    this.#work.set(key, work);
  }

  async #execute(run: RunsTable, key: string): Promise<void> {
    const { database, runner, slots, clock, log, metrics } = this.#parts;
    const release = slots.acquire(run.execution_class);
    metrics.slotsBusy.set(slots.busyCount);
    const lines = new LogWriter({ database, clock, log }, run);
    let app: RunningApp | undefined;
    let mask = NO_MASK;
    let end: AttemptOutcome;
    let prepared: PreparedJob | undefined;
    try {
      prepared = await prepareJob(run, this.#parts);
      mask = prepared.mask;
      run.limits = formatLimits(prepared.job);
      run.runtime_version = prepared.runtimeVersion;
      app = runner.run(prepared.job, {
        onStart: () => {},
        onLog: (added) => lines.add(added, mask),
      });
      this.#apps.set(key, app);
      if (this.#draining) app.cancel();
      end = withWarning(await app.done, prepared.runtimeWarning);
    } catch (error) {
      end = { kind: 'unstarted', error };
    }
    const damage = prepared?.findDamage();
    if (damage) end = { kind: 'unstarted', error: damage };
    this.#apps.delete(key);
    this.#backOff(run, end);
    release();
    metrics.slotsBusy.set(slots.busyCount);
    this.#keeping += 1;
    this.#claims.wake();
    await finalizeRun(this.#parts, { run, end, lines, mask, isDraining: () => this.#draining });
    this.#keeping -= 1;
    if (this.#keeping === PENDING_RESULTS_MAX - 1) this.#claims.wake();
    await app?.dispose();
  }

  /**
   * Claims nothing for a while after a host trouble, longer after each in a row: another machine may take the runs, and
   * one that cannot start apps does not go through the whole queue. A run that alone meets its fault again and again, such
   * as one whose input lies on a bad sector, has pauses of its own and does not hold up the others.
   */
  #backOff({ id }: RunsTable, end: AttemptOutcome): void {
    const { clock, log } = this.#parts;
    if (!isHostFailure(end)) {
      this.#faults = 0;
      this.#faulted.clear();
      return;
    }
    // Runs that meet the same trouble at once are one.
    if (this.#resting || this.#draining) return;
    const isRepeated = isEndedByHostFault(end) && this.#faulted.has(id);
    this.#faulted.add(id);
    if (!isRepeated) this.#faults += 1;
    else if (this.#faulted.size === 1) return;
    this.#resting = true;
    const ms = claimPauseMs(this.#faults);
    log.warn({ faults: this.#faults, ms }, 'The host has a fault; no run is claimed for a while.');
    clock.after(ms, () => {
      this.#resting = false;
      this.#claims.wake();
    });
  }

  /** Cancels the apps of runs that are to be canceled, were deleted, or were taken from this worker. */
  async #cancel(): Promise<undefined> {
    if (this.#apps.size === 0) return;
    const before = [...this.#apps];
    const held = await listLeasedRuns(this.#parts.database.read, this.#parts.workerId);
    const goOn = new Set(held.filter((run) => run.cancel_requested_at === null).map(keyOf));
    for (const [key, app] of before) if (!goOn.has(key)) app.cancel();
  }
}
