/**
 * Starts the launcher, exchanges messages with it, and starts a new one when it dies.
 *
 * Invariants: there is at most one launcher. When it dies, each of its runs is reported as lost after its last process
 * was killed, and receives no event of a later launcher.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { extname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { descriptorPath, OPEN_FOLDER_FLAGS } from '../filesystem/untrusted-files.ts';
import { getErrorMessage } from '../process/errors.ts';
import { isHostFault } from '../process/host-faults.ts';
import type { Confinement, LaunchPlan } from '../sandbox/launch-plan.ts';
import { killRuns } from '../sandbox/leftover-runs.ts';
import type { Diagnostic, ResourceUsage } from '../types.ts';
import type { EndReport, LauncherMessage, LauncherRequest } from './protocol.ts';

/** Receives the events of one run. */
interface RunEvents {
  started(info: { pid: number; at: number }): void;
  used(usage: ResourceUsage): void;
  /** @param app the app's folder on its own disk, open until the receiver closes it. */
  ended(report: EndReport, app?: AppFolder): void;
  lost(reason: string): void;
}

const RESTART_PAUSE_MS = 100;
const MAX_RESTART_PAUSE_MS = 5_000;
/** The death of a launcher that lived this long does not count as a failed start. */
const STABLE_AFTER_MS = 10_000;

/** Longest wait of a run for a new launcher; afterwards the server queues it again. */
const LAUNCHER_TIMEOUT_MS = 10_000;

/** No launcher has started so far. The code marks it as a host fault, as a failed start of any process would be. */
class NoLauncherError extends Error {
  readonly code = 'EAGAIN';
  constructor() {
    super('The launcher is not running and could not be restarted so far; see the server log.');
  }
}

/** An open folder on a disk that only the launcher has mounted. */
export interface AppFolder {
  path: string;
  close(): void;
}

interface LauncherProcess {
  child: ChildProcess;
  runs: Map<string, RunEvents>;
  removals: Map<number, { resolve(): void; reject(error: Error): void }>;
}

interface LauncherClientOptions {
  confinement: Confinement;
  runsFolder: string;
  randomBytes(count: number): Buffer;
  diagnose(diagnostic: Diagnostic): void;
}

/** The runner's side of the channel to the launcher. */
export class LauncherClient {
  readonly #options: LauncherClientOptions;
  /** undefined until the first launch. */
  #launcher: Promise<LauncherProcess> | undefined;
  #isClosed = false;
  #failures = 0;
  #requests = 0;

  constructor(options: LauncherClientOptions) {
    this.#options = options;
  }

  /** Starts the launcher unless it was started; resolves when it is ready, and rejects when it cannot be started. */
  async launch(): Promise<LauncherProcess> {
    this.#launcher ??= this.#launch();
    return await this.#launcher;
  }

  /** Starts a run. Returns a function that cancels it. Rejects with NoLauncherError after LAUNCHER_TIMEOUT_MS. */
  async start(plan: LaunchPlan, events: RunEvents): Promise<() => void> {
    const launcher = await this.#waitForLauncher();
    launcher.runs.set(plan.key, events);
    const user = this.#drawUser();
    send(launcher, { type: 'start', plan, ...(user === undefined ? {} : { user }) });
    return () => send(launcher, { type: 'cancel', key: plan.key });
  }

  /** Draws a user id for one run; two of few runs at a time practically never get the same one of 2^29. */
  #drawUser(): number | undefined {
    const { users } = this.#options.confinement;
    return users && users.first + (this.#options.randomBytes(4).readUInt32BE() % users.count);
  }

  /** Waits a limited time for the launcher or its successor, so that a waiting run can be canceled. */
  async #waitForLauncher(): Promise<LauncherProcess> {
    const timeout = Promise.withResolvers<LauncherProcess>();
    const timer = setTimeout(() => timeout.reject(new NoLauncherError()), LAUNCHER_TIMEOUT_MS);
    try {
      return await Promise.race([this.launch(), timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Removes the folder of a run with the rights of the launcher, which may remove files of the run's own user. */
  async removeRunFolder(folder: string): Promise<void> {
    const launcher = await this.launch();
    if (!launcher.child.connected) throw new Error('The run folder was not removed: the launcher has ended.');
    this.#requests += 1;
    const request = this.#requests;
    await new Promise<void>((resolve, reject) => {
      launcher.removals.set(request, { resolve, reject });
      send(launcher, { type: 'remove', request, folder });
    });
  }

  /** Kills every run without a grace period; each receives its `ended` event. */
  async killAll(): Promise<void> {
    const launcher = await this.#launcher?.catch(() => undefined);
    if (launcher !== undefined) send(launcher, { type: 'kill' });
  }

  /** Ends the launcher, which kills its remaining runs, and waits for its exit. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const launcher = await this.#launcher?.catch(() => undefined);
    if (launcher === undefined || hasExited(launcher.child)) return;
    const exited = new Promise<void>((resolve) => launcher.child.once('exit', () => resolve()));
    if (launcher.child.connected) launcher.child.disconnect();
    await exited;
  }

  async #launch(): Promise<LauncherProcess> {
    const startedAt = performance.now();
    const { confinement } = this.#options;
    const { disks } = confinement;
    const [command = '', ...args] = [
      // A mount namespace of its own: no other process sees the disks, and they vanish with the launcher and its apps.
      ...(disks === undefined ? [] : [disks.unshare, '--mount', '--propagation', 'slave']),
      process.execPath,
      ...['--disable-warning=ExperimentalWarning', '--max-semi-space-size=2'],
      // JavaScript in the package of the command line.
      join(import.meta.dirname, `launcher${extname(import.meta.filename)}`),
      JSON.stringify(confinement),
    ];
    const child = spawn(command, args, {
      // Apps of the same user can read the launcher's environment, so it contains no variable of the server but these.
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const launcher: LauncherProcess = { child, runs: new Map(), removals: new Map() };
    const ready = Promise.withResolvers<LauncherProcess>();
    let isReady = false;
    child.on('message', (message: LauncherMessage) => {
      if (message.type === 'ready') {
        isReady = true;
        ready.resolve(launcher);
      } else this.#handleMessage(launcher, message);
    });
    child.once('error', (error) => ready.reject(error));
    child.once('exit', (code, signal) => {
      const reason = `The launcher ended ${signal === null ? `with exit code ${code}` : `by signal ${signal}`}.`;
      ready.reject(new Error(reason));
      if (performance.now() - startedAt > STABLE_AFTER_MS) this.#failures = 0;
      // A launcher that never became ready is retried by the caller of #launch.
      if (isReady && !this.#isClosed) this.#replace(reason);
      void this.#reportLostRuns(launcher, reason);
    });
    return await ready.promise;
  }

  /** Starts a new launcher; runs that start meanwhile wait for it. */
  #replace(reason: string): void {
    const delayMs = this.#failures === 0 ? 0 : computeRestartPause(this.#failures);
    this.#failures += 1;
    this.#options.diagnose({
      level: 'error',
      event: 'launcher-died',
      message: `${reason} A new one is started.`,
    });
    this.#launcher = this.#launchAfter(delayMs);
    this.#launcher.catch(() => undefined);
  }

