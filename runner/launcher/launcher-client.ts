/**
 * The runner's end of the launcher: starts it, talks to it, and starts a new one when it dies.
 *
 * What must stay true: there is at most one launcher; a run handed to a launcher that dies is told of it, after every
 * process of it has been killed, and never hears from a later launcher.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { descriptorPath, OPEN_FOLDER_FLAGS } from '../filesystem/untrusted-files.ts';
import { getErrorMessage } from '../process/errors.ts';
import { isHostFault } from '../process/host-faults.ts';
import type { Confinement, LaunchPlan } from '../sandbox/launch-plan.ts';
import { killRuns } from '../sandbox/leftover-runs.ts';
import type { Diagnostic } from '../types.ts';
import type { EndReport, LauncherMessage, LauncherRequest } from './protocol.ts';

export interface RunEvents {
  started(info: { pid: number; at: number }): void;
  /** @param app the folder of the app on its own disk, which stays open until closed. */
  ended(report: EndReport, app?: AppFolder): void;
  lost(why: string): void;
}

const RESTART_PAUSE_MS = 100;
const LONGEST_RESTART_PAUSE_MS = 5_000;
/** A launcher that lived this long was sound; its death says nothing about the next one. */
const SOUND_AFTER_MS = 10_000;

/** How long a run waits for a new launcher before it is queued again. */
const PATIENCE_MS = 10_000;

/** No launcher could be started so far; the operating system would say the same of any process. */
class NoLauncherError extends Error {
  readonly code = 'EAGAIN';
  constructor() {
    super('No launcher could be started; the log says why.');
  }
}

/** A folder on a disk that only the launcher has mounted. */
export interface AppFolder {
  path: string;
  close(): void;
}

interface Live {
  child: ChildProcess;
  runs: Map<string, RunEvents>;
  removals: Map<number, { resolve(): void; reject(error: Error): void }>;
}

export class LauncherClient {
  readonly #confinement: Confinement;
  readonly #runsFolder: string;
  readonly #diagnose: (diagnostic: Diagnostic) => void;
  #live: Promise<Live>;
  #closed = false;
  #failures = 0;
  #requests = 0;

  constructor(confinement: Confinement, runsFolder: string, diagnose: (diagnostic: Diagnostic) => void) {
    this.#confinement = confinement;
    this.#runsFolder = runsFolder;
    this.#diagnose = diagnose;
    this.#live = this.#launch();
  }

  /** Resolves when the launcher is there; rejects when it cannot be started at all. */
  async waitUntilReady(): Promise<void> {
    await this.#live;
  }

  /** Hands a run over. Returns a function that cancels it. Rejects when no launcher can be had. */
  async start(plan: LaunchPlan, events: RunEvents): Promise<() => void> {
    const live = await this.#current();
    live.runs.set(plan.key, events);
    send(live, { type: 'start', plan });
    return () => send(live, { type: 'cancel', key: plan.key });
  }

