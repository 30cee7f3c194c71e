/**
 * Compiles the code of an executable once instead of in every run: its Python dependencies and the modules of a Node app.
 * Python dependencies have no bytecode, and no run can write to their folder. Importing pandas, OR-Tools and a client takes
 * 4.0 s of a core without bytecode and 1.0 s with it. The routing app in TypeScript starts in 0.37 s and 0.12 s.
 *
 * Invariants: compilation executes no code of the app. It takes place in a sandbox like an app's with the executable and
 * nothing else: no input, no secret, no network. The result serves that executable alone, and its runs see it read-only,
 * so no run leaves anything for another. Its folder is `compiled/` beside `root/`, created under another name and renamed
 * once complete, and a run never waits for it. Only sandboxes use it: elsewhere every run has a path of its own, and
 * compiled code depends on its path.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatBytes, formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import PQueue from 'p-queue';
import { type CachedExecutable, readCompiledIndex } from '../archive/executable-cache.ts';
import type { CompiledIndex, CompiledPlan } from '../archive/executable-index.ts';
import { removeTree } from '../filesystem/remove-tree.ts';
import { APP_ROOT_PLACEHOLDER, type RunFolder, resolveRunFolder } from '../filesystem/run-folder.ts';
import { computeEffectiveLimits } from '../host/limits.ts';
import { getErrorMessage } from '../process/errors.ts';
import type { LaunchPlan } from '../sandbox/launch-plan.ts';
import type { Diagnostic, ExecutableType, Host, Runtime } from '../types.ts';
import { OUTPUT_FOLDER, storeCompiled } from './compiled-store.ts';
import type { AppFolder, LauncherClient } from './launcher-client.ts';
import type { EndReport } from './protocol.ts';

/** An executable that runs once gains nothing. */
const COMPILE_AT_RUN = 2;
/** Less JavaScript compiles fast enough; TypeScript never does, because its compiler has to be loaded. */
const MIN_JAVASCRIPT_BYTES = 256 * 1024;
/** Files compiled within this time are kept. */
const MAX_COMPILE_MS = 5 * 60_000;
const MEMORY_BYTES = 1024 ** 3;
const MAX_QUOTED_CHARACTERS = 500;

/**
 * Compiles file by file, the small ones first. The tests of packages are left out: no app imports them, and they would take
 * 5 s of the 7 s of OR-Tools with pandas and NumPy. A file with an error does not affect the others. A file that uses all time or
 * memory has only larger ones after it: two megabytes of nested f-strings took eight minutes.
 */
const COMPILE_PYTHON = `
import os, py_compile, sys
try:
    os.nice(19)
except OSError:
    pass
sys.pycache_prefix = '/tmp/${OUTPUT_FOLDER}'
files = []
for folder, folders, names in os.walk(sys.argv[1]):
    folders[:] = [name for name in folders if name != 'tests']
    files += [os.path.join(folder, name) for name in names if name.endswith('.py')]
for file in sorted(files, key=lambda file: os.lstat(file).st_size):
    try:
        py_compile.compile(file, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    except Exception:
        pass
`;

/**
 * Loads the modules, which compiles them. The import of a missing name then fails while linking, which comes before the
 * first statement of any module.
 */
const COMPILE_NODE = `
import { randomUUID } from 'node:crypto';
import { setPriority } from 'node:os';
import { pathToFileURL } from 'node:url';
try { setPriority(19); } catch {}
const none = 'none_' + randomUUID().replaceAll('-', '');
const text = 'import { ' + none + ' } from ' + JSON.stringify(pathToFileURL(process.argv[1]).href) + '; ' + none + ';';
await import('data:text/javascript,' + encodeURIComponent(text)).catch(() => undefined);
`;

interface CompilerOptions {
  host: Host;
  launcher: LauncherClient;
  runsFolder: string;
  graceMs: number;
  diagnose(diagnostic: Diagnostic): void;
}

/** A run that asks for the compiled code of its executable. */
interface CompileRequest {
  executable: CachedExecutable;
  hash: string;
  type: ExecutableType;
  /** Relative to the root of the executable. */
  entryPoint: string;
  /** Returns a further hold on the executable, for the duration of the compilation. */
  acquire(): Promise<CachedExecutable>;
}

interface CompileTask extends Pick<CompileRequest, 'hash' | 'acquire'> {
  /** Folder of the dependencies, or entry point. */
  path: string;
  type: 'python' | 'node';
  runtime: Runtime;
}

interface CompilerEnd {
  report: EndReport;
  app: AppFolder | undefined;
}

interface CompileState {
  runs: number;
  compiled: Promise<CompiledIndex | undefined>;
}

/** Compiles executables in the background. */
export class ExecutableCompiler {
  readonly #options: CompilerOptions;
  /** By index, of which there is one for each time that an executable was unpacked. */
  readonly #states = new WeakMap<object, CompileState>();
  /** One compilation at a time, because the runs must not notice it. */
  readonly #queue = new PQueue({ concurrency: 1 });
  #isClosed = false;

  constructor(options: CompilerOptions) {
    this.#options = options;
  }

