/** A memory cgroup for servers that run out of memory in a test. */
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listCgroupHierarchies, readGroupNumber } from '@switchyard/runner/process/cgroup-hierarchies.ts';
import { errorMessage } from '../../platform/log.ts';

export interface MemoryGroup {
  folder: string;
  readUsedBytes(): number;
  /** Limits the memory of the group; null removes the limit. */
  setLimit(bytes: number | null): void;
  /** Removes the group; returns false while it has a process. */
  remove(): boolean;
}

/** Creates a group below the group of this process; returns the reason as text when this machine does not allow it. */
export function createMemoryGroup(name: string): MemoryGroup | string {
  const found = listCgroupHierarchies().find(({ controllers }) => controllers.includes('memory'));
  if (found === undefined) return 'this machine has no memory cgroups';
  const folder = join(found.ownFolder, name);
  const [limitFile, usageFile, none] =
    found.version === 2
      ? ['memory.max', 'memory.current', 'max']
      : ['memory.limit_in_bytes', 'memory.usage_in_bytes', '-1'];
  const setLimit = (bytes: number | null): void =>
    writeFileSync(join(folder, limitFile), bytes === null ? none : String(Math.round(bytes)));
  try {
    mkdirSync(folder);
    setLimit(null);
  } catch (error) {
    if (existsSync(folder)) rmdirSync(folder);
    return `a memory cgroup could not be created (${errorMessage(error)})`;
  }
  return {
    folder,
    setLimit: setLimit,
    readUsedBytes: () => readGroupNumber(folder, usageFile) ?? 0,
    remove: () => removeFolders(folder),
  };
}

/** Removes the folder and those below it, the innermost first; returns false while one has a process. */
function removeFolders(folder: string): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) removeFolders(join(folder, entry.name));
    rmdirSync(folder);
  } catch {
    // It has a process, or its launcher has removed it.
  }
  return !existsSync(folder);
}

/** Returns options for `fork` that move the process into the group before its first statement. */
export function forkOptions({ folder }: MemoryGroup): { execPath: string; execArgv: string[] } {
  return {
    execPath: '/bin/sh',
    execArgv: ['-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder, process.execPath],
  };
}
