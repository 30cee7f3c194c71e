/** Makes the fresh folder an app runs in. Synchronous: it runs in the launcher, just before the start. */
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { ExecutableIndex } from '../archive/executable-cache.ts';
import { type RunFolder, SANDBOX_APP_PATH } from '../filesystem/run-folder.ts';
import { isErrno } from '../process/errors.ts';
import type { LaunchPlan } from './launch-plan.ts';

/** The plan cannot be carried out; the app is to blame, and the message says how. */
export class InvalidAppError extends Error {
  override name = 'InvalidAppError';
}

export interface WorkingCopyOptions {
  plan: LaunchPlan;
  folder: RunFolder;
  index: ExecutableIndex;
  /** Leave out what the sandbox binds from the cache; only mount points are made. */
  shared: string[];
  /** Who shall own everything; absent: us. */
  user?: number;
  isSandbox: boolean;
}

/** Returns when work and tmp are there with everything in them. */
export function makeWorkingCopy(options: WorkingCopyOptions): void {
  const { plan, folder, shared, user, isSandbox: sandbox } = options;
  const own = (path: string): void => {
    if (user !== undefined) lchownSync(path, user, user);
  };
  for (const path of [folder.work, folder.tmp]) {
    // In a sandbox nobody else comes near, so a mode does, which is cheaper than another owner. Elsewhere other runs do.
    mkdirSync(path, { mode: sandbox ? 0o777 : 0o700 });
    if (!sandbox) own(path);
  }
  copyExecutable(options, own);
  // Archives made where there is no executable bit lack it; what is to be executed gets it.
  if (plan.program !== undefined && !shared.includes(plan.program))
    chmodSync(join(folder.work, plan.program), 0o755);
  const working = join(folder.work, plan.workingDirectory);
  if (!existsSync(working)) {
    throw new InvalidAppError(`The working directory "${plan.workingDirectory}" is not in the executable.`);
  }
  for (const path of plan.folders) makeFolder(working, path, own);
  for (const secret of plan.secretFiles) {
    const path = secretPath(secret.location, working, options);
    const whole = join(path.base, path.relative);
    try {
      makeFolder(working, dirname(path.relative), own, path.base);
      writeFileSync(whole, secret.value, { mode: 0o600 });
    } catch (error) {
      if (!isErrno(error, 'EISDIR', 'ENOTDIR')) throw error;
      throw new InvalidAppError(
        `The secret file location "${secret.location}" cannot be written: the executable has a folder there, or a file where a folder is needed.`,
      );
    }
    own(whole);
  }
  // Last, so that no link of the input archive can lead a write of ours elsewhere.
  if (plan.inputPath !== undefined) {
    makeFolder(working, plan.inputPath, own);
    if (user !== undefined) ownAll(folder.input, user);
    merge(folder.input, join(working, plan.inputPath));
  }
}

function copyExecutable(
  { plan, folder, index, shared }: WorkingCopyOptions,
  own: (path: string) => void,
): void {
  const source = join(plan.executableFolder, 'root');
  const files = new Set(shared);
  const below = shared.map((path) => `${path}/`);
  const made = new Set<string>(['.']);
  const ensure = (path: string): void => {
    if (made.has(path)) return;
    ensure(dirname(path));
    mkdirSync(join(folder.work, path), { mode: 0o755 });
    own(join(folder.work, path));
    made.add(path);
  };
  for (const entry of index.entries) {
    if (below.some((prefix) => entry.path.startsWith(prefix))) continue;
    if (entry.kind === 'directory') {
      ensure(entry.path);
      continue;
    }
    ensure(dirname(entry.path));
    const target = join(folder.work, entry.path);
    if (entry.kind === 'symlink') symlinkSync(entry.target ?? '', target);
    else if (files.has(entry.path)) writeFileSync(target, '');
    else copyFileSync(join(source, entry.path), target, constants.COPYFILE_FICLONE);
    own(target);
  }
  for (const path of shared) {
    if (!index.entries.some((entry) => entry.path === path && entry.kind !== 'directory')) ensure(path);
  }
}

/** Makes each missing part of a relative path; every part is a real folder, never a link of the app's archive. */
function makeFolder(working: string, path: string, own: (path: string) => void, base = working): void {
  let at = base;
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    at = join(at, part);
    if (existsSync(at)) continue;
    mkdirSync(at, { mode: 0o755 });
    own(at);
  }
}

function ownAll(path: string, user: number): void {
  chownSync(path, user, user);
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    lchownSync(join(entry.parentPath, entry.name), user, user);
  }
}

/** Moves what lies in `from` into `to`. What is there already gives way, links included: none is ever followed. */
function merge(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const target = join(to, entry.name);
    const there = lstatSync(target, { throwIfNoEntry: false });
    if (there?.isDirectory() && entry.isDirectory()) {
      merge(join(from, entry.name), target);
      continue;
    }
    if (there !== undefined) rmSync(target, { recursive: true });
    renameSync(join(from, entry.name), target);
  }
}

/**
 * Relative: below the working directory. Absolute: only a path that inside the sandbox is the app's own folder or
 * /tmp; anywhere else it would have to be put on the host or over the system's files.
 */
function secretPath(
  location: string,
  working: string,
  options: WorkingCopyOptions,
): { base: string; relative: string } {
  const parts = location.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || parts.includes('..') || location.endsWith('/') || location.includes('\0')) {
    throw new InvalidAppError(
      `The secret file location "${location}" is not a path of a file below the working folder.`,
    );
  }
  if (!isAbsolute(location)) return { base: working, relative: parts.join('/') };
  const inside = `/${parts.join('/')}`;
  if (options.isSandbox && inside.startsWith('/tmp/'))
    return { base: options.folder.tmp, relative: inside.slice(5) };
  if (options.isSandbox && inside.startsWith(`${SANDBOX_APP_PATH}/`)) {
    return { base: options.folder.work, relative: inside.slice(SANDBOX_APP_PATH.length + 1) };
  }
  const where = options.isSandbox
    ? `/tmp/ or ${SANDBOX_APP_PATH}/`
    : 'a sandbox, which this host does not have';
  throw new InvalidAppError(
    `The secret file location "${location}" is absolute; an absolute location must lie in ${where}. Use a relative one.`,
  );
}
