/**
 * The runner: takes jobs, prepares their folders, has the launcher start them, and says how they ended.
 *
 * What must stay true: `done` of every run resolves exactly once and never rejects, after the last log line was given
 * out and no process of the run lives.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CANCEL_GRACE_MS } from '@switchyard/contract/limits.ts';
import { unpackArchive } from './archive/archive.ts';
import { InvalidArchiveError } from './archive/archive-rules.ts';
import { collectResults, findFileOwner } from './archive/collect-results.ts';
import { resolveContentPaths } from './archive/content-paths.ts';
import { AppStartError, resolveEntryPoint } from './archive/entry-point.ts';
import { type CachedExecutable, ExecutableCache } from './archive/executable-cache.ts';
import { unwrapInput } from './archive/unwrap-input.ts';
import { writeInput } from './archive/write-input.ts';
import { hasDiskSpace } from './filesystem/disk-space.ts';
import { removeTree } from './filesystem/remove-tree.ts';
import { type RunFolder, resolveRunFolder } from './filesystem/run-folder.ts';
import { probeHost } from './host/probe-host.ts';
import { ExecutableCompiler } from './launcher/executable-compiler.ts';
import { type AppFolder, LauncherClient } from './launcher/launcher-client.ts';
import { LogFollower } from './launcher/log-follower.ts';
import { attributeToFullDisk, determineOutcome } from './launcher/outcome.ts';
import type { EndReport } from './launcher/protocol.ts';
import { getErrorMessage } from './process/errors.ts';
import { toHostFaultField } from './process/host-faults.ts';
import { RUN_MARKER_VARIABLE } from './process/processes.ts';
import type { LaunchPlan } from './sandbox/launch-plan.ts';
import { clearLeftoverRuns, computeMarker } from './sandbox/leftover-runs.ts';
import { removeCgroupParents } from './sandbox/run-cgroups.ts';
import type {
  Diagnostic,
  EndedRun,
  EndReason,
  LogLine,
  Observer,
  Outcome,
  Runner,
  RunnerSettings,
  RunningApp,
  RunSpec,
} from './types.ts';

const DEFAULT_CACHE_BYTES = 20 * 1024 ** 3;

/**
 * Probes the host, ends and clears what an earlier runner left in the folder, and starts the launcher. Throws with a
 * sentence when the required containment is not to be had, or the folder cannot be used.
 */
export async function startRunner(settings: RunnerSettings): Promise<Runner> {
  return await startRunnerWithFilter(settings, () => true);
}

/** As startRunner, with only some ways of holding an app considered; for tests of all of them. */
export async function startRunnerWithFilter(
  settings: RunnerSettings,
  consider: (name: string) => boolean,
): Promise<Runner> {
  const diagnose = (diagnostic: Diagnostic): void => settings.onDiagnostic?.(diagnostic);
  await mkdir(settings.folder, { recursive: true, mode: 0o711 });
  const marker = await computeMarker(settings.folder);
  const runs = join(settings.folder, 'runs');
  const left = await clearLeftoverRuns(marker, runs);
  if (left.runs > 0) {
    diagnose({
      level: 'warn',
      event: 'leftovers-killed',
      message: `${left.runs} runs an earlier runner left were ended.`,
    });
  }
  const cache = new ExecutableCache(
    join(settings.folder, 'executables'),
    settings.cacheBytes ?? DEFAULT_CACHE_BYTES,
  );
  const [probed] = await Promise.all([probeHost(settings, marker, consider), cache.open()]);
  const link = new LauncherClient(probed.confinement, runs, diagnose);
  await link.waitUntilReady();
  const graceMs = settings.graceMs ?? CANCEL_GRACE_MS;
  const compiler = new ExecutableCompiler({ host: probed.host, link, runs, graceMs, diagnose });
  const active = new Set<AppHandle>();
  let closing = false;
  return {
    host: probed.host,
    hasDiskSpace: () => hasDiskSpace(settings.folder),
    run(job, observer) {
      const handle = new AppHandle({
        job,
        observer,
        host: probed.host,
        cache,
        compiler,
        link,
        runs,
        graceMs,
        diagnose,
      });
      active.add(handle);
      void handle.done.then(() => active.delete(handle));
      if (closing) handle.cancel();
      return handle;
    },
    async close(grace) {
      closing = true;
      const compiled = compiler.close();
      const done = Promise.all([...active].map((handle) => handle.done));
      for (const handle of active) handle.cancel();
      if (grace !== undefined) await Promise.race([done, sleep(grace)]);
      else await done;
      await link.killAll();
      await Promise.all([done, compiled]);
      await link.close();
      if (probed.confinement.cgroup !== undefined) await removeCgroupParents(probed.confinement.cgroup);
    },
  };
}

async function sleep(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms).unref());
}

interface AppContext {
  job: RunSpec;
  observer: Observer;
  host: Runner['host'];
  cache: ExecutableCache;
  compiler: ExecutableCompiler;
  link: LauncherClient;
  runs: string;
  graceMs: number;
  diagnose(diagnostic: Diagnostic): void;
}

