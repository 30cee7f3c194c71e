/**
 * Executes the attempts that a worker was given, one for each slot. It knows neither how the worker claims runs nor where
 * their results are stored.
 *
 * Invariants: a slot is released when the app has ended, before its results are stored. Every attempt that started is
 * finished, whatever fails in between.
 */
import { loadavg } from 'node:os';
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { StartConditions } from '@switchyard/contract/experiments/experiment-runs.ts';
import {
  describeRuntimeMismatch,
  findRuntimeVersion,
  type Host,
  isHostFault,
  type Outcome,
  type Runner,
  type RunningApp,
  type RunSpec,
} from '@switchyard/runner';
import { getErrorMessage } from '@switchyard/runner/process/errors.ts';
import type { ApiAccess, ApiProxy } from '../access/api-proxy.ts';
import { computeBackoffMs } from '../backoff.ts';
import type { WorkerClock, WorkerLog } from '../environment.ts';
import { LogWriter } from '../log/log-writer.ts';
import { Mask, NO_MASK } from '../log/mask.ts';
import {
  type Assignment,
  type AttemptOutcome,
  buildRunSpec,
  describeLimits,
  formatAttemptKey,
  isHostFailure,
  isMemoryVictim,
  type Job,
} from './job.ts';
import { RunningWorkflows } from './running-workflows.ts';
import type { Pool, SlotTracker } from './slots.ts';

/** At this number of ended apps with unwritten results, no run is claimed, so that a slow disk slows the claims down. */
const PENDING_RESULTS_MAX = 64;

const FIRST_CLAIM_PAUSE_MS = 500;
const CLAIM_PAUSE_MAX_MS = 30_000;

export interface ExecutorParts extends Omit<PrepareParts, 'host'> {
  runner: Runner;
  slots: SlotTracker;
  clock: WorkerClock;
  log: WorkerLog;
  /** Identifies the data folder of the worker, also after a restart. */
  folderId: string;
  /** The worker can take another run. */
  onCapacity(): void;
  /** The number of busy slots has changed. */
  onBusyChanged(count: number): void;
}

/** The parts of an attempt that exist once its app is prepared. */
interface Started {
  prepared: PreparedApp;
  startConditions: StartConditions | null;
}