  /**
   * Returns the compiled code of an executable for a run; undefined when there is none. The second request for an
   * executable starts its compilation.
   */
  async requestCompiled(request: CompileRequest): Promise<CompiledPlan | undefined> {
    const { executable, hash, type, entryPoint, acquire } = request;
    const { host } = this.#options;
    if (host.containment !== 'sandbox' || (type !== 'python' && type !== 'node')) return undefined;
    const runtime = host.runtimes[type];
    if (runtime === undefined) return undefined;
    let state = this.#states.get(executable.index);
    if (state === undefined) {
      state = { runs: 0, compiled: readCompiledIndex(executable.folder) };
      this.#states.set(executable.index, state);
    }
    state.runs += 1;
    const index = await state.compiled;
    if (index?.runtime === formatRuntime(type, runtime)) return index;
    if (state.runs < COMPILE_AT_RUN) return undefined;
    // One attempt per executable: code that cannot be compiled ahead is compiled by each run.
    state.runs = Number.NEGATIVE_INFINITY;
    const path = type === 'python' ? findPythonFolder(executable) : selectNodeEntry(executable, entryPoint);
    if (path === undefined) return undefined;
    void this.#queue.add(() => this.#compile({ acquire, hash, path, type, runtime }, state));
    return undefined;
  }

  /** Starts no further compilation and resolves when the current one has ended; the caller kills the launcher's runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue.clear();
    await this.#queue.onIdle();
  }

  async #compile(task: CompileTask, state: CompileState): Promise<void> {
    if (this.#isClosed) return;
    const { runsFolder, launcher, diagnose } = this.#options;
    const key = `compile-${randomUUID()}`;
    const folder = resolveRunFolder(join(runsFolder, key));
    let executable: CachedExecutable | undefined;
    let app: AppFolder | undefined;
    try {
      executable = await task.acquire();
      await mkdir(folder.root, { mode: 0o700 });
      await writeFile(folder.stdin, '', { mode: 0o644 });
      const startedAt = performance.now();
      const end = await this.#runCompiler(this.#planCompilation(task, executable, { key, folder }));
      if (end === undefined) return;
      const { report } = end;
      app = end.app;
      const runtime = formatRuntime(task.type, task.runtime);
      const outputFolder = resolveRunFolder(folder.root, app?.path);
      const index = await storeCompiled({ ...task, runtime }, executable, outputFolder, report);
      if (index === undefined) {
        const log = await readFile(folder.stderr, 'utf8').catch(() => '');
        const quoted = log.trim().slice(0, MAX_QUOTED_CHARACTERS);
        throw new Error(
          report.error ?? `${quoted || 'the compiler wrote no file'} (exit code ${report.exitCode})`,
        );
      }
      executable.addBytes(index.bytes);
      state.compiled = Promise.resolve(index);
      diagnose({
        level: 'info',
        event: 'executable-compiled',
        message: `The executable ${task.hash} was compiled for ${index.runtime} in ${formatDuration(performance.now() - startedAt)}: ${formatBytes(index.bytes)}.`,
      });
    } catch (error) {
      diagnose({
        level: 'warn',
        event: 'executable-not-compiled',
        message: `The executable ${task.hash} could not be compiled ahead, so each of its runs compiles it: ${getErrorMessage(error)}`,
      });
    } finally {
      executable?.release();
      app?.close();
      await launcher.removeRunFolder(folder.root).catch(() => removeTree(folder.root));
    }
  }

  #planCompilation(
    task: CompileTask,
    executable: CachedExecutable,
    { key, folder }: { key: string; folder: RunFolder },
  ): LaunchPlan {
    const { host, graceMs } = this.#options;
    const size = { cores: 1, memoryBytes: MEMORY_BYTES, durationMs: MAX_COMPILE_MS };
    return {
      key,
      folder: folder.root,
      executableFolder: executable.folder,
      workingDirectory: '',
      folders: [],
      secretFiles: [],
      command: buildCommand(task),
      environment: task.type === 'node' ? { NODE_COMPILE_CACHE: `/tmp/${OUTPUT_FOLDER}` } : {},
      limits: computeEffectiveLimits(size, host),
      network: false,
      stdoutIsLog: false,
      graceMs,
    };
  }

  /** Returns undefined when the compilation was canceled or the launcher died. */
  async #runCompiler(plan: LaunchPlan): Promise<CompilerEnd | undefined> {
    if (this.#isClosed) return undefined;
    const end = Promise.withResolvers<CompilerEnd | undefined>();
    await this.#options.launcher.start(plan, {
      started: () => undefined,
      used: () => undefined,
      ended: (report, app) => end.resolve({ report, app }),
      lost: () => end.resolve(undefined),
    });
    const ended = await end.promise;
    if (ended?.report.reason !== 'canceled') return ended;
    ended.app?.close();
    return undefined;
  }
}

function buildCommand({ type, runtime, path }: CompileTask): string[] {
  const target = `${APP_ROOT_PLACEHOLDER}/${path}`;
  return type === 'python'
    ? [runtime.path, '-I', '-c', COMPILE_PYTHON, target]
    : [runtime.path, '--input-type=module', '-e', COMPILE_NODE, target];
}

const formatRuntime = (type: string, { version, path }: Runtime): string => `${type} ${version} ${path}`;

/** Returns the dependency folder that runs share, when it contains Python code. */
function findPythonFolder({ index }: CachedExecutable): string | undefined {
  return index.shared.find((folder) =>
    index.entries.some(({ path }) => path.startsWith(`${folder}/`) && path.endsWith('.py')),
  );
}

/** Returns the entry point when compiling its modules pays off. */
function selectNodeEntry({ index }: CachedExecutable, entry: string): string | undefined {
  if (index.entries.some(({ path }) => /\.[cm]?ts$/.test(path))) return entry;
  const scripts = index.entries.filter(({ path }) => /\.[cm]?js$/.test(path));
  return scripts.reduce((sum, { size }) => sum + size, 0) >= MIN_JAVASCRIPT_BYTES ? entry : undefined;
}
