/**
 * One app in the launcher, from the creation of its folder to the end of its last process.
 *
 * Invariant: `ended` is called exactly once, after the last process of the run has ended. The report names the first
 * cause of the end (a limit, a cancellation), whatever the app does afterwards.
 */
import type { ChildProcess } from 'node:child_process';
import { chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ExecutableIndex } from '../archive/executable-index.ts';
import type { FolderUsage } from '../filesystem/folder-usage.ts';
import { type DiskUsage, type RunDisk, readDiskUsage } from '../filesystem/run-disks.ts';
import { type RunFolder, resolveRunFolder } from '../filesystem/run-folder.ts';
import { removeWorldWritableFiles } from '../filesystem/world-writable-dirs.ts';
import { getErrorMessage } from '../process/errors.ts';
import { toHostFaultField } from '../process/host-faults.ts';
import { countHostOomKills } from '../process/oom-score.ts';
import { inspectProcess, killUntilGone, listChildren, sendSignal } from '../process/processes.ts';
import { type ChainInput, hasAppStarted, renderStartScript } from '../sandbox/command-chain.ts';
import type { CoreAllocator, CoreAssignment } from '../sandbox/core-allocator.ts';
import type { Confinement, LaunchPlan } from '../sandbox/launch-plan.ts';
import { createRunCgroups, type RunCgroups, removeRunCgroups } from '../sandbox/run-cgroups.ts';
import { InvalidAppError, makeWorkingCopy } from '../sandbox/working-copy.ts';
import type { ResourceUsage } from '../types.ts';
import { findBreachAtEnd } from './breach-at-end.ts';
import type { MemoryEstimate } from './memory-guard.ts';
import type { EndReport } from './protocol.ts';
import { findRunProcesses } from './run-processes.ts';
import { measureInitialUsage, spawnChain } from './spawn-app.ts';
import { createHostMemoryBreach, type LimitBreach, Watchdog } from './watchdog.ts';

/** Longest delay of a timer; a longer limit sets the timer again when it fires. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Interval of the search for the app's own process when a cancellation precedes its start. */
const TERM_RETRY_MS = 5;

/** Receives the events of one run. */
interface AppRunEvents {
  started(info: { pid: number; user?: number; at: number }): void;
  used(usage: ResourceUsage): void;
  ended(report: EndReport): void;
}

export interface AppRunOptions {
  confinement: Confinement;
  plan: LaunchPlan;
  /** User id of this run alone; undefined for the user of the launcher. */
  user: number | undefined;
  cores: CoreAllocator;
  events: AppRunEvents;
}

/** Starts, observes and ends one app. */
export class AppRun {
  readonly #confinement: Confinement;
  readonly #plan: LaunchPlan;
  #folder: RunFolder;
  #disk: RunDisk | undefined;
  readonly #events: AppRunEvents;
  readonly #user: number | undefined;
  readonly #cores: CoreAllocator;
  #assignedCores: CoreAssignment | undefined;
  #cgroup: RunCgroups | undefined;
  #child: ChildProcess | undefined;
  #watchdog: Watchdog | undefined;
  /** Size of the executable and the input. */
  #initialUsage: FolderUsage = { bytes: 0, entries: 0 };
  /** Usage of the run's disk before the start of the app. */
  #diskUsageAtStart: DiskUsage | undefined;
  #cause: LimitBreach | undefined;
  /** Start of the first process of the run, in clock ticks since boot. */
  #chainStartTicks = '';
  #startedAt = Date.now();
  #startedTick = performance.now();
  /** Result of countHostOomKills before the start of the app. */
  #oomKillsAtStart = 0;
  #timers: NodeJS.Timeout[] = [];
  #isFinished = false;
  readonly #finished = Promise.withResolvers<void>();

  constructor({ confinement, plan, user, cores, events }: AppRunOptions) {
    this.#confinement = confinement;
    this.#plan = plan;
    this.#folder = resolveRunFolder(plan.folder);
    this.#events = events;
    this.#user = user;
    this.#cores = cores;
  }

  /** Places the app's folders, with the input in them, on a disk of its own. Call it before start. */
  useDisk(disk: RunDisk): void {
    this.#disk = disk;
    this.#folder = resolveRunFolder(this.#plan.folder, join(disk.path, 'run'));
  }

  /** Starts the app unless the run was canceled. Reports an error as the end of the run. */
  start(index: () => ExecutableIndex): void {
    if (this.#cause !== undefined) {
      this.#finish({ exitCode: null, signal: null, cause: this.#cause, appRan: false });
      return;
    }
    try {
      this.#spawn(index());
    } catch (error) {
      this.failToStart(error);
    }
  }

