/**
 * One app, in the launcher, from the making of its folder to the death of its last process.
 *
 * Invariant: `ended` is called exactly once, after no process of the run lives any more, and the first cause
 * of the end (a limit, a cancel) is the one reported, whatever the app does afterwards.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, closeSync, fchownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutableIndex } from '../archive/executable-cache.ts';
import { type FolderUsage, measureFolders } from '../filesystem/folder-usage.ts';
import { type DiskUsage, type RunDisk, readDiskUsage } from '../filesystem/run-disks.ts';
import { listWritableFolders, type RunFolder, resolveRunFolder } from '../filesystem/run-folder.ts';
import { removeWorldWritableFiles } from '../filesystem/world-writable-dirs.ts';
import { getErrorMessage } from '../process/errors.ts';
import { formatDuration } from '../process/format.ts';
import { toHostFaultField } from '../process/host-faults.ts';
import { countHostOomKills, spawnWithAppOomScore } from '../process/oom-score.ts';
import {
  inspectProcess,
  killUntilGone,
  listChildren,
  RUN_MARKER_VARIABLE,
  sendSignal,
} from '../process/processes.ts';
import {
  buildCommandChain,
  type ChainInput,
  hasAppStarted,
  openStdio,
  renderStartScript,
} from '../sandbox/command-chain.ts';
import { assignCores, type CoreAssignment } from '../sandbox/core-assignment.ts';
import type { Confinement, LaunchPlan } from '../sandbox/launch-plan.ts';
import { createRunCgroups, type RunCgroups, removeRunCgroups } from '../sandbox/run-cgroups.ts';
import { InvalidAppError, makeWorkingCopy } from '../sandbox/working-copy.ts';
import { findBreachAtEnd } from './breach-at-end.ts';
import type { MemoryEstimate } from './memory-guard.ts';
import type { EndReport } from './protocol.ts';
import { findRunProcesses } from './run-processes.ts';
import { type LimitBreach, Watchdog } from './watchdog.ts';

/** Longest delay a timer takes; a longer limit is looked at again when it fires. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** stdin, stdout, stderr and the start script. */
const OWN_FILES = 4;
/** What a small file takes at least. */
export const FILE_BLOCK_BYTES = 4096;
/** How often we look for the app's own process when a cancel comes before it is there. */
const TERM_RETRY_MS = 5;

export interface AppRunEvents {
  started(info: { pid: number; user?: number; at: number }): void;
  ended(report: EndReport): void;
}

export class AppRun {
  readonly #confinement: Confinement;
  readonly #plan: LaunchPlan;
  #folder: RunFolder;
  #disk: RunDisk | undefined;
  readonly #events: AppRunEvents;
  readonly #user: number | undefined;
  #cpus: CoreAssignment | undefined;
  #cgroup: RunCgroups | undefined;
  #child: ChildProcess | undefined;
  #watchdog: Watchdog | undefined;
  /** What the executable and the input brought along. */
  #initialUsage: FolderUsage = { bytes: 0, entries: 0 };
  /** What was on the disk before the app was. */
  #usedAtStart: DiskUsage | undefined;
  #cause: LimitBreach | undefined;
  /** When the first process of the run began, in the kernel's terms. */
  #chainStarted = '';
  #startedAt = Date.now();
  #startedTick = performance.now();
  /** What the kernel had ended on this machine before the start. */
  #killsBefore = 0;
  #timers: NodeJS.Timeout[] = [];
  #finished = false;
  readonly #over = Promise.withResolvers<void>();

  constructor(confinement: Confinement, plan: LaunchPlan, events: AppRunEvents) {
    this.#confinement = confinement;
    this.#plan = plan;
    this.#folder = resolveRunFolder(plan.folder);
    this.#events = events;
    const { users } = confinement;
    this.#user = users === undefined ? undefined : users.first + Math.floor(Math.random() * users.count);
  }

  /** Before the start: where the app's folders lie, with its input there. */
  useDisk(disk: RunDisk): void {
    this.#disk = disk;
    this.#folder = resolveRunFolder(this.#plan.folder, join(disk.path, 'run'));
  }

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

