/**
 * One app, in the launcher, from the making of its folder to the death of its last process.
 *
 * What must stay true: `ended` is called exactly once, after no process of the run lives any more, and the first cause
 * of the end (a limit, a cancel) is the one reported, whatever the app does afterwards.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, closeSync, fchownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeRunGroup, membersOf, type RunGroup, removeRunGroup } from './cgroup.ts';
import { type ChainInput, chainFor, fileLimitBytes, hasStarted, openStdio, startScript } from './confine.ts';
import { type CpuShare, takeCpus } from './cpus.ts';
import { type Disk, type Usage, usageOf } from './disks.ts';
import type { ExecutableIndex } from './executables.ts';
import { hostFaultOf } from './host-faults.ts';
import { type Measured, measure } from './measure.ts';
import type { Holdings } from './memory-guard.ts';
import { asFirstToEnd, machineKills } from './oom.ts';
import {
  childrenOf,
  inspectProcess,
  killUntilGone,
  listProcesses,
  MARKER_NAME,
  ofUsers,
  signal,
  withMarker,
  writersOf,
} from './processes.ts';
import type { Confinement, EndReport, LaunchPlan } from './protocol.ts';
import { type RunFolder, runFolder, writablePlaces } from './run-folder.ts';
import { durationInWords, reasonOf } from './sentences.ts';
import { clearSharedPlaces } from './shared-places.ts';
import { type Breach, diskBreach, HOST_WITHOUT_MEMORY, outputBreach, Watchdog } from './watchdog.ts';
import { makeWorkingCopy, NotStartable } from './working-copy.ts';

/** Longest delay a timer takes; a longer limit is looked at again when it fires. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** stdin, stdout, stderr and the start script. */
const OWN_FILES = 4;
/** What a small file takes at least. */
export const BLOCK_BYTES = 4096;
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
  #disk: Disk | undefined;
  readonly #events: AppRunEvents;
  readonly #user: number | undefined;
  #cpus: CpuShare | undefined;
  #cgroup: RunGroup | undefined;
  #child: ChildProcess | undefined;
  #watchdog: Watchdog | undefined;
  /** What the executable and the input brought along. */
  #brought: Measured = { bytes: 0, entries: 0 };
  /** What was on the disk before the app was. */
  #usedAtStart: Usage | undefined;
  #cause: Breach | undefined;
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
    this.#folder = runFolder(plan.folder);
    this.#events = events;
    const { users } = confinement;
    this.#user = users === undefined ? undefined : users.first + Math.floor(Math.random() * users.count);
  }

  /** Before the start: where the app's folders lie, with its input there. */
  useDisk(disk: Disk): void {
    this.#disk = disk;
    this.#folder = runFolder(this.#plan.folder, join(disk.path, 'run'));
  }

  start(index: () => ExecutableIndex): void {
    if (this.#cause !== undefined) {
      this.#finish({ exitCode: null, signal: null, cause: this.#cause, appRan: false });
      return;
    }
    try {
      this.#spawn(index());
    } catch (error) {
      this.cannotStart(error);
    }
  }

  cannotStart(error: unknown): void {
    const reason = error instanceof NotStartable ? 'not-startable' : 'host';
    const what = error instanceof NotStartable ? '' : 'The host could not start the app: ';
    this.#finish({
      exitCode: null,
      signal: null,
      cause: { reason, error: what + reasonOf(error), ...hostFaultOf(error) },
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
  holdings(): Holdings {
    return this.#watchdog?.holdings() ?? { knownBytes: 0, possibleBytes: 0 };
  }

  /** Ends the run because the host has no memory left and this run holds the most. */
  giveUpMemory(error: string): void {
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
      sandbox: means === 'bwrap',
      ...(user === undefined ? {} : { user }),
    });
    // By its owner the user of the run is known, and by that its processes, when the launcher is gone.
    if (this.#disk !== undefined && user !== undefined && means !== 'bwrap') {
      const { work } = runFolder(plan.folder);
      mkdirSync(work, { mode: 0o700 });
      chownSync(work, user, user);
    }
    // What an input archive takes is known only by looking; executables have been measured.
    this.#brought =
      plan.inputPath === undefined
        ? { bytes: index.unpackedBytes + index.entries.length * BLOCK_BYTES, entries: index.entries.length }
        : measure(writablePlaces(this.#folder), { bytes: Infinity, entries: Infinity });
    if (cgroup !== undefined) this.#cgroup = makeRunGroup(cgroup, plan.key, plan.limits);
    if (tools.taskset !== undefined && plan.limits.cores < hostCores) {
      this.#cpus = takeCpus(Math.ceil(plan.limits.cores));
    }
    const input: ChainInput = { confinement: this.#confinement, plan, folder: this.#folder, shared };
    if (user !== undefined) input.user = user;
    if (this.#cpus !== undefined) input.cpus = this.#cpus.cpus;
    if (this.#cgroup !== undefined) input.cgroup = this.#cgroup;
    // A sandbox sees these files by their open descriptors only; elsewhere they lie where others might look.
    const mode = means === 'bwrap' ? 0o666 : 0o600;
    writeFileSync(this.#folder.script, startScript(input), { mode: means === 'bwrap' ? 0o644 : 0o600 });
    const chain = chainFor(input);
    const stdio = openStdio(input, mode);
    if (this.#disk !== undefined) this.#usedAtStart = usageOf(this.#disk.path);
    try {
      // The app may open /dev/stdin and its like again, for which the files must be its own, or anybody's.
      if (user !== undefined && means !== 'bwrap')
        for (const one of stdio.slice(0, OWN_FILES)) fchownSync(one, user, user);
      this.#startedAt = Date.now();
      this.#killsBefore = machineKills();
      this.#startedTick = performance.now();
      this.#child = asFirstToEnd(() =>
        spawn(chain.command, chain.arguments, {
          cwd: chain.cwd,
          stdio,
          detached: true,
          env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', [MARKER_NAME]: `${marker}/${plan.key}` },
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
      const cause: Breach = { reason: 'host', error: message, ...hostFaultOf(error) };
      this.#finish({ exitCode: null, signal: null, cause, appRan: false });
    });
    const { pid } = child;
    if (pid === undefined) return;
    this.#chainStarted = inspectProcess(pid)?.started ?? '';
    const info = { pid, at: this.#startedAt };
    this.#events.started(this.#user === undefined ? info : { ...info, user: this.#user });
    this.#watchdog = new Watchdog({
      plan: this.#plan,
      folder: this.#folder,
      pid,
      cgroup: this.#cgroup,
      ownsScore: this.#confinement.means !== 'bwrap',
      brought: this.#brought,
      disk: this.#usedAtStart && this.#disk && { ...this.#disk, used: this.#usedAtStart },
      user: this.#sharingUser(),
    });
    this.#limitDuration();
    child.once('exit', (code, signalName) => {
      this.#exited(pid, code, signalName).catch((error: unknown) => {
        // Whatever the app left must not end the launcher, and with it all other runs.
        const cause: Breach = {
          reason: 'host',
          error: `The end of the app was not understood: ${reasonOf(error)}`,
          ...hostFaultOf(error),
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
      error: `The app ran for its limit of ${durationInWords(durationMs)} and was stopped.`,
    });
  }

  #windDown(cause: Breach): void {
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
    if (pid !== undefined) signal(pid, 'SIGTERM');
    else this.#timers.push(setTimeout(() => this.#terminate(), TERM_RETRY_MS));
  }

  /**
   * The process the app's command became. In a pid namespace the shell is process 1 and the app its first child; the
   * chain above it has one child each. Undefined while the chain is still being built.
   */
  #appPid(): number | undefined {
    const top = this.#child?.pid;
    if (top === undefined || !hasStarted(this.#folder)) return undefined;
    if (this.#confinement.means === 'plain') return top;
    const [first] = childrenOf(top);
    return first === undefined ? undefined : childrenOf(first)[0];
  }

  /** The user of this run alone, when it can write where all users of the host may. */
  #sharingUser(): number | undefined {
    return this.#confinement.means === 'bwrap' ? undefined : this.#user;
  }

  #kill(): void {
    const top = this.#child?.pid;
    if (top === undefined) return;
    if (this.#confinement.means === 'plain') {
      signal(top, 'SIGKILL');
      return;
    }
    // Process 1 of the namespace takes all others with it, and the link above it returns when they are gone.
    const [first] = childrenOf(top);
    if (first !== undefined) signal(first, 'SIGKILL');
    else signal(top, 'SIGKILL');
  }

  async #exited(pid: number, exitCode: number | null, signalName: string | null): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    // Whoever kills the top of the chain from outside leaves the rest to us, as the lack of a namespace does.
    if (this.#confinement.means === 'plain' || signalName !== null) await this.#killRest(pid);
    const appRan = hasStarted(this.#folder);
    this.#finish({
      exitCode,
      signal: signalName,
      cause: this.#cause ?? this.#breachAtEnd(exitCode, signalName),
      appRan,
    });
  }

  /** Without a pid namespace: group, session, descendants, everything ever seen, user, environment marker. */
  async #killRest(pid: number): Promise<void> {
    const seen = this.#watchdog?.seen ?? new Map<number, string>();
    const value = `${this.#confinement.marker}/${this.#plan.key}`;
    const left = await killUntilGone(() => {
      const all = listProcesses();
      const known = all.filter(
        (one) =>
          one.pid !== pid && (one.group === pid || one.session === pid || seen.get(one.pid) === one.started),
      );
      const found = new Set(known.map((one) => one.pid));
      for (const one of all) if (found.has(one.parent)) found.add(one.pid);
      for (const other of withMarker((text) => text === value)) found.add(other);
      if (this.#user !== undefined) for (const other of ofUsers(new Set([this.#user]))) found.add(other);
      if (this.#cgroup !== undefined) for (const other of membersOf(this.#cgroup)) found.add(other);
      if (this.#user === undefined) {
        const files = [this.#folder.stdout, this.#folder.stderr];
        for (const other of writersOf(files, this.#chainStarted)) found.add(other);
      }
      found.delete(pid);
      return found;
    });
    if (left.length > 0)
      this.#cause ??= {
        reason: 'host',
        error: `Processes of the app could not be killed: ${left.join(', ')}.`,
      };
  }

  /** A limit that the kernel held, or that was broken after the last sample. */
  #breachAtEnd(exitCode: number | null, signalName: string | null): Breach | undefined {
    const { limits, stdoutIsLog } = this.#plan;
    const stdout = statSync(this.#folder.stdout).size;
    if (!stdoutIsLog && stdout > limits.outputBytes) return outputBreach(stdout, limits.outputBytes);
    const onDisk = this.#watchdog?.brokenOnDisk();
    if (onDisk !== undefined || exitCode === 0) return onDisk;
    const killed = this.#watchdog?.killedForMemory() ?? this.#killedWithHost(exitCode, signalName);
    if (killed !== undefined) return killed;
    const tooLarge = signalName === 'SIGXFSZ' || exitCode === 128 + 25;
    if (tooLarge) return diskBreach(fileLimitBytes(this.#plan), limits.fileBytes);
    return undefined;
  }

  /** Ended by SIGKILL, which was not ours, while the kernel ended processes for lack of memory. */
  #killedWithHost(exitCode: number | null, signalName: string | null): Breach | undefined {
    const killed = signalName === 'SIGKILL' || exitCode === 128 + 9;
    if (!killed || machineKills() === this.#killsBefore) return undefined;
    return { reason: 'memory', error: HOST_WITHOUT_MEMORY };
  }

  #finish(end: {
    exitCode: number | null;
    signal: string | null;
    cause: Breach | undefined;
    appRan: boolean;
  }): void {
    if (this.#finished) return;
    this.#finished = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#cpus?.giveBack();
    if (this.#cgroup !== undefined) removeRunGroup(this.#cgroup);
    clearSharedPlaces(this.#sharingUser());
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
