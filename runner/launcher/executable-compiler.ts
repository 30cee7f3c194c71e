/**
 * Compiles the program text of an executable once, where every run would do it again: the Python of its dependencies, which
 * come without bytecode and lie where no run can leave any, and what a Node app consists of. Importing pandas, OR-Tools and a
 * client takes 4.0 s of a core without bytecode and 1.0 s with it; the routing app in TypeScript starts in 0.37 s and 0.12 s.
 *
 * What must stay true: nothing of the app is executed for it. It is done in a sandbox like an app's, with the executable and
 * nothing else: no input, no secret, no network. What comes out serves that executable alone and is shown to its runs
 * read-only, so no run leaves anything for another. It lies in `compiled/` beside `root/`, made under another name and renamed
 * once whole, and a run never waits for it. Only sandboxes have it: elsewhere every run has a path of its own, and texts that
 * were compiled for another path are not taken.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, link, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { findFileOwner, type ResultSource } from '../archive/collect-results.ts';
import type { CompiledPlan } from '../archive/executable-cache.ts';
import { type CachedExecutable, type CompiledIndex, readCompiledIndex } from '../archive/executable-cache.ts';
import { removeTree } from '../filesystem/remove-tree.ts';
import {
  APP_ROOT_PLACEHOLDER,
  type RunFolder,
  resolveRunFolder,
  SANDBOX_APP_PATH,
} from '../filesystem/run-folder.ts';
import {
  listFiles,
  openFolder,
  openOwnedFile,
  readExactly,
  splitPath,
} from '../filesystem/untrusted-files.ts';
import { computeEffectiveLimits } from '../host/limits.ts';
import { getErrorMessage, isErrno } from '../process/errors.ts';
import type { LaunchPlan } from '../sandbox/launch-plan.ts';
import type { Diagnostic, Host, Runtime } from '../types.ts';
import type { AppFolder, LauncherClient } from './launcher-client.ts';
import type { EndReport } from './protocol.ts';

/** An executable that is run once gains nothing. */
const WORTH_AT_RUN = 2;
/** Of so much JavaScript compiling is noticed; of TypeScript at once, because the compiler has to be loaded. */
const JAVASCRIPT_BYTES = 256 * 1024;
/** What is compiled by then is kept. */
const LONGEST_MS = 5 * 60_000;
const MEMORY_BYTES = 1024 ** 3;
const OUTPUT = 'compiled';

/**
 * File by file, the small ones first: one that a compiler refuses costs the others nothing, and one that takes all the time
 * or memory there is (two megabytes of nested f-strings took eight minutes) has only larger ones behind it.
 */
const COMPILE_PYTHON = `
import os, py_compile, sys
try:
    os.nice(19)
except OSError:
    pass
sys.pycache_prefix = '/tmp/${OUTPUT}'
files = [os.path.join(folder, name) for folder, _, names in os.walk(sys.argv[1]) for name in names if name.endswith('.py')]
for file in sorted(files, key=lambda file: os.lstat(file).st_size):
    try:
        py_compile.compile(file, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    except Exception:
        pass
`;

/**
 * The modules are loaded, which compiles them, and then cannot be linked for want of a name: linking comes before the first
 * statement of any of them.
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

export interface CompilerOptions {
  host: Host;
  link: LauncherClient;
  runs: string;
  graceMs: number;
  diagnose(diagnostic: Diagnostic): void;
}

/** What is to be compiled of an executable. */
interface Task {
  /** Another hold on it, for as long as it takes. */
  obtain(): Promise<CachedExecutable>;
  hash: string;
  /** Where its dependencies lie, or its entry point. */
  path: string;
  type: 'python' | 'node';
  runtime: Runtime;
}

interface CompilerEnd {
  report: EndReport;
  app: AppFolder | undefined;
}

interface State {
  runs: number;
  compiled: Promise<CompiledIndex | undefined>;
}

export class ExecutableCompiler {
  readonly #parts: CompilerOptions;
  /** By the index, of which there is one for each time that an executable was unpacked. */
  readonly #states = new WeakMap<object, State>();
  /** One at a time, because it is done beside the runs and shall not be noticed by them. */
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(parts: CompilerOptions) {
    this.#parts = parts;
  }

  /**
   * What a run of the executable is shown of it; undefined when nothing is compiled yet, or nothing is to be. Begins to
   * compile it when it is run again.
   *
   * @param entry of the app, relative to the root of the executable.
   */
  async requestCompiled(
    executable: CachedExecutable,
    hash: string,
    app: { type: string; entry: string },
    obtain: Task['obtain'],
  ): Promise<CompiledPlan | undefined> {
    const { host } = this.#parts;
    const { type } = app;
    if (host.containment !== 'sandbox' || (type !== 'python' && type !== 'node')) return undefined;
    const runtime = host.runtimes[type];
    if (runtime === undefined) return undefined;
    let state = this.#states.get(executable.index);
    if (state === undefined) {
      state = { runs: 0, compiled: readCompiledIndex(executable.folder) };
      this.#states.set(executable.index, state);
    }
    state.runs += 1;
    const found = await state.compiled;
    if (found?.runtime === nameOf(type, runtime)) return found;
    if (state.runs < WORTH_AT_RUN) return undefined;
    // Asked for once, whatever becomes of it: what cannot be compiled is compiled by each run.
    state.runs = Number.NEGATIVE_INFINITY;
    const path = type === 'python' ? pythonFolder(executable) : nodeEntry(executable, app.entry);
    if (path === undefined) return undefined;
    const task: Task = { obtain, hash, path, type, runtime };
    this.#last = this.#last.then(() => this.#compile(task, state));
    return undefined;
  }

