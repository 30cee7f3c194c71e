/** A memory cgroup for servers that are to run out of memory. */
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listCgroupHierarchies, readGroupNumber } from '@switchyard/runner/process/cgroup-hierarchies.ts';

export interface MemoryGroup {
  folder: string;
  readUsedBytes(): number;
  /** null: no limit. */
  setLimit(bytes: number | null): void;
  /** false while there is a process in it. */
  remove(): boolean;
}

/** Makes one below our own group; a sentence says why where this machine lets us make none. */
export function createMemoryGroup(name: string): MemoryGroup | string {
  const found = listCgroupHierarchies().find(({ controllers }) => controllers.includes('memory'));
  if (found === undefined) return 'this machine has no memory cgroups';
  const folder = join(found.ownFolder, name);
  const [limitFile, usageFile, none] =
    found.version === 2
      ? ['memory.max', 'memory.current', 'max']
      : ['memory.limit_in_bytes', 'memory.usage_in_bytes', '-1'];
  const limit = (bytes: number | null): void =>
    writeFileSync(join(folder, limitFile), bytes === null ? none : String(Math.round(bytes)));
  try {
    mkdirSync(folder);
    limit(null);
  } catch (error) {
    if (existsSync(folder)) rmdirSync(folder);
    return `a memory cgroup could not be made (${(error as Error).message})`;
  }
  return {
    folder,
    setLimit: limit,
    readUsedBytes: () => readGroupNumber(folder, usageFile) ?? 0,
    remove: () => removeFolders(folder),
  };
}

/** Innermost first; false while there is a process in one of them. */
function removeFolders(folder: string): boolean {
  try {
    for (const one of readdirSync(folder, { withFileTypes: true }))
      if (one.isDirectory()) removeFolders(join(folder, one.name));
    rmdirSync(folder);
  } catch {
    // A process is in it, or it was removed by its own launcher.
  }
  return !existsSync(folder);
}

/** For `fork`: the program's process is in the group before its first statement. */
export function forkOptions({ folder }: MemoryGroup): { execPath: string; execArgv: string[] } {
  return {
    execPath: '/bin/sh',
    execArgv: ['-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder, process.execPath],
  };
}
