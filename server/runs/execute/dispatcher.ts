/**
 * Claims queued runs and executes them, one for each slot.
 *
 * Invariants: a run is executed only with a fencing token from a claim, and its end is written only with that token. A slot
 * is released when the app has ended, before its results are stored. A run that this process cannot finish is requeued: by
 * this process on shutdown, otherwise by the server that detects the dead worker.
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
import type { ApiTarget } from '../access/api-proxy.ts';
import type { RunTokens } from '../access/run-tokens.ts';
import { LogWriter } from '../logs/log-writer.ts';
import { claimRuns } from '../queue/claim-runs.ts';
import { requeueOrEnd } from '../queue/requeue.ts';
import type { JsonReader } from '../results/json-reader.ts';
import { listLeasedRuns, listWaitingWorkflows } from '../store/leases.ts';
import type { RunsTable } from '../store/schema.ts';
import { type AttemptOutcome, finalizeRun, isHostFailure } from './finalize.ts';
import { claimPauseMs, isEndedByHostFault } from './host-faults.ts';
import { formatLimits, type PreparedJob, prepareJob } from './prepare-job.ts';
import { RunningWorkflows } from './running-workflows.ts';
import { readStartConditions } from './start-conditions.ts';

const CLAIM_INTERVAL_MS = 1000;
const UNTRACKED_CHECK_INTERVAL_MS = 10_000;
/** At this number of ended apps with unwritten results, no run is claimed, so that a slow disk slows the claims down. */
const PENDING_RESULTS_MAX = 64;

export interface DispatchParts extends JobContext {
  database: Database;
  contents: Contents;
  seal: Encryptor;
  runner: Runner;
  slots: SlotTracker;
  workerId: string;
  /** Identifies the data folder of the worker, also after a restart. */
  folderId: string;
  random: Random;
  jsonReader: JsonReader;
  metrics: Metrics;
  runTokens: RunTokens;
  /** Returns the server as the apps of this worker reach it; null while this process does not listen yet. */
  findApi(): ApiTarget | null;
  /** The folder of the sockets by which apps in sandboxes reach the API. */
  socketsFolder: string;
}

/** Identifies an attempt: a run that the same process claims again has another fencing token, and another app. */
const formatAttemptKey = (run: Pick<RunsTable, 'id' | 'fence'>): string => `${run.id} ${run.fence}`;

/** Adds the warning to the error of an app that exited: the version of the runtime may be the cause. */
function withWarning(outcome: Outcome, warning: string | undefined): Outcome {
  if (warning === undefined || outcome.kind !== 'ended' || outcome.succeeded || outcome.reason !== 'exit')
    return outcome;
  return { ...outcome, error: `${outcome.error} Note: ${warning}` };
}

