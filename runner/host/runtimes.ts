/** Finds the runtimes of this host and the paths that a sandbox must mount for them. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findAllTools, runCommand } from '../process/command.ts';
import { getErrorMessage } from '../process/errors.ts';
import type { Runtime, RuntimeName } from '../types.ts';

/** Result of findRuntimes; `missing` explains each absent runtime. */
export interface FoundRuntimes {
  runtimes: Partial<Record<RuntimeName, Runtime>>;
  missing: Partial<Record<RuntimeName, string>>;
  /** Paths to mount, outside /usr. */
  mounts: string[];
}

interface FoundRuntime extends Runtime {
  mounts: string[];
}

/**
 * Finds the runtimes that work for a user.
 *
 * @param user user id of the apps; absent: that of this process.
 */
export async function findRuntimes(user: number | undefined): Promise<FoundRuntimes> {
  const found: FoundRuntimes = { runtimes: {}, missing: {}, mounts: [] };
  const probe = async (
    name: RuntimeName,
    find: (user: number | undefined) => Promise<FoundRuntime>,
  ): Promise<void> => {
    try {
      const { path, version, mounts } = await find(user);
      found.runtimes[name] = { path, version };
      found.mounts.push(...mounts);
    } catch (error) {
      found.missing[name] = getErrorMessage(error);
    }
  };
  await Promise.all([probe('node', findNode), probe('python', findPython), probe('java', findJava)]);
  return found;
}

/** Returns the Node that runs this process; it needs no other file. */
async function findNode(user: number | undefined): Promise<FoundRuntime> {
  const path = realpathSync(process.execPath);
  const { ok, error } = await runCommand(path, ['--version'], user);
  if (!ok) throw new Error(`Node at ${path} does not work for apps: ${error}`);
  return { path, version: process.versions.node, mounts: selectOutsideUsr([path]) };
}

const PRINT_PYTHON_PATHS = `
import sys
print(sys.version.split()[0], getattr(sys, '_base_executable', sys.executable), sys.base_prefix, sep='\\n')
`;

/**
 * Resolves shims and virtual environments to the interpreter itself. Without the module `site`, whose imports can take four
 * fifths of the time.
 */
async function findPython(user: number | undefined): Promise<FoundRuntime> {
  const errors: string[] = [];
  for (const candidate of findAllTools('python3')) {
    const { ok, output, error } = await runCommand(candidate, ['-I', '-S', '-c', PRINT_PYTHON_PATHS], user);
    const [version, executable, prefix] = output.trim().split('\n');
    if (!ok || version === undefined || executable === undefined || prefix === undefined) {
      errors.push(`${candidate}: ${error}`);
      continue;
    }
    const parts = ['bin', 'lib', 'lib64']
      .map((name) => join(prefix, name))
      .filter((path) => existsSync(path));
    return { path: executable, version, mounts: selectOutsideUsr(parts) };
  }
  throw new Error(
    `There is no working python3 in the PATH of this host: install Python 3. ${errors.join(' ')}`.trim(),
  );
}

async function findJava(user: number | undefined): Promise<FoundRuntime> {
  for (const candidate of findAllTools('java')) {
    const path = realpathSync(candidate);
    const { ok, output } = await runCommand(path, ['-version'], user);
    const version = /version "([^"]+)"/.exec(output)?.[1];
    if (ok && version !== undefined)
      return { path, version, mounts: selectOutsideUsr([dirname(dirname(path))]) };
  }
  throw new Error('There is no working java in the PATH of this host: install a Java runtime.');
}

function selectOutsideUsr(paths: string[]): string[] {
  return paths.filter((path) => !path.startsWith('/usr/'));
}