  /** Begins no more, and resolves when what was begun has ended; whoever calls ends the launcher's runs. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }

  async #compile(task: Task, state: State): Promise<void> {
    if (this.#closed) return;
    const key = `compile-${randomUUID()}`;
    const folder = resolveRunFolder(join(this.#parts.runs, key));
    let executable: CachedExecutable | undefined;
    let app: AppFolder | undefined;
    try {
      executable = await task.obtain();
      await mkdir(folder.root, { mode: 0o700 });
      await writeFile(folder.stdin, '', { mode: 0o644 });
      const begun = performance.now();
      const end = await this.#run(task, executable, folder, key);
      if (end === undefined) return;
      const { report } = end;
      app = end.app;
      const index = await keep(task, executable, resolveRunFolder(folder.root, app?.path), report);
      if (index === undefined) {
        const said = (await readFile(folder.stderr, 'utf8').catch(() => '')).trim().slice(0, 500);
        throw new Error(report.error ?? `${said || 'nothing came out'} (exit code ${report.exitCode})`);
      }
      executable.addBytes(index.bytes);
      state.compiled = Promise.resolve(index);
      this.#parts.diagnose({
        level: 'info',
        event: 'executable-compiled',
        message: `The executable ${task.hash} was compiled for ${index.runtime} in ${Math.round(performance.now() - begun)} ms: ${index.bytes} bytes.`,
      });
    } catch (error) {
      this.#parts.diagnose({
        level: 'warn',
        event: 'executable-not-compiled',
        message: `The executable ${task.hash} could not be compiled ahead, so that each of its runs compiles it: ${getErrorMessage(error)}`,
      });
    } finally {
      executable?.release();
      app?.close();
      await this.#parts.link.removeRunFolder(folder.root).catch(() => removeTree(folder.root));
    }
  }

  /** Undefined when the launcher died or was ended meanwhile. */
  async #run(
    task: Task,
    executable: CachedExecutable,
    folder: RunFolder,
    key: string,
  ): Promise<CompilerEnd | undefined> {
    const { host, link, graceMs } = this.#parts;
    const size = { cores: 1, memoryBytes: MEMORY_BYTES, durationMs: LONGEST_MS };
    const plan: LaunchPlan = {
      key,
      folder: folder.root,
      executableFolder: executable.folder,
      workingDirectory: '',
      folders: [],
      secretFiles: [],
      command: commandOf(task),
      environment: task.type === 'node' ? { NODE_COMPILE_CACHE: `/tmp/${OUTPUT}` } : {},
      limits: computeEffectiveLimits(size, host),
      network: false,
      stdoutIsLog: false,
      graceMs,
    };
    if (this.#closed) return undefined;
    const end = Promise.withResolvers<CompilerEnd | undefined>();
    await link.start(plan, {
      started: () => undefined,
      ended: (report, app) => end.resolve({ report, app }),
      lost: () => end.resolve(undefined),
    });
    const ended = await end.promise;
    if (ended?.report.reason !== 'canceled') return ended;
    ended.app?.close();
    return undefined;
  }
}

function commandOf({ type, runtime, path }: Task): string[] {
  const target = `${APP_ROOT_PLACEHOLDER}/${path}`;
  return type === 'python'
    ? [runtime.path, '-I', '-c', COMPILE_PYTHON, target]
    : [runtime.path, '--input-type=module', '-e', COMPILE_NODE, target];
}

const nameOf = (type: string, { version, path }: Runtime): string => `${type} ${version} ${path}`;

/** The folder of dependencies that runs share, when there is Python in it. */
function pythonFolder({ index }: CachedExecutable): string | undefined {
  return index.shared.find((folder) =>
    index.entries.some(({ path }) => path.startsWith(`${folder}/`) && path.endsWith('.py')),
  );
}

/** The entry point, when there is enough behind it. */
function nodeEntry({ index }: CachedExecutable, entry: string): string | undefined {
  if (index.entries.some(({ path }) => /\.[cm]?ts$/.test(path))) return entry;
  const scripts = index.entries.filter(({ path }) => /\.[cm]?js$/.test(path));
  return scripts.reduce((sum, { size }) => sum + size, 0) >= JAVASCRIPT_BYTES ? entry : undefined;
}