/** Executes the runs of one worker, from the claim to the stored result. */
export class Dispatcher {
  readonly #parts: DispatchParts;
  /** The attempts of this process that are not finalised yet. */
  readonly #attempts = new Map<string, Promise<void>>();
  readonly #apps = new Map<string, RunningApp>();
  readonly #workflows = new RunningWorkflows();
  readonly #claims: Job;
  readonly #slotReleases: Job;
  readonly #cancels: Job;
  #pendingResults = 0;
  #nextUntrackedCheck = 0;
  #isDraining = false;
  /** Attempts in a row that a fault of the host ended; the attempts of one run count once. */
  #faults = 0;
  /** The runs of these attempts. */
  readonly #faultedRuns = new Set<string>();
  #isPaused = false;
  /** The result of the last check for disk space. */
  #hadDiskSpace = true;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
    this.#claims = this.#claimRunsJob();
    this.#cancels = this.#cancelRunsJob();
    this.#slotReleases = this.#releaseSlotsJob();
  }

  start(): void {
    this.#claims.start();
    this.#cancels.start();
    this.#slotReleases.start();
  }

  /** Stops claiming, cancels the running apps, and waits until every attempt is finalised or its run requeued. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#claims.stop();
    await this.#cancels.stop();
    await this.#slotReleases.stop();
    for (const app of this.#apps.values()) app.cancel();
    await Promise.all(this.#attempts.values());
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

  /** Releases the slots of workflows whose apps have created a run, so that the runs they wait for can start. */
  #releaseSlotsJob(): Job {
    return defineJob(this.#parts, {
      name: 'release-slots',
      intervalMs: CLAIM_INTERVAL_MS,
      wakeOn: ['slots-released'],
      handle: () => this.#releaseSlots(),
    });
  }

  async #releaseSlots(): Promise<undefined> {
    const { database, slots, workerId, metrics } = this.#parts;
    if (!this.#workflows.hasSlots) return;
    const waiting = await listWaitingWorkflows(database.read, workerId);
    if (this.#workflows.releaseSlots(waiting.map(formatAttemptKey)) === 0) return;
    metrics.slotsBusy.set(slots.busyCount);
    this.#claims.wake();
  }

  /** Returns the number of claimed runs. */
  async #claim(): Promise<number> {
    const { database, runner, slots, workerId, clock } = this.#parts;
    if (this.#isPaused || !this.#hasDiskSpace()) return 0;
    let count = 0;
    for (const pool of slots.pools) {
      const limit = Math.min(slots.countFree(pool), PENDING_RESULTS_MAX - this.#pendingResults);
      if (limit <= 0 || this.#isDraining) continue;
      const claim = {
        workerId,
        classes: pool.classes,
        limit,
        workflowCapacity: this.#workflows.capacity,
        now: clock.now(),
        containment: runner.host.containment,
      };
      const claimed = await database.transact((tx) => claimRuns(tx, claim), { durable: false });
      if (claimed.length > 0) database.notify('runs-started');
      for (const run of claimed) this.#start(run);
      count += claimed.length;
    }
    return count;
  }

  /** Returns true if apps have disk space. Without it runs stay queued for a worker with space, and lose no attempt. */
  #hasDiskSpace(): boolean {
    const { runner, log } = this.#parts;
    const hasSpace = runner.hasDiskSpace();
    if (hasSpace !== this.#hadDiskSpace)
      log.warn(
        {},
        hasSpace ? 'Disk space available again.' : 'Disk full; no run is claimed until space is free.',
      );
    this.#hadDiskSpace = hasSpace;
    return hasSpace;
  }

  /**
   * Requeues leased runs without an attempt in this process. A claim can be committed although the database never
   * confirmed it. This worker alone claims for itself and no claim is in progress here, so such a run was never started.
   */
  async #requeueUntracked(): Promise<void> {
    const { database, clock, log, workerId } = this.#parts;
    if (clock.elapsed() < this.#nextUntrackedCheck) return;
    this.#nextUntrackedCheck = clock.elapsed() + UNTRACKED_CHECK_INTERVAL_MS;
    for (const run of await listLeasedRuns(database.read, workerId)) {
      if (this.#attempts.has(formatAttemptKey(run))) continue;
      const uncounted = { ...run, attempt: run.attempt - 1 };
      const reason = 'the confirmation of its claim never reached its worker.';
      const status = await database.transact((tx) =>
        requeueOrEnd(tx, uncounted, { reason, now: clock.now() }),
      );
      if (status) log.warn({ run: run.id, status }, 'Run requeued: it was claimed and never started.');
      if (status) database.notify(status === 'queued' ? 'runs-queued' : 'runs-ended');
    }
  }

  #start(run: RunsTable): void {
    const key = formatAttemptKey(run);
    const work = this.#execute(run, key)
      .catch((error: unknown) =>
        this.#parts.log.error({ run: run.id, error: errorMessage(error) }, 'Clean-up after a run failed.'),
      )
      .finally(() => this.#attempts.delete(key));
    this.#attempts.set(key, work);
  }

  async #execute(run: RunsTable, key: string): Promise<void> {
    const { database, runner, slots, clock, log, metrics } = this.#parts;
    const release = slots.acquire(run.execution_class);
    if (run.api_access !== null) this.#workflows.start(key, run.workflow_depth, release);
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
      run.start_conditions = readStartConditions(run, this.#parts);
      app = runner.run(prepared.job, {
        onStart: ({ at }) => lines.setStart(at),
        onLog: (added) => lines.add(added, mask),
        onUsage: (usage) => lines.addUsage(usage),
      });
      this.#apps.set(key, app);
      if (this.#isDraining) app.cancel();
      end = withWarning(await app.done, prepared.runtimeWarning);
    } catch (error) {
      end = { kind: 'unstarted', error };
    }
    const damage = prepared?.findDamage();
    if (damage) end = { kind: 'unstarted', error: damage };
    this.#apps.delete(key);
    this.#backOff(run, end);
    await this.#closeAccess(run, prepared);
    this.#workflows.end(key);
    release();
    metrics.slotsBusy.set(slots.busyCount);
    this.#pendingResults += 1;
    this.#claims.wake();
    await finalizeRun(this.#parts, { run, end, lines, mask, isDraining: () => this.#isDraining });
    this.#pendingResults -= 1;
    if (this.#pendingResults === PENDING_RESULTS_MAX - 1) this.#claims.wake();
    await app?.dispose();
  }

  async #closeAccess({ id }: RunsTable, prepared: PreparedJob | undefined): Promise<void> {
    await prepared?.access
      ?.close()
      .catch((error: unknown) =>
        this.#parts.log.error(
          { run: id, error: errorMessage(error) },
          'Access of a run to the API not closed.',
        ),
      );
  }

  /**
   * Pauses the claims after a fault of the host, longer after each one in a row. Another machine may execute the runs, and
   * a machine that cannot start apps does not drain the queue. A run that alone fails repeatedly, such as one whose input is
   * stored on a bad sector, has its own retry delay and does not pause the others.
   */
  #backOff({ id }: RunsTable, end: AttemptOutcome): void {
    const { clock, log } = this.#parts;
    if (!isHostFailure(end)) {
      this.#faults = 0;
      this.#faultedRuns.clear();
      return;
    }
    // Runs that the same fault ends at once count once.
    if (this.#isPaused || this.#isDraining) return;
    const isRepeated = isEndedByHostFault(end) && this.#faultedRuns.has(id);
    this.#faultedRuns.add(id);
    if (!isRepeated) this.#faults += 1;
    else if (this.#faultedRuns.size === 1) return;
    this.#isPaused = true;
    const ms = claimPauseMs(this.#faults);
    log.warn({ faults: this.#faults, ms }, 'Claims paused after a fault of the host.');
    clock.after(ms, () => {
      this.#isPaused = false;
      this.#claims.wake();
    });
  }

  /** Cancels the apps of runs with a cancel request, of deleted runs, and of runs whose lease has expired. */
  async #cancel(): Promise<undefined> {
    if (this.#apps.size === 0) return;
    const before = [...this.#apps];
    const leased = await listLeasedRuns(this.#parts.database.read, this.#parts.workerId);
    const activeKeys = new Set(
      leased.filter((run) => run.cancel_requested_at === null).map(formatAttemptKey),
    );
    for (const [key, app] of before) if (!activeKeys.has(key)) app.cancel();
  }
}