  /** Retries without end: a host without free processes or descriptors has some later. */
  async #launchAfter(delayMs: number): Promise<LauncherProcess> {
    await pause(delayMs);
    try {
      return await this.#launch();
    } catch (error) {
      const message = `The launcher could not be started: ${getErrorMessage(error)} Another attempt follows.`;
      this.#options.diagnose({ level: 'error', event: 'launcher-failed', message });
      if (this.#isClosed) throw error;
      this.#failures += 1;
      return await this.#launchAfter(computeRestartPause(this.#failures));
    }
  }

  async #reportLostRuns(launcher: LauncherProcess, reason: string): Promise<void> {
    for (const { reject } of launcher.removals.values()) reject(new Error(reason));
    launcher.removals.clear();
    const runs = [...launcher.runs];
    launcher.runs.clear();
    if (runs.length === 0) return;
    const keys = runs.map(([key]) => key);
    const { confinement, runsFolder, diagnose } = this.#options;
    const survivors = await killRuns(confinement.marker, runsFolder, keys).catch(() => []);
    if (survivors.length > 0) {
      diagnose({
        level: 'error',
        event: 'unkillable',
        message: `Processes ${survivors.join(', ')} of runs could not be killed after the launcher died.`,
      });
    }
    for (const [, events] of runs) events.lost(reason);
  }

  #handleMessage(launcher: LauncherProcess, message: Exclude<LauncherMessage, { type: 'ready' }>): void {
    switch (message.type) {
      case 'started':
        launcher.runs.get(message.key)?.started({ pid: message.pid, at: message.at });
        return;
      case 'usage':
        launcher.runs.get(message.key)?.used(message.usage);
        return;
      case 'ended': {
        const events = launcher.runs.get(message.key);
        launcher.runs.delete(message.key);
        try {
          events?.ended(message.report, openAppFolder(launcher.child, message.report));
        } catch (error) {
          const reason = `The results of the app could not be read: ${getErrorMessage(error)}`;
          // Without access to the app's files the run counts as not started, so that the server retries it.
          if (isHostFault(error)) events?.ended(withoutResults(message.report, reason));
          else events?.lost(reason);
        }
        return;
      }
      case 'removed': {
        const removal = launcher.removals.get(message.request);
        launcher.removals.delete(message.request);
        if (message.error === undefined) removal?.resolve();
        else removal?.reject(new Error(message.error));
        return;
      }
      case 'diagnostic':
        this.#options.diagnose(message.diagnostic);
    }
  }
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/**
 * Opens the app's folder in the mount namespace of the launcher. The launcher was alive when it reported the end, so its
 * process id cannot belong to another process yet.
 */
function openAppFolder(child: ChildProcess, { disk }: EndReport): AppFolder | undefined {
  if (disk === undefined) return undefined;
  const fd = openSync(`/proc/${child.pid}/root${disk}`, OPEN_FOLDER_FLAGS);
  return { path: descriptorPath(fd, disk), close: () => closeSync(fd) };
}

function withoutResults({ disk: _, ...report }: EndReport, error: string): EndReport {
  return { ...report, appRan: false, reason: 'host', error, hostFault: true };
}

/** Returns the pause before the next start in milliseconds: exponential, with an upper bound. */
function computeRestartPause(failures: number): number {
  return Math.min(RESTART_PAUSE_MS * 2 ** failures, MAX_RESTART_PAUSE_MS);
}

/** Ignores a failed delivery: the exit event of the launcher reports it. */
function send(launcher: LauncherProcess, message: LauncherRequest): void {
  launcher.child.send(message, () => undefined);
}