  failToStart(error: unknown): void {
    const reason = error instanceof InvalidAppError ? 'not-startable' : 'host';
    const what = error instanceof InvalidAppError ? '' : 'The host could not start the app: ';
    this.#finish({
      exitCode: null,
      signal: null,
      cause: { reason, error: what + getErrorMessage(error), ...toHostFaultField(error) },
      appRan: false,
    });
  }

  /** SIGTERM, grace, SIGKILL. */
  cancel(): void {
    this.#windDown({ reason: 'canceled', error: 'The run was canceled.' });
  }

  /** Kills at once; resolves when nothing of the run lives. */
  async killAll(): Promise<void> {
    this.#cause ??= { reason: 'canceled', error: 'The runner was ended.' };
    this.#kill();
    await this.#over.promise;
  }

  /** Called every SAMPLE_MS. */
  sample(now: number): void {
    if (this.#watchdog === undefined || this.#child === undefined) return;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const breach = this.#watchdog.sample(now);
    if (breach === undefined) return;
    this.#cause ??= breach;
    this.#kill();
  }

  /** What the run holds, for when the host is short of memory. */
  estimateMemory(): MemoryEstimate {
    return this.#watchdog?.estimateMemory() ?? { knownBytes: 0, upperBoundBytes: 0 };
  }

  /** Ends the run because the host has no memory left and this run holds the most. */
  endForMemory(error: string): void {
    this.#cause ??= { reason: 'memory', error };
    this.#kill();
  }

  #spawn(index: ExecutableIndex): void {
    const { means, tools, hostCores, cgroup, marker } = this.#confinement;
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
    // By its owner the user of the run is known, and by that its processes, when the launcher is gone.
    if (this.#disk !== undefined && user !== undefined && means !== 'bwrap') {
      const { work } = resolveRunFolder(plan.folder);
      mkdirSync(work, { mode: 0o700 });
      chownSync(work, user, user);
    }
    // What an input archive takes is known only by looking; executables have been measured.
    this.#initialUsage =
      plan.inputPath === undefined
        ? {
            bytes: index.unpackedBytes + index.entries.length * FILE_BLOCK_BYTES,
            entries: index.entries.length,
          }
        : measureFolders(listWritableFolders(this.#folder), { bytes: Infinity, entries: Infinity });
    if (cgroup !== undefined) this.#cgroup = createRunCgroups(cgroup, plan.key, plan.limits);
    if (tools.taskset !== undefined && plan.limits.cores < hostCores) {
      this.#cpus = assignCores(Math.ceil(plan.limits.cores));
    }
    const input: ChainInput = { confinement: this.#confinement, plan, folder: this.#folder, shared };
    if (user !== undefined) input.user = user;
    if (this.#cpus !== undefined) input.cpus = this.#cpus.cpus;
    if (this.#cgroup !== undefined) input.cgroup = this.#cgroup;
    // A sandbox sees these files by their open descriptors only; elsewhere they lie where others might look.
    const mode = means === 'bwrap' ? 0o666 : 0o600;
    writeFileSync(this.#folder.script, renderStartScript(input), { mode: means === 'bwrap' ? 0o644 : 0o600 });
    const chain = buildCommandChain(input);
    const stdio = openStdio(input, mode);
    if (this.#disk !== undefined) this.#usedAtStart = readDiskUsage(this.#disk.path);
    try {
      // The app may open /dev/stdin and its like again, for which the files must be its own, or anybody's.
      if (user !== undefined && means !== 'bwrap')
        for (const one of stdio.slice(0, OWN_FILES)) fchownSync(one, user, user);
      this.#startedAt = Date.now();
      this.#killsBefore = countHostOomKills();
      this.#startedTick = performance.now();
      this.#child = spawnWithAppOomScore(() =>
        spawn(chain.command, chain.arguments, {
          cwd: chain.cwd,
          stdio,
          detached: true,
          env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', [RUN_MARKER_VARIABLE]: `${marker}/${plan.key}` },
        }),
      );
    } finally {
      for (const descriptor of stdio) closeSync(descriptor);
    }
    this.#follow(this.#child);
  }

  #follow(child: ChildProcess): void {
    child.once('error', (error) => {
      const message = `The host could not start the app: ${error.message}`;
      const cause: LimitBreach = { reason: 'host', error: message, ...toHostFaultField(error) };
      this.#finish({ exitCode: null, signal: null, cause, appRan: false });
    });
    const { pid } = child;
    if (pid === undefined) return;
    this.#chainStarted = inspectProcess(pid)?.startTicks ?? '';
    const info = { pid, at: this.#startedAt };
    this.#events.started(this.#user === undefined ? info : { ...info, user: this.#user });
    this.#watchdog = new Watchdog({
      plan: this.#plan,
      folder: this.#folder,
      pid,
      cgroup: this.#cgroup,
      canLowerOomScore: this.#confinement.means !== 'bwrap',
      initialUsage: this.#initialUsage,
      disk: this.#usedAtStart && this.#disk && { ...this.#disk, used: this.#usedAtStart },
      user: this.#sharingUser(),
    });
    this.#limitDuration();
    child.once('exit', (code, signalName) => {
      this.#exited(pid, code, signalName).catch((error: unknown) => {
        // Whatever the app left must not end the launcher, and with it all other runs.
        const cause: LimitBreach = {
          reason: 'host',
          error: `The end of the app was not understood: ${getErrorMessage(error)}`,
          ...toHostFaultField(error),
        };
        this.#finish({ exitCode: code, signal: signalName, cause: this.#cause ?? cause, appRan: true });
      });
    });
  }

  #limitDuration(): void {
    const { durationMs } = this.#plan.limits;
    const left = durationMs - (performance.now() - this.#startedTick);
    if (left > 0) {
      this.#timers.push(setTimeout(() => this.#limitDuration(), Math.min(left, LONGEST_TIMER_MS)));
      return;
    }
    this.#windDown({
      reason: 'duration',
      error: `The app ran for its limit of ${formatDuration(durationMs)} and was stopped.`,
    });
  }

  #windDown(cause: LimitBreach): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    // Not started yet: it will not be.
    if (this.#child === undefined) return;
    this.#terminate();
    this.#timers.push(setTimeout(() => this.#kill(), this.#plan.graceMs));
  }

  /** SIGTERM to the app's own process, as soon as it is there. */
  #terminate(): void {
    const pid = this.#appPid();
    if (pid !== undefined) sendSignal(pid, 'SIGTERM');
    else this.#timers.push(setTimeout(() => this.#terminate(), TERM_RETRY_MS));
  }

  /**
   * The process the app's command became. In a pid namespace the shell is process 1 and the app its first child; the
   * chain above it has one child each. Undefined while the chain is still being built.
   */
  #appPid(): number | undefined {
    const top = this.#child?.pid;
    if (top === undefined || !hasAppStarted(this.#folder)) return undefined;
    if (this.#confinement.means === 'plain') return top;
    const [first] = listChildren(top);
    return first === undefined ? undefined : listChildren(first)[0];
  }

  /** The user of this run alone, when it can write where all users of the host may. */
  #sharingUser(): number | undefined {
    return this.#confinement.means === 'bwrap' ? undefined : this.#user;
  }

  #kill(): void {
    const top = this.#child?.pid;
    if (top === undefined) return;
    if (this.#confinement.means === 'plain') {
      sendSignal(top, 'SIGKILL');
      return;
    }
    // Process 1 of the namespace takes all others with it, and the link above it returns when they are gone.
    const [first] = listChildren(top);
    if (first !== undefined) sendSignal(first, 'SIGKILL');
    else sendSignal(top, 'SIGKILL');
  }

  async #exited(pid: number, exitCode: number | null, signalName: string | null): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    // Whoever kills the top of the chain from outside leaves the rest to us, as the lack of a namespace does.
    if (this.#confinement.means === 'plain' || signalName !== null) await this.#killRest(pid);
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
          oomKillsAtStart: this.#killsBefore,
        }),
      appRan,
    });
  }

  /** Kills what a pid namespace would have ended with its first process. */
  async #killRest(pid: number): Promise<void> {
    const left = await killUntilGone(() =>
      findRunProcesses({
        rootPid: pid,
        marker: `${this.#confinement.marker}/${this.#plan.key}`,
        seen: this.#watchdog?.seenProcesses ?? new Map<number, string>(),
        user: this.#user,
        cgroup: this.#cgroup,
        outputFiles: [this.#folder.stdout, this.#folder.stderr],
        rootStartTicks: this.#chainStarted,
      }),
    );
    if (left.length > 0)
      this.#cause ??= {
        reason: 'host',
        error: `Processes of the app could not be killed: ${left.join(', ')}.`,
      };
  }

  #finish(end: {
    exitCode: number | null;
    signal: string | null;
    cause: LimitBreach | undefined;
    appRan: boolean;
  }): void {
    if (this.#finished) return;
    this.#finished = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#cpus?.release();
    if (this.#cgroup !== undefined) removeRunCgroups(this.#cgroup);
    removeWorldWritableFiles(this.#sharingUser());
    const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const report: EndReport = {
      exitCode: end.exitCode,
      signal: end.signal,
      appRan: end.appRan,
      startedAt: this.#startedAt,
      endedAt: Date.now(),
      executionMs: end.appRan ? performance.now() - this.#startedTick : 0,
      stdoutBytes: size(this.#folder.stdout),
      stderrBytes: size(this.#folder.stderr),
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
    this.#over.resolve();
  }
}