  /** The launcher, or the one that takes its place; not waited for without end, so that a run can be canceled meanwhile. */
  async #current(): Promise<Live> {
    const late = Promise.withResolvers<Live>();
    const timer = setTimeout(() => late.reject(new NoLauncherError()), PATIENCE_MS);
    try {
      return await Promise.race([this.#live, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Removes a folder of a run, with what belongs to the user of that run in it. */
  async removeRunFolder(folder: string): Promise<void> {
    const live = await this.#live;
    if (!live.child.connected) throw new Error('There is no launcher.');
    this.#requests += 1;
    const request = this.#requests;
    await new Promise<void>((resolve, reject) => {
      live.removals.set(request, { resolve, reject });
      send(live, { type: 'remove', request, folder });
    });
  }

  /** Kills every run at once, without grace; each is told of its end. */
  async killAll(): Promise<void> {
    const live = await this.#live.catch(() => undefined);
    if (live !== undefined) send(live, { type: 'kill' });
  }

  /** Ends the launcher and waits for it; whatever still runs is killed by it. */
  async close(): Promise<void> {
    this.#closed = true;
    const live = await this.#live.catch(() => undefined);
    if (live === undefined || live.child.exitCode !== null || live.child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => live.child.once('exit', () => resolve()));
    if (live.child.connected) live.child.disconnect();
    await gone;
  }

  async #launch(): Promise<Live> {
    const begun = performance.now();
    const { disks } = this.#confinement;
    const [command = '', ...args] = [
      // What the launcher mounts nobody else sees, and it goes with the launcher and its apps.
      ...(disks === undefined ? [] : [disks.unshare, '--mount', '--propagation', 'slave']),
      process.execPath,
      ...['--disable-warning=ExperimentalWarning', '--max-semi-space-size=2'],
      join(import.meta.dirname, 'launcher.ts'),
      JSON.stringify(this.#confinement),
    ];
    const child = spawn(command, args, {
      // The launcher's environment can be read by apps of the same user: it holds nothing of the server's.
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const live: Live = { child, runs: new Map(), removals: new Map() };
    const ready = Promise.withResolvers<Live>();
    let isReady = false;
    child.on('message', (message: LauncherMessage) => {
      if (message.type === 'ready') {
        isReady = true;
        ready.resolve(live);
      } else this.#hear(live, message);
    });
    child.once('error', (error) => ready.reject(error));
    child.once('exit', (code, signal) => {
      const why = `The launcher ended ${signal === null ? `with exit code ${code}` : `by signal ${signal}`}.`;
      ready.reject(new Error(why));
      if (performance.now() - begun > SOUND_AFTER_MS) this.#failures = 0;
      // Whoever waits for one that never came tries again by itself.
      if (isReady && !this.#closed) this.#replace(why);
      void this.#lose(live, why);
    });
    return await ready.promise;
  }

  /** Until the new launcher is there, starts wait for it. */
  #replace(why: string): void {
    const delay = this.#failures === 0 ? 0 : pauseAfter(this.#failures);
    this.#failures += 1;
    this.#diagnose({ level: 'error', event: 'launcher-died', message: `${why} A new one is started.` });
    this.#live = this.#launchAfter(delay);
    this.#live.catch(() => undefined);
  }

  /** Tries until there is one: a host that has no process or descriptor left just now has one later. */
  async #launchAfter(delay: number): Promise<Live> {
    await pause(delay);
    try {
      return await this.#launch();
    } catch (error) {
      const message = `No new launcher: ${getErrorMessage(error)}`;
      this.#diagnose({ level: 'error', event: 'launcher-failed', message });
      if (this.#closed) throw error;
      this.#failures += 1;
      return await this.#launchAfter(pauseAfter(this.#failures));
    }
  }

  async #lose(live: Live, why: string): Promise<void> {
    for (const { reject } of live.removals.values()) reject(new Error(why));
    live.removals.clear();
    const runs = [...live.runs];
    live.runs.clear();
    if (runs.length === 0) return;
    const keys = runs.map(([key]) => key);
    const left = await killRuns(this.#confinement.marker, this.#runsFolder, keys).catch(() => []);
    if (left.length > 0) {
      this.#diagnose({
        level: 'error',
        event: 'unkillable',
        message: `Processes ${left.join(', ')} could not be killed.`,
      });
    }
    for (const [, events] of runs) events.lost(why);
  }

  #hear(live: Live, message: Exclude<LauncherMessage, { type: 'ready' }>): void {
    switch (message.type) {
      case 'started':
        live.runs.get(message.key)?.started({ pid: message.pid, at: message.at });
        return;
      case 'ended': {
        const run = live.runs.get(message.key);
        live.runs.delete(message.key);
        try {
          run?.ended(message.report, appFolder(live.child, message.report));
        } catch (error) {
          const why = `The results could not be taken: ${getErrorMessage(error)}`;
          // What the app left cannot be reached just now, so that it is as if it had not run.
          if (isHostFault(error)) run?.ended(withoutResults(message.report, why));
          else run?.lost(why);
        }
        return;
      }
      case 'removed': {
        const removal = live.removals.get(message.request);
        live.removals.delete(message.request);
        if (message.error === undefined) removal?.resolve();
        else removal?.reject(new Error(message.error));
        return;
      }
      case 'diagnostic':
        this.#diagnose(message.diagnostic);
    }
  }
}

/** Opened by way of the launcher, which was alive when it reported the end: its process id cannot be another's yet. */
function appFolder(child: ChildProcess, { disk }: EndReport): AppFolder | undefined {
  if (disk === undefined) return undefined;
  const fd = openSync(`/proc/${child.pid}/root${disk}`, OPEN_FOLDER_FLAGS);
  return { path: descriptorPath(fd, disk), close: () => closeSync(fd) };
}

function withoutResults({ disk: _, ...report }: EndReport, error: string): EndReport {
  return { ...report, appRan: false, reason: 'host', error, hostFault: true };
}

function pauseAfter(failures: number): number {
  return Math.min(RESTART_PAUSE_MS * 2 ** failures, LONGEST_RESTART_PAUSE_MS);
}

/** A message that cannot be delivered is no error: the launcher's end is noticed by itself. */
function send(live: Live, message: LauncherRequest): void {
  live.child.send(message, () => undefined);
}
