/** Creates the folders of an app with its executable, secrets and input. Synchronous: the launcher calls it before each start. */
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
import type { ExecutableIndex } from '../archive/executable-index.ts';
import { type RunFolder, SANDBOX_APP_PATH } from '../filesystem/run-folder.ts';
import { isErrno } from '../process/errors.ts';
import type { LaunchPlan } from './launch-plan.ts';

/** The app cannot start because of its own plan or files; the message names the error. */
export class InvalidAppError extends Error {
  override name = 'InvalidAppError';
}

interface WorkingCopyOptions {
  plan: LaunchPlan;
  folder: RunFolder;
  index: ExecutableIndex;
  /** Paths that the sandbox mounts from the cache; only their mount points are created. */
  shared: string[];
  /** User and group id of the owner; absent: that of this process. */
  user?: number;
  isSandbox: boolean;
}

/** Creates `work` and `tmp` with everything in them. Throws InvalidAppError. */
export function makeWorkingCopy(options: WorkingCopyOptions): void {
  const { plan, folder, shared, user, isSandbox } = options;
  const setOwner = (path: string): void => {
    if (user !== undefined) lchownSync(path, user, user);
  };
  for (const path of [folder.work, folder.tmp]) {
    // In a sandbox no other run reaches the folder, so a mode is enough, which is cheaper than another owner.
    mkdirSync(path, { mode: isSandbox ? 0o777 : 0o700 });
    if (!isSandbox) setOwner(path);
  }
  if (plan.previousFile !== undefined && !isSandbox && user !== undefined)
    shareWithGroup(folder.previous, user);
  copyExecutable(options, setOwner);
  // Archives from systems without an executable bit lack it.
  if (plan.program !== undefined && !shared.includes(plan.program))
    chmodSync(join(folder.work, plan.program), 0o755);
  const working = join(folder.work, plan.workingDirectory);
  if (!existsSync(working)) {
    throw new InvalidAppError(
      `The working directory "${plan.workingDirectory}" is not in the executable. Correct it in app.yaml.`,
    );
  }
  for (const path of plan.folders) createFolder(working, path, setOwner);
  for (const secret of plan.secretFiles) {
    const path = resolveSecretPath(secret.location, working, options);
    const absolutePath = join(path.base, path.relative);
    try {
      createFolder(working, dirname(path.relative), setOwner, path.base);
      writeFileSync(absolutePath, secret.value, { mode: 0o600 });
    } catch (error) {
      if (!isErrno(error, 'EISDIR', 'ENOTDIR')) throw error;
      throw new InvalidAppError(
        `The secret file location "${secret.location}" cannot be written: the executable has a folder there, or a file where a folder is needed.`,
      );
    }
    setOwner(absolutePath);
  }
  // Last, so that no link of the input archive can redirect a write of this function.
  if (plan.inputPath !== undefined) {
    createFolder(working, plan.inputPath, setOwner);
    if (user !== undefined) setOwnerOfTree(folder.input, user);
    moveEntries(folder.input, join(working, plan.inputPath));
  }
}

/** Lets the app, whose group has the id of its user, and no other app read the folder. */
function shareWithGroup(path: string, group: number): void {
  chownSync(path, -1, group);
  chmodSync(path, 0o750);
}

function copyExecutable(
  { plan, folder, index, shared }: WorkingCopyOptions,
  setOwner: (path: string) => void,
): void {
  const source = join(plan.executableFolder, 'root');
  const files = new Set(shared);
  const below = shared.map((path) => `${path}/`);
  const created = new Set<string>(['.']);
  const ensureFolder = (path: string): void => {
    if (created.has(path)) return;
    ensureFolder(dirname(path));
    mkdirSync(join(folder.work, path), { mode: 0o755 });
    setOwner(join(folder.work, path));
    created.add(path);
  };
  for (const entry of index.entries) {
    if (below.some((prefix) => entry.path.startsWith(prefix))) continue;
    if (entry.kind === 'directory') {
      ensureFolder(entry.path);
      continue;
    }
    ensureFolder(dirname(entry.path));
    const target = join(folder.work, entry.path);
    if (entry.kind === 'symlink') symlinkSync(entry.target ?? '', target);
    else if (files.has(entry.path)) writeFileSync(target, '');
    else copyFileSync(join(source, entry.path), target, constants.COPYFILE_FICLONE);
    setOwner(target);
  }
  for (const path of shared) {
    if (!index.entries.some((entry) => entry.path === path && entry.kind !== 'directory')) ensureFolder(path);
  }
}

/** Creates each missing part of a relative path as a real folder. */
function createFolder(working: string, path: string, setOwner: (path: string) => void, base = working): void {
  let current = base;
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    current = join(current, part);
    if (existsSync(current)) continue;
    mkdirSync(current, { mode: 0o755 });
    setOwner(current);
  }
}

function setOwnerOfTree(path: string, user: number): void {
  chownSync(path, user, user);
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    lchownSync(join(entry.parentPath, entry.name), user, user);
  }
}

/** Moves the entries of a folder into another one and replaces existing entries. Never follows a link. */
function moveEntries(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const target = join(to, entry.name);
    const existing = lstatSync(target, { throwIfNoEntry: false });
    if (existing?.isDirectory() && entry.isDirectory()) {
      moveEntries(join(from, entry.name), target);
      continue;
    }
    if (existing !== undefined) rmSync(target, { recursive: true });
    renameSync(join(from, entry.name), target);
  }
}

/**
 * Resolves the location of a secret. A relative one starts at the working directory. An absolute one must name the app's
 * own folder or /tmp inside the sandbox; any other path would be on the host or replace the system's files.
 */
function resolveSecretPath(
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
  const normalized = `/${parts.join('/')}`;
  if (options.isSandbox && normalized.startsWith('/tmp/'))
    return { base: options.folder.tmp, relative: normalized.slice(5) };
  if (options.isSandbox && normalized.startsWith(`${SANDBOX_APP_PATH}/`)) {
    return { base: options.folder.work, relative: normalized.slice(SANDBOX_APP_PATH.length + 1) };
  }
  const allowed = options.isSandbox
    ? `/tmp/ or ${SANDBOX_APP_PATH}/`
    : 'a sandbox, which this host does not have';
  throw new InvalidAppError(
    `The secret file location "${location}" is absolute; an absolute location must be in ${allowed}. Use a relative one.`,
  );
}
