/** Resolves the entry point of an app, the command that starts it, and whether it can start on this host. */
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EndReason } from '@switchyard/contract/workers/end-reasons.ts';
import { APP_ROOT_PLACEHOLDER } from '../filesystem/run-folder.ts';
import type { Host, RunSpec, RuntimeName } from '../types.ts';
import { normalizeRelativePath } from './archive-rules.ts';
import type { CachedExecutable } from './executable-cache.ts';
import { detectProgramFormat } from './program-format.ts';

/** The app cannot start; reason and message become the outcome of the run. */
export class AppStartError extends Error {
  override name = 'AppStartError';
  readonly reason: EndReason;
  constructor(reason: EndReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Command of an app. */
interface EntryPoint {
  command: string[];
  /** The entry point, relative to the root of the executable. */
  path: string;
  /** Variables that the app's own environment may replace. */
  environment: Record<string, string>;
  /** Variables that the app's own environment cannot replace. */
  fixedEnvironment: Record<string, string>;
  workingDirectory: string;
  /** The executed file of the app, when no runtime executes it. */
  program?: string;
}

const MIB = 1024 * 1024;
/** Share of the memory limit that Node's heap may take; the rest is for buffers, code and the stack. */
const NODE_HEAP_SHARE = 0.75;
const DEPENDENCIES_FOLDER = '.nextmv/python/deps';

const DEFAULT_ENTRY_POINTS: Record<RunSpec['type'], string[]> = {
  python: ['main.py'],
  node: ['main.js', 'main.mjs', 'main.ts'],
  java: ['main.jar'],
  go: ['main'],
  binary: ['main'],
};

const RUNTIMES: Partial<Record<RunSpec['type'], RuntimeName>> = {
  python: 'python',
  node: 'node',
  java: 'java',
};

/** Resolves the entry point of a run. Throws AppStartError when the app cannot start on this host. */
export async function resolveEntryPoint(
  spec: RunSpec,
  host: Host,
  executable: CachedExecutable,
): Promise<EntryPoint> {
  const workingDirectory = validatePath(spec.workingDirectory ?? '', 'working directory');
  const path = findEntryPoint(spec, workingDirectory, (candidate) => {
    const entry = executable.entriesByPath.get(candidate);
    return entry !== undefined && entry.kind !== 'directory';
  });
  const file = `${APP_ROOT_PLACEHOLDER}/${path}`;
  const runtimeName = RUNTIMES[spec.type];
  const runtime = runtimeName === undefined ? undefined : host.runtimes[runtimeName];
  if (runtimeName !== undefined && runtime === undefined) {
    const details = host.missingRuntimes[runtimeName] ?? '';
    throw new AppStartError(
      'runtime-missing',
      `The app needs ${runtimeName}, which this host does not have. ${details}`.trim(),
    );
  }
  const program = runtime?.path ?? '';
  const environment: Record<string, string> = {};
  const fixedEnvironment: Record<string, string> = {};
  // The folder of the runtime contains its tools (npm, pip).
  if (runtime !== undefined) environment.PATH = `${dirname(program)}:/usr/local/bin:/usr/bin:/bin`;
  const memory = spec.limits.memoryBytes;
  const heapMiB = Math.max(64, Math.floor((memory * NODE_HEAP_SHARE) / MIB));
  const common = { path, environment, fixedEnvironment, workingDirectory };
  switch (spec.type) {
    case 'python':
      fixedEnvironment.PYTHONPATH = [
        `${APP_ROOT_PLACEHOLDER}/${DEPENDENCIES_FOLDER}`,
        spec.environment.PYTHONPATH,
      ]
        .filter(Boolean)
        .join(':');
      fixedEnvironment.PYTHONUNBUFFERED = '1';
      fixedEnvironment.PYTHONDONTWRITEBYTECODE = '1';
      return { ...common, command: [program, file, ...spec.arguments] };
    case 'node':
      return { ...common, command: [program, `--max-old-space-size=${heapMiB}`, file, ...spec.arguments] };
    case 'java':
      // Java takes MaxRAM as the memory of the host, and the percentage from it.
      return {
        ...common,
        command: [
          program,
          `-XX:MaxRAM=${memory}`,
          '-XX:MaxRAMPercentage=90',
          '-jar',
          file,
          ...spec.arguments,
        ],
      };
    case 'go':
    case 'binary':
      await checkProgramOnce(executable, path, host);
      return { ...common, program: path, command: [file, ...spec.arguments] };
  }
}

/** The part of an executable that says how it starts. */
interface StartSettings {
  type: RunSpec['type'];
  entrypoint?: string;
  workingDirectory?: string;
}

/**
 * Returns the sentence that says why runs of a pushed executable cannot start; undefined when they can. `files` and
 * `folders` are paths in its archive.
 */
export function describeStartProblem(
  settings: StartSettings,
  { files, folders }: { files: readonly string[]; folders: readonly string[] },
): string | undefined {
  try {
    const workingDirectory = validatePath(settings.workingDirectory ?? '', 'working directory');
    const isFolder =
      workingDirectory === '' ||
      folders.includes(workingDirectory) ||
      [...files, ...folders].some((path) => path.startsWith(`${workingDirectory}/`));
    if (!isFolder)
      return `The working directory "${workingDirectory}" is not in the archive. Add the folder to files in app.yaml, or change execution.cwd, and push again.`;
    const known = new Set(files);
    findEntryPoint(settings, workingDirectory, (path) => known.has(path));
    return undefined;
  } catch (error) {
    if (!(error instanceof AppStartError)) throw error;
    return `${error.message} Check files and execution in app.yaml, and push again.`;
  }
}

function findEntryPoint(
  settings: StartSettings,
  workingDirectory: string,
  isFile: (path: string) => boolean,
): string {
  const candidates =
    settings.entrypoint === undefined
      ? DEFAULT_ENTRY_POINTS[settings.type]
      : [validatePath(settings.entrypoint, 'entry point')];
  for (const candidate of candidates) {
    if (isFile(candidate)) return candidate;
    // Some manifests name the entry point relative to the working directory.
    const inWorkingDirectory = workingDirectory === '' ? candidate : `${workingDirectory}/${candidate}`;
    if (isFile(inWorkingDirectory)) return inWorkingDirectory;
  }
  throw new AppStartError(
    'not-startable',
    `The executable has no entry point ${candidates.map((name) => `"${name}"`).join(' or ')} for type ${settings.type}.`,
  );
}

function validatePath(path: string, what: string): string {
  try {
    return normalizeRelativePath(path);
  } catch {
    throw new AppStartError(
      'not-startable',
      `The ${what} "${path}" is outside the executable. Use a relative path without "..".`,
    );
  }
}

const HEAD_BYTES = 4096;
const PT_INTERP = 3;

async function checkProgramOnce(executable: CachedExecutable, path: string, host: Host): Promise<void> {
  const { folder, programChecks } = executable;
  const check = programChecks.get(path) ?? checkProgram(join(folder, 'root', path), path, host);
  programChecks.set(path, check);
  await check;
}

/**
 * Throws AppStartError when the file cannot run here. A shell would read a program of another architecture as a script,
 * so its first bytes are checked before. The executable bit does not matter: some systems lose it, and the runner sets it.
 */
async function checkProgram(file: string, path: string, host: Host): Promise<void> {
  const handle = await open(file, 'r');
  let head: Buffer;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    head = buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
  const reject = (reason: string): never => {
    throw new AppStartError('not-startable', `The entry point "${path}" cannot be started: ${reason}`);
  };
  if (head.subarray(0, 2).toString('latin1') === '#!') return;
  const format = detectProgramFormat(head);
  const isElf = format?.platform === 'linux' && head.length >= 64;
  const isMachO = format?.platform === 'darwin';
  if (host.platform === 'darwin') {
    if (isMachO) return;
    reject(
      isElf
        ? 'it is a program for Linux, and this host runs macOS.'
        : 'it is neither a program nor a script with "#!".',
    );
  }
  if (isMachO) reject('it is a program for macOS, and this host runs Linux.');
  if (!isElf) reject('it is neither a Linux program (ELF) nor a script that begins with "#!".');
  if (format?.architecture !== host.architecture) {
    reject(`it is built for ${format?.architecture}, and this host is ${host.architecture}.`);
  }
  const loader = readLoaderPath(head);
  if (loader !== undefined && !(await canOpen(loader)))
    reject(`it needs the loader "${loader}", which this host lacks.`);
}

/** Returns the dynamic loader that a 64-bit little-endian ELF file names, when `head` contains its name. */
function readLoaderPath(head: Buffer): string | undefined {
  if (head[4] !== 2 || head[5] !== 1) return undefined;
  const tableOffset = Number(head.readBigUInt64LE(32));
  const headerBytes = head.readUInt16LE(54);
  const headerCount = head.readUInt16LE(56);
  for (let index = 0; index < headerCount; index += 1) {
    const offset = tableOffset + index * headerBytes;
    if (offset + 40 > head.length || head.readUInt32LE(offset) !== PT_INTERP) continue;
    const from = Number(head.readBigUInt64LE(offset + 8));
    const end = head.indexOf(0, from);
    return end > from ? head.toString('utf8', from, end) : undefined;
  }
  return undefined;
}

async function canOpen(path: string): Promise<boolean> {
  return await open(path, 'r').then(
    async (handle) => {
      await handle.close();
      return true;
    },
    () => false,
  );
}