  /** Reports that the app could not start: an InvalidAppError as the app's error, anything else as the host's. */
  failToStart(error: unknown): void {
    const reason = error instanceof InvalidAppError ? 'not-startable' : 'host';
    const prefix = error instanceof InvalidAppError ? '' : 'The host could not start the app: ';
    this.#finish({
      exitCode: null,
      signal: null,
      cause: { reason, error: prefix + getErrorMessage(error), ...toHostFaultField(error) },
      appRan: false,
    });
  }

  /** Sends SIGTERM and, after the grace period, SIGKILL. */
  cancel(): void {
    this.#stopGracefully({ reason: 'canceled', error: 'The run was canceled.' });
  }

  /** Kills the run without a grace period; resolves when no process of it lives. */
  async killAll(): Promise<void> {
    this.#cause ??= { reason: 'canceled', error: 'The runner was closed.' };
    this.#kill();
    await this.#finished.promise;
  }

  /** Checks the limits of the run. The launcher calls it every SAMPLE_INTERVAL_MS. */
  sample(now: number): void {
    if (this.#watchdog === undefined || this.#child === undefined) return;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const breach = this.#watchdog.sample(now);
    const usage = this.#watchdog.measureUsage(now);
    if (usage) this.#events.used({ at: Date.now(), ...usage });
    if (breach === undefined) return;
    this.#cause ??= breach;
    this.#kill();
  }

  /** Estimates the memory of the run, for a shortage on the host. */
  estimateMemory(): MemoryEstimate {
    return this.#watchdog?.estimateMemory() ?? { knownBytes: 0, upperBoundBytes: 0 };
  }

  /** Ends the run because the host is short of memory and this run holds the most: a host fault within its own limit. */
  endForMemory(error: string): void {
    this.#cause ??= this.#watchdog?.findMemoryBreach() ?? createHostMemoryBreach(error);
    this.#kill();
  }

  #spawn(index: ExecutableIndex): void {
    const { means, tools, hostCores, cgroup } = this.#confinement;
    const plan = this.#plan;
    const shared = means === 'bwrap' ? index.shared : [];
    const user = this.#user;
    makeWorkingCopy({
      plan,
      folder: this.#folder,
      index,
      shared,
      isSandbox: means === 'bwrap',
      ...(user === undefined ? {} : { user }),
    });
    // The owner of this folder identifies the user of the run, and so its processes, after the death of the launcher.
    if (this.#disk !== undefined && user !== undefined && means !== 'bwrap') {
      const { work } = resolveRunFolder(plan.folder);
      mkdirSync(work, { mode: 0o700 });
      chownSync(work, user, user);
    }
    this.#initialUsage = measureInitialUsage(plan, this.#folder, index);
    if (cgroup !== undefined) this.#cgroup = createRunCgroups(cgroup, plan.key, plan.limits);
    if (tools.taskset !== undefined && plan.limits.cores < hostCores) {
      this.#assignedCores = this.#cores.assign(Math.ceil(plan.limits.cores));
    }
    const input: ChainInput = { confinement: this.#confinement, plan, folder: this.#folder, shared };
    if (user !== undefined) input.user = user;
    if (this.#assignedCores !== undefined) input.cpus = this.#assignedCores.cpus;
    if (this.#cgroup !== undefined) input.cgroup = this.#cgroup;
    writeFileSync(this.#folder.script, renderStartScript(input), { mode: means === 'bwrap' ? 0o644 : 0o600 });
    if (this.#disk !== undefined) this.#diskUsageAtStart = readDiskUsage(this.#disk.path);
    this.#startedAt = Date.now();
    this.#oomKillsAtStart = countHostOomKills();
    this.#startedTick = performance.now();
    this.#child = spawnChain(input);
    this.#observe(this.#child);
  }

  #observe(child: ChildProcess): void {
    child.once('error', (error) => {
      const message = `The host could not start the app: ${error.message}`;
      const cause: LimitBreach = { reason: 'host', error: message, ...toHostFaultField(error) };
      this.#finish({ exitCode: null, signal: null, cause, appRan: false });
    });
    const { pid } = child;
    if (pid === undefined) return;
    this.#chainStartTicks = inspectProcess(pid)?.startTicks ?? '';
    const info = { pid, at: this.#startedAt };
    this.#events.started(this.#user === undefined ? info : { ...info, user: this.#user });
    this.#watchdog = new Watchdog({
      plan: this.#plan,
      folder: this.#folder,
      pid,
      cgroup: this.#cgroup,
      canLowerOomScore: this.#confinement.means !== 'bwrap',
      initialUsage: this.#initialUsage,
      disk: this.#diskUsageAtStart && this.#disk && { ...this.#disk, usageAtStart: this.#diskUsageAtStart },
      user: this.#hostVisibleUser(),
    });
    this.#limitDuration();
    child.once('exit', (code, signalName) => {
      this.#handleExit(pid, code, signalName).catch((error: unknown) => {
        // An error caused by the app's files must not end the launcher, and with it all other runs.
        const cause: LimitBreach = {
          reason: 'host',
          error: `The host could not determine how the app ended: ${getErrorMessage(error)}`,
          ...toHostFaultField(error),
        };
        this.#finish({ exitCode: code, signal: signalName, cause: this.#cause ?? cause, appRan: true });
      });
    });
  }

  #limitDuration(): void {
    const { durationMs } = this.#plan.limits;
    const remainingMs = durationMs - (performance.now() - this.#startedTick);
    if (remainingMs > 0) {
      this.#timers.push(setTimeout(() => this.#limitDuration(), Math.min(remainingMs, MAX_TIMER_MS)));
      return;
    }
    this.#stopGracefully({
      reason: 'duration',
      error: `The app ran for its limit of ${formatDuration(durationMs)} and was stopped.`,
    });
  }

  #stopGracefully(cause: LimitBreach): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    // Without a child process, start reports the cause and starts nothing.
    if (this.#child === undefined) return;
    this.#terminateApp();
    this.#timers.push(setTimeout(() => this.#kill(), this.#plan.graceMs));
  }

  /** Sends SIGTERM to the app's own process as soon as it exists. */
  #terminateApp(): void {
    const pid = this.#findAppPid();
    if (pid !== undefined) sendSignal(pid, 'SIGTERM');
    else this.#timers.push(setTimeout(() => this.#terminateApp(), TERM_RETRY_MS));
  }

  /**
   * Returns the id of the app's own process; undefined before it exists. In a pid namespace the shell is process 1 and
   * the app its first child; every process of the chain above has one child.
   */
  #findAppPid(): number | undefined {
    const top = this.#child?.pid;
    if (top === undefined || !hasAppStarted(this.#folder)) return undefined;
    if (this.#confinement.means === 'plain') return top;
    const [first] = listChildren(top);
    return first === undefined ? undefined : listChildren(first)[0];
  }

  /** Returns the user of this run alone when the app sees the folders of the host that all users may write. */
  #hostVisibleUser(): number | undefined {
    return this.#confinement.means === 'bwrap' ? undefined : this.#user;
  }

  #kill(): void {
    const top = this.#child?.pid;
    if (top === undefined) return;
    if (this.#confinement.means === 'plain') {
      sendSignal(top, 'SIGKILL');
      return;
    }
    // The kernel ends a namespace with its process 1; the parent of that process returns when all are gone.
    const [first] = listChildren(top);
    if (first !== undefined) sendSignal(first, 'SIGKILL');
    else sendSignal(top, 'SIGKILL');
  }

  async #handleExit(pid: number, exitCode: number | null, signalName: string | null): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    // A signal from outside that kills the top of the chain leaves the other processes alive, as a missing namespace does.
    if (this.#confinement.means === 'plain' || signalName !== null) await this.#killRemaining(pid);
    const appRan = hasAppStarted(this.#folder);
    this.#finish({
      exitCode,
      signal: signalName,
      cause:
        this.#cause ??
        findBreachAtEnd({
          exitCode,
          signal: signalName,
          plan: this.#plan,
          stdoutBytes: statSync(this.#folder.stdout).size,
          watchdog: this.#watchdog,
          oomKillsAtStart: this.#oomKillsAtStart,
        }),
      appRan,
    });
  }

  /** Kills the processes that a pid namespace would have ended together with its first process. */
  async #killRemaining(pid: number): Promise<void> {
    const survivors = await killUntilGone(() =>
      findRunProcesses({
        rootPid: pid,
        marker: `${this.#confinement.marker}/${this.#plan.key}`,
        seen: this.#watchdog?.seenProcesses ?? new Map<number, string>(),
        user: this.#user,
        cgroup: this.#cgroup,
        outputFiles: [this.#folder.stdout, this.#folder.stderr],
        rootStartTicks: this.#chainStartTicks,
      }),
    );
    if (survivors.length > 0)
      this.#cause ??= {
        reason: 'host',
        error: `Processes of the app could not be killed: ${survivors.join(', ')}.`,
      };
  }

  #finish(end: {
    exitCode: number | null;
    signal: string | null;
    cause: LimitBreach | undefined;
    appRan: boolean;
  }): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#assignedCores?.release();
    if (this.#cgroup !== undefined) removeRunCgroups(this.#cgroup);
    removeWorldWritableFiles(this.#hostVisibleUser());
    const readSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const report: EndReport = {
      exitCode: end.exitCode,
      signal: end.signal,
      appRan: end.appRan,
      startedAt: this.#startedAt,
      endedAt: Date.now(),
      executionMs: end.appRan ? performance.now() - this.#startedTick : 0,
      stdoutBytes: readSize(this.#folder.stdout),
      stderrBytes: readSize(this.#folder.stderr),
      writtenBytes: this.#watchdog?.writtenBytes ?? 0,
    };
    if (this.#user !== undefined) report.user = this.#user;
    if (this.#disk !== undefined) report.disk = join(this.#disk.path, 'run');
    if (end.cause !== undefined) {
      report.reason = end.cause.reason;
      report.error = end.cause.error;
      if (end.cause.hostFault) report.hostFault = true;
    }
    const peak = this.#watchdog?.peakMemoryBytes ?? 0;
    if (peak > 0) report.peakMemoryBytes = peak;
    this.#events.ended(report);
    this.#finished.resolve();
  }
}