interface Finished {
  follower: LogFollower;
  /** With the app's folders where they lay. */
  folder: RunFolder;
  executable: CachedExecutable;
  entry: { workingDirectory: string };
}

type LauncherEnd = { report: EndReport; app: AppFolder | undefined } | { lost: string };

class AppHandle implements RunningApp {
  readonly done: Promise<Outcome>;
  readonly #context: AppContext;
  readonly #folder: RunFolder;
  readonly #startedAt = Date.now();
  #cancelInLauncher: (() => void) | undefined;
  #canceled = false;

  constructor(context: AppContext) {
    this.#context = context;
    // A key that is not fit to be a name must not become a path.
    const name = isKey(context.job.key) ? context.job.key : `unfit-${randomUUID()}`;
    this.#folder = resolveRunFolder(join(context.runs, name));
    this.done = this.#run();
  }

  cancel(): void {
    this.#canceled = true;
    this.#cancelInLauncher?.();
  }

  async dispose(): Promise<void> {
    await this.done;
    await this.#context.link.removeRunFolder(this.#folder.root).catch(() => removeTree(this.#folder.root));
  }

  async #run(): Promise<Outcome> {
    let executable: CachedExecutable | undefined;
    try {
      const { job, cache } = this.#context;
      // At level limits the app's user passes through this folder; a sandbox needs no way in.
      mkdirSync(this.#folder.root, { mode: this.#isSandbox() ? 0o700 : 0o711 });
      checkJob(job);
      const [found, input] = await Promise.allSettled([cache.acquire(job.executable), this.#takeInput()]);
      if (found.status === 'fulfilled') executable = found.value;
      if (found.status === 'rejected') throw asCannotStart(found.reason, 'bad-executable');
      if (input.status === 'rejected') throw asCannotStart(input.reason, 'bad-input-archive');
      return await this.#launch(found.value);
    } catch (error) {
      return await this.#notRun(error);
    } finally {
      executable?.release();
    }
  }

  /** json and text go to stdin; an archive is unpacked beside the working folder and moved in by the launcher. */
  async #takeInput(): Promise<void> {
    const { format, open } = this.#context.job.input;
    if (format === 'json' || format === 'text') {
      await writeInput(await open(), this.#folder.stdin, this.#isSandbox() ? 0o644 : 0o600);
      return;
    }
    await mkdir(this.#folder.input);
    await Promise.all([writeFile(this.#folder.stdin, ''), unpackArchive(await open(), this.#folder.input)]);
    await unwrapInput(this.#folder);
  }

  async #launch(executable: CachedExecutable): Promise<Outcome> {
    const { job, host, observer, graceMs, cache, compiler } = this.#context;
    const entry = await resolveEntryPoint(job, host, executable);
    const content = resolveContentPaths(job);
    const app = { type: job.type, entry: entry.path };
    const again = () => cache.acquire(job.executable);
    const compiled = await compiler.requestCompiled(executable, job.executable.hash, app, again);
    const plan: LaunchPlan = {
      key: job.key,
      folder: this.#folder.root,
      executableFolder: executable.folder,
      workingDirectory: entry.workingDirectory,
      folders: content.folders,
      secretFiles: job.secretFiles,
      command: entry.command,
      environment: { ...entry.environment, ...withoutMarker(job.environment), ...entry.fixedEnvironment },
      limits: job.limits,
      network: job.network,
      stdoutIsLog: job.outputFormat === 'multi-file',
      graceMs,
    };
    if (entry.program !== undefined) plan.program = entry.program;
    if (compiled !== undefined) plan.compiled = compiled;
    if (content.inputPath !== undefined) plan.inputPath = content.inputPath;
    if (this.#canceled) throw new AppStartError('canceled', 'The run was canceled before it started.');
    const logs: { path: string; stream: LogLine['stream'] }[] = [
      { path: this.#folder.stderr, stream: 'stderr' },
    ];
    if (plan.stdoutIsLog) logs.push({ path: this.#folder.stdout, stream: 'stdout' });
    const follower = new LogFollower(logs, job.limits.logBytes, (lines) =>
      this.#shield(() => observer.onLog(lines)),
    );
    const end = await this.#inLauncher(plan, follower);
    if ('lost' in end) {
      await follower.finish(false).catch(() => undefined);
      return { kind: 'lost', error: `${end.lost} Nothing can be said about the app.` };
    }
    const { report, app: place } = end;
    await follower.finish(report.stderrBytes === 0 && (!plan.stdoutIsLog || report.stdoutBytes === 0));
    try {
      const folder = resolveRunFolder(this.#folder.root, place?.path);
      return await this.#outcome(report, { follower, folder, executable, entry });
    } finally {
      place?.close();
    }
  }

  async #inLauncher(plan: LaunchPlan, follower: LogFollower): Promise<LauncherEnd> {
    const { link, observer } = this.#context;
    const end = Promise.withResolvers<LauncherEnd>();
    this.#cancelInLauncher = await link.start(plan, {
      started: (info) => {
        follower.start();
        this.#shield(() => observer.onStart(info));
      },
      ended: (report, app) => end.resolve({ report, app }),
      lost: (why) => end.resolve({ lost: why }),
    });
    if (this.#canceled) this.#cancelInLauncher();
    return await end.promise;
  }

  async #outcome(report: EndReport, { follower, folder, executable, entry }: Finished): Promise<EndedRun> {
    if (!report.appRan) await this.#leaveEmptyLogs();
    const verdict = attributeToFullDisk(
      determineOutcome(report, await this.#setupTrouble(report)),
      hasDiskSpace(this.#folder.root),
      report.writtenBytes,
    );
    const stderr = follower.resolveLogFile(this.#folder.stderr);
    const stdout = follower.resolveLogFile(this.#folder.stdout);
    const ended: EndedRun = {
      kind: 'ended',
      ...verdict,
      stdout: stdout.cut ? await sized(stdout.path) : { path: stdout.path, bytes: report.stdoutBytes },
      stderr: stderr.cut ? await sized(stderr.path) : { path: stderr.path, bytes: report.stderrBytes },
      startedAt: report.startedAt,
      endedAt: report.endedAt,
      executionMs: report.executionMs,
      containment: this.#context.host.containment,
      isLogTruncated: stderr.cut || stdout.cut,
    };
    if (report.peakMemoryBytes !== undefined) ended.peakMemoryBytes = report.peakMemoryBytes;
    if (report.appRan) {
      const isOnRunDisk = report.disk !== undefined;
      const source = { folder, isOnRunDisk, owner: await findFileOwner(folder, report.user) };
      const { workingDirectory } = entry;
      await collectResults(ended, { source, job: this.#context.job, executable, workingDirectory });
    }
    return ended;
  }

  /** What the chain said when it broke before the app's own process was there. */
  async #setupTrouble(report: EndReport): Promise<string> {
    if (report.appRan || report.reason !== undefined) return '';
    const text = await readFile(this.#folder.stderr, 'utf8').catch(() => '');
    return text.trim().slice(0, 500);
  }

  /** The app never started, or what it left could not be taken. */
  async #notRun(error: unknown): Promise<EndedRun> {
    const known = error instanceof AppStartError;
    await this.#leaveEmptyLogs();
    return {
      kind: 'ended',
      succeeded: false,
      reason: known ? error.reason : 'host',
      error: known ? error.message : `The host failed: ${getErrorMessage(error)}`,
      ...toHostFaultField(error),
      exitCode: null,
      signal: null,
      stdout: { path: this.#folder.stdout, bytes: 0 },
      stderr: { path: this.#folder.stderr, bytes: 0 },
      startedAt: this.#startedAt,
      endedAt: Date.now(),
      executionMs: 0,
      containment: this.#context.host.containment,
      isLogTruncated: false,
    };
  }

  /** A caller may read the files of an app that never came to write them. */
  async #leaveEmptyLogs(): Promise<void> {
    for (const path of [this.#folder.stdout, this.#folder.stderr]) {
      await writeFile(path, '', { flag: 'a' }).catch(() => undefined);
    }
  }

  #isSandbox(): boolean {
    return this.#context.host.containment === 'sandbox';
  }

  /** An observer that throws must not cost the run its end. */
  #shield(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#context.diagnose({
        level: 'error',
        event: 'observer-failed',
        message: `The observer of a run threw: ${getErrorMessage(error)}`,
        runKey: this.#context.job.key,
      });
    }
  }
}

function isKey(key: string): boolean {
  return /^[a-z0-9-]{1,128}$/.test(key);
}

function checkJob(job: RunSpec): void {
  const refuse = (message: string): never => {
    throw new AppStartError('not-startable', message);
  };
  if (!isKey(job.key)) {
    refuse(`The run key "${job.key}" is not 1 to 128 lowercase letters, digits and hyphens.`);
  }
  const bad = job.arguments.find((text) => text.includes('\0'));
  if (bad !== undefined) refuse('An argument of the app has a zero byte in it.');
  for (const [name, value] of Object.entries(job.environment)) {
    if (name === '' || /[=\0]/.test(name)) refuse(`"${name}" cannot be the name of an environment variable.`);
    if (value.includes('\0')) refuse(`The environment variable "${name}" has a zero byte in its value.`);
  }
}

/** The marker tells whose processes are whose; an app's own variable of that name is left out. */
function withoutMarker(environment: Record<string, string>): Record<string, string> {
  const { [RUN_MARKER_VARIABLE]: _, ...rest } = environment;
  return rest;
}

function asCannotStart(error: unknown, reason: EndReason): unknown {
  return error instanceof InvalidArchiveError ? new AppStartError(reason, error.message) : error;
}

async function sized(path: string): Promise<{ path: string; bytes: number }> {
  return { path, bytes: (await stat(path)).size };
}