/** What came out. */
interface Compiled extends ResultSource {
  /** Paths of files below the /tmp of the sandbox. */
  files: string[];
}

/** Takes what came out; undefined when there is nothing. */
async function keep(
  task: Task,
  executable: CachedExecutable,
  folder: RunFolder,
  report: EndReport,
): Promise<CompiledIndex | undefined> {
  const draft = join(executable.folder, `compiled-${randomUUID()}`);
  try {
    await makeFolder(draft);
    const owner = await findFileOwner(folder, report.user);
    const compiled: Compiled = {
      folder,
      owner,
      isOnRunDisk: report.disk !== undefined,
      files: await listFiles(folder.tmp),
    };
    const found =
      task.type === 'python'
        ? await keepPython(executable, task.path, compiled, draft)
        : await keepNode(compiled, draft);
    if (found.bytes === 0) return undefined;
    const index: CompiledIndex = { ...found, runtime: nameOf(task.type, task.runtime) };
    await writeFile(join(draft, 'index.json'), JSON.stringify(index));
    const place = join(executable.folder, 'compiled');
    // What is there was made for another runtime, before this process began, so no run looks at it.
    await rm(place, { recursive: true, force: true });
    await rename(draft, place).catch((error: unknown) => {
      if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    });
    return index;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The folder of dependencies once more, by links to the same files, with the bytecode where Python looks for it. */
async function keepPython(
  { folder, index, entriesByPath: byPath }: CachedExecutable,
  path: string,
  compiled: Compiled,
  draft: string,
): Promise<Omit<CompiledIndex, 'runtime'>> {
  const made = new Set<string>(['.']);
  const ensure = async (at: string): Promise<void> => {
    if (made.has(at)) return;
    await ensure(dirname(at));
    await makeFolder(join(draft, 'root', at));
    made.add(at);
  };
  let bytes = 0;
  const taken: { relative: string; to: string }[] = [];
  for (const relative of compiled.files) {
    const match = /^(.*)\.[a-z]+-[0-9a-z]+\.pyc$/.exec(relative);
    const source = match?.[1]?.slice(`${OUTPUT}${SANDBOX_APP_PATH}/`.length) ?? '';
    if (!source.startsWith(`${path}/`) || byPath.get(`${source}.py`)?.kind !== 'file') continue;
    const name = relative.slice(relative.lastIndexOf('/') + 1);
    taken.push({ relative, to: `${dirname(source)}/__pycache__/${name}` });
  }
  if (taken.length === 0) return { bytes, shared: [] };
  await makeFolder(join(draft, 'root'));
  // Bytecode that came along is left out where there is ours: it has the time of a source that was unpacked since.
  const ours = new Set(taken.map(({ to }) => to));
  for (const entry of index.entries) {
    if (!entry.path.startsWith(`${path}/`) || ours.has(entry.path)) continue;
    if (entry.kind === 'directory') {
      await ensure(entry.path);
      continue;
    }
    await ensure(dirname(entry.path));
    const to = join(draft, 'root', entry.path);
    if (entry.kind === 'symlink') await symlink(entry.target ?? '', to);
    else await link(join(folder, 'root', entry.path), to);
  }
  for (const { relative, to } of taken) {
    await ensure(dirname(to));
    bytes += await take(compiled, relative, join(draft, 'root', to));
  }
  return { bytes, shared: [path] };
}

/** Node keeps it in a folder that is named for its version and for the user that compiled. */
async function keepNode(compiled: Compiled, draft: string): Promise<Omit<CompiledIndex, 'runtime'>> {
  let bytes = 0;
  let version = '';
  await makeFolder(join(draft, 'node'));
  for (const relative of compiled.files) {
    const match = /^compiled\/(v[\w.-]+)-[0-9]+\/([\w.-]+)$/.exec(relative);
    if (match?.[1] === undefined || match[2] === undefined) continue;
    version = match[1];
    bytes += await take(compiled, relative, join(draft, 'node', match[2]));
  }
  return { bytes, shared: [], ...(version === '' ? {} : { nodeVersion: version }) };
}

/** Runs may have a user of their own, whatever our umask is. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path);
  await chmod(path, 0o755);
}

/** Copies what a compiler wrote, so that the file is ours; returns its size. */
async function take(
  { folder, owner, isOnRunDisk: onDisk }: Compiled,
  relative: string,
  to: string,
): Promise<number> {
  const parts = splitPath(relative);
  const name = parts.pop() ?? '';
  const parent = await openFolder(folder.tmp, parts.join('/'));
  const file = parent && (await openOwnedFile(parent, name, owner));
  try {
    if (file === undefined) return 0;
    const bytes = (await file.stat()).size;
    if (onDisk) await file.sync();
    await pipeline(readExactly(file, bytes), createWriteStream(to, { flags: 'wx', mode: 0o644 }));
    await chmod(to, 0o644);
    return bytes;
  } finally {
    await file?.close();
    await parent?.handle.close();
  }
}