/** Executes attempts. */
export class Executor {
  readonly #parts: ExecutorParts;
  /** The attempts of this process that are not finished yet. */
  readonly #attempts = new Map<string, Promise<void>>();
  readonly #apps = new Map<string, RunningApp>();
  readonly #workflows = new RunningWorkflows();
  #pendingResults = 0;
  #isDraining = false;
  /** Attempts in a row that a fault of the host ended; the attempts of one run count once. */
  #faults = 0;
  /** The runs of these attempts. */
  readonly #faultedRuns = new Set<string>();
  #isPaused = false;
  /** The result of the last check for disk space. */
  #hadDiskSpace = true;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  /** The slots that can be filled now, by the classes that share them; empty while the worker takes no run. */
  get freeSlots(): { classes: readonly ExecutionClass[]; slots: number }[] {
    if (this.#isDraining || this.#isPaused || !this.#hasDiskSpace()) return [];
    return this.#parts.slots.pools
      .map((pool) => ({ classes: pool.classes, slots: this.#countFree(pool) }))
      .filter(({ slots }) => slots > 0);
  }

  #countFree(pool: Pool): number {
    return Math.min(this.#parts.slots.countFree(pool), PENDING_RESULTS_MAX - this.#pendingResults);
  }

  /** The number of further workflows that the worker takes, by their depth. */
  get workflowCapacity(): readonly number[] {
    return this.#workflows.capacity;
  }

  /** True when a workflow holds a slot. */
  get hasWorkflowSlots(): boolean {
    return this.#workflows.hasSlots;
  }

  /** Returns true if the attempt with the key is not finished yet. */
  hasAttempt(key: string): boolean {
    return this.#attempts.has(key);
  }

  /** Executes an attempt; returns at once, with its slot acquired. */
  start(assignment: Assignment): void {
    const key = formatAttemptKey(assignment.run);
    const { log } = this.#parts;
    const work = this.#execute(assignment, key)
      .catch((error: unknown) =>
        log.error({ run: assignment.run.id, error: getErrorMessage(error) }, 'Clean-up after a run failed.'),
      )
      .finally(() => this.#attempts.delete(key));
    this.#attempts.set(key, work);
  }

  /** Cancels the apps of these attempts. */
  cancel(keys: Iterable<string>): void {
    for (const key of keys) this.#apps.get(key)?.cancel();
  }

  /** Returns the keys of the attempts whose app runs. */
  listApps(): string[] {
    return [...this.#apps.keys()];
  }

  /** Releases the slots of workflows whose app has created a run. */
  releaseSlots(keys: readonly string[]): void {
    if (this.#workflows.releaseSlots(keys) === 0) return;
    this.#parts.onBusyChanged(this.#parts.slots.busyCount);
    this.#parts.onCapacity();
  }

  /** Takes no further run, cancels the running apps, and waits until every attempt is finished. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.cancel(this.listApps());
    await Promise.all(this.#attempts.values());
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

  async #execute(assignment: Assignment, key: string): Promise<void> {
    const { slots, clock, log, onBusyChanged, onCapacity } = this.#parts;
    const { run, executionClass, workflowDepth } = assignment;
    const release = slots.acquire(executionClass);
    if (workflowDepth !== null) this.#workflows.start(key, workflowDepth, release);
    onBusyChanged(slots.busyCount);
    const lines = new LogWriter({ clock, log, writeLog: (batch) => assignment.writeLog(batch) }, run);
    const { started, app, ...end } = await this.#runApp(assignment, key, lines);
    const fault: unknown = assignment.findDamage() ?? started?.prepared.access?.lost.reason;
    const outcome: AttemptOutcome = fault ? { kind: 'unstarted', error: fault } : end.outcome;
    this.#apps.delete(key);
    this.#backOff(run.id, outcome);
    await this.#closeAccess(run.id, started);
    this.#workflows.end(key);
    release();
    onBusyChanged(slots.busyCount);
    this.#pendingResults += 1;
    onCapacity();
    await assignment.finish({
      outcome,
      log: await lines.end(),
      limits: started ? describeLimits(started.prepared.spec) : null,
      runtimeVersion: started?.prepared.runtimeVersion ?? null,
      startConditions: started?.startConditions ?? null,
      secretValues: started?.prepared.mask.values ?? [],
      isDraining: () => this.#isDraining,
    });
    this.#pendingResults -= 1;
    if (this.#pendingResults === PENDING_RESULTS_MAX - 1) onCapacity();
    await app?.dispose();
  }

  async #runApp(
    assignment: Assignment,
    key: string,
    lines: LogWriter,
  ): Promise<{ outcome: AttemptOutcome; started?: Started; app?: RunningApp }> {
    const { runner, slots, folderId } = this.#parts;
    let started: Started | undefined;
    let app: RunningApp | undefined;
    try {
      const job = await assignment.loadJob();
      const prepared = await prepareApp(job, assignment, { ...this.#parts, host: runner.host });
      const { mask } = prepared;
      started = {
        prepared,
        startConditions: job.isCompared ? readStartConditions(folderId, slots.busyCount) : null,
      };
      app = runner.run(prepared.spec, {
        onStart: ({ at }) => lines.setStart(at),
        onLog: (added) => lines.add(added, mask),
        onUsage: (usage) => lines.addUsage(usage),
      });
      this.#apps.set(key, app);
      cancelOnLoss(app, prepared);
      if (this.#isDraining) app.cancel();
      return { outcome: withWarning(await app.done, prepared.runtimeWarning), started, app };
    } catch (error) {
      return {
        outcome: { kind: 'unstarted', error },
        ...(started ? { started } : {}),
        ...(app ? { app } : {}),
      };
    }
  }

  async #closeAccess(run: string, started: Started | undefined): Promise<void> {
    await started?.prepared.access
      ?.close()
      .catch((error: unknown) =>
        this.#parts.log.error(
          { run, error: getErrorMessage(error) },
          'Access of a run to the API not closed.',
        ),
      );
  }

  /**
   * Pauses the claims after a fault of the host, longer after each one in a row. Another machine may execute the runs, and
   * a machine that cannot start apps does not drain the queue. A run that alone fails repeatedly, such as one whose input is
   * stored on a bad sector, has its own retry delay and does not pause the others.
   */
  #backOff(run: string, end: AttemptOutcome): void {
    const { clock, log } = this.#parts;
    if (isMemoryVictim(end)) return;
    if (!isHostFailure(end)) {
      this.#faults = 0;
      this.#faultedRuns.clear();
      return;
    }
    // Runs that the same fault ends at once count once.
    if (this.#isPaused || this.#isDraining) return;
    const isRepeated = isEndedByHostFault(end) && this.#faultedRuns.has(run);
    this.#faultedRuns.add(run);
    if (!isRepeated) this.#faults += 1;
    else if (this.#faultedRuns.size === 1) return;
    this.#isPaused = true;
    const ms = claimPauseMs(this.#faults);
    log.warn({ faults: this.#faults, ms }, 'Claims paused after a fault of the host.');
    clock.after(ms, () => {
      this.#isPaused = false;
      this.#parts.onCapacity();
    });
  }
}

/** An app without its access to the API could only fail. */
function cancelOnLoss(app: RunningApp, { access }: PreparedApp): void {
  access?.lost.addEventListener('abort', () => app.cancel());
  if (access?.lost.aborted) app.cancel();
}

/** Returns true if a fault of the host ended the attempt. */
export function isEndedByHostFault(end: AttemptOutcome): boolean {
  if (end.kind === 'unstarted') return isHostFault(end.error);
  return end.kind === 'ended' && end.hostFault === true;
}

/** Adds the warning to the error of an app that exited: the version of the runtime may be the cause. */
function withWarning(outcome: Outcome, warning: string | undefined): Outcome {
  if (warning === undefined || outcome.kind !== 'ended' || outcome.succeeded || outcome.reason !== 'exit')
    return outcome;
  return { ...outcome, error: `${outcome.error} Note: ${warning}` };
}

/** Returns the present conditions. `folderId` identifies the data folder of the worker, also after a restart. */
function readStartConditions(folderId: string, busySlots: number): StartConditions {
  return {
    host: folderId,
    concurrent_runs: busySlots,
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

/** Returns how long in milliseconds a worker pauses its claims after the n-th fault in a row, counted from 1. */
export function claimPauseMs(faults: number): number {
  return computeBackoffMs(faults, FIRST_CLAIM_PAUSE_MS, CLAIM_PAUSE_MAX_MS);
}

type Resources = Pick<Host, 'cores' | 'memoryBytes'>;

/** The parts of the worker that prepare an app. */
interface PrepareParts {
  host: Host;
  /** The cores and memory that all runs have together; null for those of the machine. */
  resources: Resources | null;
  /** By which apps reach the API. */
  apiProxy: Pick<ApiProxy, 'open'>;
}

interface PreparedApp {
  spec: RunSpec;
  /** Hides the secrets of the app in the log and the errors of the run. */
  mask: Mask;
  /** Version of the runtime that will run the app; null for compiled programs. */
  runtimeVersion: string | null;
  /** A sentence, when the version differs from the one that the executable requires. */
  runtimeWarning: string | undefined;
  /** The access of the app to the API; null without. Close it after the end of the app. */
  access: ApiAccess | null;
}

async function prepareApp(
  job: Job,
  assignment: Assignment,
  { host, resources, apiProxy }: PrepareParts,
): Promise<PreparedApp> {
  const isIsolated = host.containment === 'sandbox' && !job.network;
  const access =
    job.accessToken === null
      ? null
      : await apiProxy.open({
          token: job.accessToken,
          isIsolated,
          trace: job.trace,
          prove: (endpoint) => assignment.proveEndpoint(endpoint),
        });
  const { type } = job.executable;
  return {
    spec: buildRunSpec(job, {
      size: limitSize(host, resources),
      environment: access?.environment ?? {},
      ...(access?.forward ? { forward: access.forward } : {}),
      openExecutable: () => assignment.openExecutable(),
      openInput: () => assignment.openInput(),
      openPrevious: () => assignment.openPrevious(),
    }),
    access,
    mask: createMask(job),
    runtimeVersion: findRuntimeVersion(type, host) ?? null,
    runtimeWarning: describeRuntimeMismatch(type, job.runtime, host),
  };
}

/** A run has no more than all runs together, and no more than the machine has. */
function limitSize(host: Host, resources: Resources | null): Resources {
  if (!resources) return host;
  return {
    cores: Math.min(host.cores, resources.cores),
    memoryBytes: Math.min(host.memoryBytes, resources.memoryBytes),
  };
}

/** The token can do less than a secret, and only during the run. In a log it would still look like one. */
function createMask({ secrets, accessToken }: Job): Mask {
  const values = [...secrets.map(({ value }) => value), ...(accessToken === null ? [] : [accessToken])];
  return values.length === 0 ? NO_MASK : new Mask(values);
}
