/**
 * One run: prepares its folder, starts it through the launcher and collects its outcome.
 *
 * Invariant: `done` resolves exactly once and never rejects, after the last log line was emitted and the last process of
 * the run has ended.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EndReason } from '@switchyard/contract/workers/end-reasons.ts';
import { unpackArchive } from './archive/archive.ts';
import { InvalidArchiveError } from './archive/archive-rules.ts';
import { collectResults, findFileOwner } from './archive/collect-results.ts';
import { resolveContentPaths } from './archive/content-paths.ts';
import { AppStartError, resolveEntryPoint } from './archive/entry-point.ts';
import type { CachedExecutable, ExecutableCache } from './archive/executable-cache.ts';
import { unwrapInput, writeInput, writePrevious } from './archive/write-input.ts';
import { hasDiskSpace } from './filesystem/disk-space.ts';
import { removeTree } from './filesystem/remove-tree.ts';
import { type RunFolder, resolveRunFolder } from './filesystem/run-folder.ts';
import type { ExecutableCompiler } from './launcher/executable-compiler.ts';
import type { AppFolder, LauncherClient } from './launcher/launcher-client.ts';
import { LogFollower } from './launcher/log-follower.ts';
import { attributeToFullDisk, determineOutcome } from './launcher/outcome.ts';
import type { EndReport } from './launcher/protocol.ts';
import { getErrorMessage } from './process/errors.ts';
import { toHostFaultField } from './process/host-faults.ts';
import { RUN_MARKER_VARIABLE } from './process/processes.ts';
import type { LaunchPlan } from './sandbox/launch-plan.ts';
import type {
  Diagnostic,
  EndedRun,
  Host,
  LogLine,
  Observer,
  Outcome,
  ResultFile,
  RunningApp,
  RunSpec,
} from './types.ts';

/** Longest part of the chain's output that an outcome quotes. */
const MAX_QUOTED_CHARACTERS = 500;

/** Services of the runner that all its runs share. */
export interface RunServices {
  host: Host;
  cache: ExecutableCache;
  compiler: ExecutableCompiler;
  launcher: LauncherClient;
  runsFolder: string;
  graceMs: number;
  diagnose(diagnostic: Diagnostic): void;
}

type LauncherEnd = { report: EndReport; app: AppFolder | undefined } | { lost: string };

interface EndedApp {
  report: EndReport;
  follower: LogFollower;
  /** Paths of the run, with the app's folders on its own disk where it has one. */
  folder: RunFolder;
  executable: CachedExecutable;
  workingDirectory: string;
}

/** One run of the runner. */
export class RunHandle implements RunningApp {
  readonly done: Promise<Outcome>;
  readonly #spec: RunSpec;
  readonly #observer: Observer;
  readonly #services: RunServices;
  readonly #folder: RunFolder;
  readonly #startedAt = Date.now();
  #cancelInLauncher: (() => void) | undefined;
  #isCanceled = false;

  constructor(spec: RunSpec, observer: Observer, services: RunServices) {
    this.#spec = spec;
    this.#observer = observer;
    this.#services = services;
    // An invalid key may contain a path, so it never becomes a folder name.
    const name = isRunKey(spec.key) ? spec.key : `invalid-${randomUUID()}`;
    this.#folder = resolveRunFolder(join(services.runsFolder, name));
    this.done = this.#run();
  }

  cancel(): void {
    this.#isCanceled = true;
    this.#cancelInLauncher?.();
  }

