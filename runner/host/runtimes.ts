/** Finds the runtimes of this host, and what a sandbox must show of them. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findAllTools, runCommand } from '../process/command.ts';
import { getErrorMessage } from '../process/errors.ts';
import type { Runtime, RuntimeName } from '../types.ts';

export interface FoundRuntimes {
  runtimes: Partial<Record<RuntimeName, Runtime>>;
  missing: Partial<Record<RuntimeName, string>>;
  /** Files and folders outside /usr. */
  mounts: string[];
}

interface Found extends Runtime {
  mounts: string[];
}

/** @param user with whose rights the runtimes must work; absent: ours. */
export async function findRuntimes(user: number | undefined): Promise<FoundRuntimes> {
  const found: FoundRuntimes = { runtimes: {}, missing: {}, mounts: [] };
  const take = async (
    name: RuntimeName,
    find: (user: number | undefined) => Promise<Found>,
  ): Promise<void> => {
    try {
      const { path, version, mounts } = await find(user);
      found.runtimes[name] = { path, version };
      found.mounts.push(...mounts);
    } catch (error) {
      found.missing[name] = getErrorMessage(error);
    }
  };
  await Promise.all([take('node', findNode), take('python', findPython), take('java', findJava)]);
  return found;
}

/** The Node that runs us; one file is all it needs. */
async function findNode(user: number | undefined): Promise<Found> {
  const path = realpathSync(process.execPath);
  const { ok, error: trouble } = await runCommand(path, ['--version'], user);
  if (!ok) throw new Error(`Node at ${path} does not work for apps: ${trouble}`);
  return { path, version: process.versions.node, mounts: outsideUsr([path]) };
}

const ASK_PYTHON = `
import sys, platform
print(platform.python_version(), getattr(sys, '_base_executable', sys.executable), sys.base_prefix, sep='\\n')
`;

/** Past shims and virtual environments to the interpreter itself. */
async function findPython(user: number | undefined): Promise<Found> {
  const troubles: string[] = [];
  for (const candidate of findAllTools('python3')) {
    const { ok, output, error: trouble } = await runCommand(candidate, ['-I', '-c', ASK_PYTHON], user);
    const [version, executable, prefix] = output.trim().split('\n');
    if (!ok || version === undefined || executable === undefined || prefix === undefined) {
      troubles.push(`${candidate}: ${trouble}`);
      continue;
    }
    const parts = ['bin', 'lib', 'lib64']
      .map((name) => join(prefix, name))
      .filter((path) => existsSync(path));
    return { path: executable, version, mounts: outsideUsr(parts) };
  }
  throw new Error(`There is no working python3 in the PATH of this host. ${troubles.join(' ')}`.trim());
}

async function findJava(user: number | undefined): Promise<Found> {
  for (const candidate of findAllTools('java')) {
    const path = realpathSync(candidate);
    const { ok, output } = await runCommand(path, ['-version'], user);
    const version = /version "([^"]+)"/.exec(output)?.[1];
    if (ok && version !== undefined) return { path, version, mounts: outsideUsr([dirname(dirname(path))]) };
  }
  throw new Error('There is no working java in the PATH of this host.');
}

function outsideUsr(paths: string[]): string[] {
  return paths.filter((path) => !path.startsWith('/usr/'));
}
