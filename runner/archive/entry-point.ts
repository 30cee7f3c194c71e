/** Decides what is executed: the entry point of an app, the command that starts it, and whether it can start here. */
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { APP_ROOT_PLACEHOLDER } from '../filesystem/run-folder.ts';
import type { EndReason, Host, RunSpec, RuntimeName } from '../types.ts';
import type { ArchiveEntry } from './archive-rules.ts';
import { normalizeRelativePath } from './archive-rules.ts';
import type { CachedExecutable } from './executable-cache.ts';
import { detectProgramFormat } from './program-format.ts';

/** Why an app cannot be started, as the outcome will say it. */
export class AppStartError extends Error {
  override name = 'AppStartError';
  readonly reason: EndReason;
  constructor(reason: EndReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface EntryPoint {
  command: string[];
  /** The entry point, relative to the root of the executable. */
  path: string;
  /** The app's own environment may replace these … */
  environment: Record<string, string>;
  /** … but not these. */
  fixedEnvironment: Record<string, string>;
  workingDirectory: string;
  /** The app's own file that is executed, when it is not handed to a runtime. */
  program?: string;
}

const MIB = 1024 * 1024;
/** Share of the memory limit that Node's heap may take; the rest is for buffers, code and the stack. */
const NODE_HEAP_SHARE = 0.75;
const DEPENDENCIES = '.nextmv/python/deps';

const DEFAULT_ENTRY: Record<RunSpec['type'], string[]> = {
  python: ['main.py'],
  node: ['main.js', 'main.mjs', 'main.ts'],
  java: ['main.jar'],
  go: ['main'],
  binary: ['main'],
};

const NEEDS: Partial<Record<RunSpec['type'], RuntimeName>> = { python: 'python', node: 'node', java: 'java' };

/** Throws CannotStart with a sentence. */
export async function resolveEntryPoint(
  job: RunSpec,
  host: Host,
  executable: CachedExecutable,
): Promise<EntryPoint> {
  const workingDirectory = inside(job.workingDirectory ?? '', 'working directory');
  const path = findEntry(job, workingDirectory, executable.entriesByPath);
  const file = `${APP_ROOT_PLACEHOLDER}/${path}`;
  const need = NEEDS[job.type];
  const runtime = need === undefined ? undefined : host.runtimes[need];
  if (need !== undefined && runtime === undefined) {
    const why = host.missingRuntimes[need] ?? '';
    throw new AppStartError(
      'runtime-missing',
      `The app needs ${need}, which this host does not have. ${why}`.trim(),
    );
  }
  const program = runtime?.path ?? '';
  const environment: Record<string, string> = {};
  const fixedEnvironment: Record<string, string> = {};
  // Tools of the runtime (npm's, pip's) are found by name beside it.
  if (runtime !== undefined) environment.PATH = `${dirname(program)}:/usr/local/bin:/usr/bin:/bin`;
  const memory = job.limits.memoryBytes;
  const heapMiB = Math.max(64, Math.floor((memory * NODE_HEAP_SHARE) / MIB));
  const common = { path, environment, fixedEnvironment, workingDirectory };
  switch (job.type) {
    case 'python':
      fixedEnvironment.PYTHONPATH = [`${APP_ROOT_PLACEHOLDER}/${DEPENDENCIES}`, job.environment.PYTHONPATH]
        .filter(Boolean)
        .join(':');
      fixedEnvironment.PYTHONUNBUFFERED = '1';
      fixedEnvironment.PYTHONDONTWRITEBYTECODE = '1';
      return { ...common, command: [program, file, ...job.arguments] };
    case 'node':
      return { ...common, command: [program, `--max-old-space-size=${heapMiB}`, file, ...job.arguments] };
    case 'java':
      // The percentage is of the run's limit, not of the host's memory.
      return {
        ...common,
        command: [program, `-XX:MaxRAM=${memory}`, '-XX:MaxRAMPercentage=90', '-jar', file, ...job.arguments],
      };
    case 'go':
    case 'binary':
      await checkOnce(executable, path, host);
      return { ...common, program: path, command: [file, ...job.arguments] };
  }
}

function findEntry(job: RunSpec, workingDirectory: string, files: Map<string, ArchiveEntry>): string {
  const isFile = (path: string): boolean => {
    const entry = files.get(path);
    return entry !== undefined && entry.kind !== 'directory';
  };
  const candidates =
    job.entrypoint === undefined ? DEFAULT_ENTRY[job.type] : [inside(job.entrypoint, 'entry point')];
  for (const candidate of candidates) {
    if (isFile(candidate)) return candidate;
    // Some manifests name the entry point as seen from the working directory.
    const seen = workingDirectory === '' ? candidate : `${workingDirectory}/${candidate}`;
    if (isFile(seen)) return seen;
  }
  throw new AppStartError(
    'not-startable',
    `The executable has no entry point ${candidates.map((name) => `"${name}"`).join(' or ')} for type ${job.type}.`,
  );
}

function inside(path: string, what: string): string {
  try {
    return normalizeRelativePath(path);
  } catch {
    throw new AppStartError(
      'not-startable',
      `The ${what} "${path}" does not lie in the executable; it must be relative.`,
    );
  }
}

const HEAD_BYTES = 4096;
const PT_INTERP = 3;

/** By executable: its programs that were looked at, since what is in the cache never changes. */
const checked = new WeakMap<CachedExecutable['entriesByPath'], Map<string, Promise<void>>>();

async function checkOnce(executable: CachedExecutable, path: string, host: Host): Promise<void> {
  const programs = checked.get(executable.entriesByPath) ?? new Map<string, Promise<void>>();
  checked.set(executable.entriesByPath, programs);
  const check = programs.get(path) ?? checkProgram(join(executable.folder, 'root', path), path, host);
  programs.set(path, check);
  await check;
}

/**
 * A shell handed a program of another architecture would try to read it as a script, so its head is looked at first.
 * The executable bit does not matter: archives made on systems without it lose it, and the runner sets it.
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
  const refuse = (why: string): never => {
    throw new AppStartError('not-startable', `The entry point "${path}" cannot be started: ${why}`);
  };
  if (head.subarray(0, 2).toString('latin1') === '#!') return;
  const format = detectProgramFormat(head);
  const isElf = format?.platform === 'linux' && head.length >= 64;
  const isMachO = format?.platform === 'darwin';
  if (host.platform === 'darwin') {
    if (isMachO) return;
    refuse(
      isElf
        ? 'it is a program for Linux, and this host runs macOS.'
        : 'it is neither a program nor a script with "#!".',
    );
  }
  if (isMachO) refuse('it is a program for macOS, and this host runs Linux.');
  if (!isElf) refuse('it is neither a Linux program (ELF) nor a script that begins with "#!".');
  if (format?.architecture !== host.architecture) {
    refuse(`it is built for ${format?.architecture}, and this host is ${host.architecture}.`);
  }
  const loader = interpreterOf(head);
  if (loader !== undefined && !(await exists(loader)))
    refuse(`it needs the loader "${loader}", which this host lacks.`);
}

/** The dynamic loader that a 64-bit little-endian program names, when its name lies in the head. */
function interpreterOf(head: Buffer): string | undefined {
  if (head[4] !== 2 || head[5] !== 1) return undefined;
  const table = Number(head.readBigUInt64LE(32));
  const size = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  for (let place = 0; place < count; place += 1) {
    const at = table + place * size;
    if (at + 40 > head.length || head.readUInt32LE(at) !== PT_INTERP) continue;
    const from = Number(head.readBigUInt64LE(at + 8));
    const end = head.indexOf(0, from);
    return end > from ? head.toString('utf8', from, end) : undefined;
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return await open(path, 'r').then(
    async (handle) => {
      await handle.close();
      return true;
    },
    () => false,
  );
}