  async dispose(): Promise<void> {
    await this.done;
    await this.#services.launcher
      .removeRunFolder(this.#folder.root)
      .catch(() => removeTree(this.#folder.root));
  }

  async #run(): Promise<Outcome> {
    const spec = this.#spec;
    let executable: CachedExecutable | undefined;
    try {
      // At level limits the app's user passes through this folder; a sandbox reaches it without.
      mkdirSync(this.#folder.root, { mode: this.#isSandbox() ? 0o700 : 0o711 });
      validateSpec(spec);
      const [acquired, input, previous] = await Promise.allSettled([
        this.#services.cache.acquire(spec.executable),
        this.#writeInput(),
        spec.previous && writePrevious(spec.previous, this.#folder.previous),
      ]);
      if (acquired.status === 'fulfilled') executable = acquired.value;
      if (acquired.status === 'rejected') throw toStartError(acquired.reason, 'bad-executable');
      if (input.status === 'rejected') throw toStartError(input.reason, 'bad-input-archive');
      if (previous.status === 'rejected') throw toStartError(previous.reason, 'bad-input-archive');
      return await this.#launch(acquired.value, previous.value);
    } catch (error) {
      return await this.#reportFailedStart(error);
    } finally {
      executable?.release();
    }
  }

  /** Writes json and text to stdin; unpacks an archive beside the working folder, where the launcher moves it from. */
  async #writeInput(): Promise<void> {
    const { format, open } = this.#spec.input;
    if (format === 'json' || format === 'text') {
      await writeInput(await open(), this.#folder.stdin, this.#isSandbox() ? 0o644 : 0o600);
      return;
    }
    await mkdir(this.#folder.input);
    await Promise.all([writeFile(this.#folder.stdin, ''), unpackArchive(await open(), this.#folder.input)]);
    await unwrapInput(this.#folder);
  }

  async #launch(executable: CachedExecutable, previousFile: string | undefined): Promise<Outcome> {
    const plan = await this.#planLaunch(executable);
    if (previousFile !== undefined) plan.previousFile = previousFile;
    if (this.#isCanceled) throw new AppStartError('canceled', 'The run was canceled before it started.');
    const logs: { path: string; stream: LogLine['stream'] }[] = [
      { path: this.#folder.stderr, stream: 'stderr' },
    ];
    if (plan.stdoutIsLog) logs.push({ path: this.#folder.stdout, stream: 'stdout' });
    const follower = new LogFollower(logs, this.#spec.limits.logBytes, (lines) =>
      this.#notify(() => this.#observer.onLog(lines)),
    );
    const end = await this.#runInLauncher(plan, follower);
    if ('lost' in end) {
      await follower.finish(false).catch(() => undefined);
      return { kind: 'lost', error: `${end.lost} The end of the app is unknown.` };
    }
    const { report, app } = end;
    await follower.finish(report.stderrBytes === 0 && (!plan.stdoutIsLog || report.stdoutBytes === 0));
    try {
      const folder = resolveRunFolder(this.#folder.root, app?.path);
      const { workingDirectory } = plan;
      return await this.#collectOutcome({ report, follower, folder, executable, workingDirectory });
    } finally {
      app?.close();
    }
  }

  async #planLaunch(executable: CachedExecutable): Promise<LaunchPlan> {
    const spec = this.#spec;
    const { host, cache, compiler, graceMs } = this.#services;
    const entry = await resolveEntryPoint(spec, host, executable);
    const content = resolveContentPaths(spec);
    const compiled = await compiler.requestCompiled({
      executable,
      hash: spec.executable.hash,
      type: spec.type,
      entryPoint: entry.path,
      acquire: () => cache.acquire(spec.executable),
    });
    const plan: LaunchPlan = {
      key: spec.key,
      folder: this.#folder.root,
      executableFolder: executable.folder,
      workingDirectory: entry.workingDirectory,
      folders: content.folders,
      secretFiles: spec.secretFiles,
      command: entry.command,
      environment: { ...entry.environment, ...withoutMarker(spec.environment), ...entry.fixedEnvironment },
      limits: spec.limits,
      network: spec.network,
      stdoutIsLog: spec.outputFormat === 'multi-file',
      graceMs,
    };
    if (entry.program !== undefined) plan.program = entry.program;
    if (compiled !== undefined) plan.compiled = compiled;
    if (spec.forward !== undefined) plan.forward = spec.forward;
    if (content.inputPath !== undefined) plan.inputPath = content.inputPath;
    return plan;
  }

  async #runInLauncher(plan: LaunchPlan, follower: LogFollower): Promise<LauncherEnd> {
    const end = Promise.withResolvers<LauncherEnd>();
    this.#cancelInLauncher = await this.#services.launcher.start(plan, {
      started: (info) => {
        follower.start();
        this.#notify(() => this.#observer.onStart(info));
      },
      used: (usage) => this.#notify(() => this.#observer.onUsage?.(usage)),
      ended: (report, app) => end.resolve({ report, app }),
      lost: (reason) => end.resolve({ lost: reason }),
    });
    if (this.#isCanceled) this.#cancelInLauncher();
    return await end.promise;
  }

  async #collectOutcome(app: EndedApp): Promise<EndedRun> {
    const { report, follower, folder, executable, workingDirectory } = app;
    if (!report.appRan) await this.#createEmptyLogs();
    const outcome = attributeToFullDisk(
      determineOutcome(report, await this.#readSetupError(report)),
      hasDiskSpace(this.#folder.root),
      report.writtenBytes,
    );
    const stderr = follower.resolveLogFile(this.#folder.stderr);
    const stdout = follower.resolveLogFile(this.#folder.stdout);
    const ended: EndedRun = {
      kind: 'ended',
      ...outcome,
      stdout: await toResultFile(stdout, report.stdoutBytes),
      stderr: await toResultFile(stderr, report.stderrBytes),
      startedAt: report.startedAt,
      endedAt: report.endedAt,
      executionMs: report.executionMs,
      containment: this.#services.host.containment,
      isLogTruncated: stderr.isTruncated || stdout.isTruncated,
    };
    if (report.peakMemoryBytes !== undefined) ended.peakMemoryBytes = report.peakMemoryBytes;
    if (report.appRan) {
      const isOnRunDisk = report.disk !== undefined;
      const source = { folder, isOnRunDisk, owner: await findFileOwner(folder, report.user) };
      await collectResults(ended, { source, spec: this.#spec, executable, workingDirectory });
    }
    return ended;
  }

  /** Returns the output of the process chain when it failed before the app's own process ran; else ''. */
  async #readSetupError(report: EndReport): Promise<string> {
    if (report.appRan || report.reason !== undefined) return '';
    const text = await readFile(this.#folder.stderr, 'utf8').catch(() => '');
    return text.trim().slice(0, MAX_QUOTED_CHARACTERS);
  }

  /** Returns the outcome of an app that never started, or whose results could not be read. */
  async #reportFailedStart(error: unknown): Promise<EndedRun> {
    const isAppError = error instanceof AppStartError;
    await this.#createEmptyLogs();
    return {
      kind: 'ended',
      succeeded: false,
      reason: isAppError ? error.reason : 'host',
      error: isAppError ? error.message : `The host failed: ${getErrorMessage(error)}`,
      ...toHostFaultField(error),
      exitCode: null,
      signal: null,
      stdout: { path: this.#folder.stdout, bytes: 0 },
      stderr: { path: this.#folder.stderr, bytes: 0 },
      startedAt: this.#startedAt,
      endedAt: Date.now(),
      executionMs: 0,
      containment: this.#services.host.containment,
      isLogTruncated: false,
    };
  }

  /** The outcome names these files also when the app never wrote to them. */
  async #createEmptyLogs(): Promise<void> {
    for (const path of [this.#folder.stdout, this.#folder.stderr]) {
      await writeFile(path, '', { flag: 'a' }).catch(() => undefined);
    }
  }

  #isSandbox(): boolean {
    return this.#services.host.containment === 'sandbox';
  }

  /** Calls the observer; an error of the observer must not end the run. */
  async #notify(call: () => void | Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.#services.diagnose({
        level: 'error',
        event: 'observer-failed',
        message: `The observer of a run threw an error: ${getErrorMessage(error)}`,
        runKey: this.#spec.key,
      });
    }
  }
}

function isRunKey(key: string): boolean {
  return /^[a-z0-9-]{1,128}$/.test(key);
}

/** Throws AppStartError for a key, an argument or a variable that cannot reach a process. */
function validateSpec(spec: RunSpec): void {
  const reject = (message: string): never => {
    throw new AppStartError('not-startable', message);
  };
  if (!isRunKey(spec.key)) {
    reject(`The run key "${spec.key}" is invalid: use 1 to 128 lowercase letters, digits and hyphens.`);
  }
  const invalid = spec.arguments.findIndex((text) => text.includes('\0'));
  if (invalid !== -1) reject(`Argument ${invalid + 1} of the app contains a zero byte: remove it.`);
  for (const [name, value] of Object.entries(spec.environment)) {
    if (name === '' || /[=\0]/.test(name))
      reject(
        `"${name}" cannot be the name of an environment variable: it is empty or contains "=" or a zero byte.`,
      );
    if (value.includes('\0'))
      reject(`The environment variable "${name}" contains a zero byte in its value: remove it.`);
  }
}

/** The marker identifies the processes of a run, so the app's own variable of that name is dropped. */
function withoutMarker(environment: Record<string, string>): Record<string, string> {
  const { [RUN_MARKER_VARIABLE]: _, ...others } = environment;
  return others;
}

function toStartError(error: unknown, reason: EndReason): unknown {
  return error instanceof InvalidArchiveError ? new AppStartError(reason, error.message) : error;
}

async function toResultFile(
  { path, isTruncated }: { path: string; isTruncated: boolean },
  reportedBytes: number,
): Promise<ResultFile> {
  return { path, bytes: isTruncated ? (await stat(path)).size : reportedBytes };
}
