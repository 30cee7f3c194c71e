/** Where the control groups (cgroups) of this process lie, in both versions of the kernel's interface. Linux only. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readProcFile } from './processes.ts';

export interface CgroupHierarchy {
  version: 1 | 2;
  /** Version 1: the controllers of the mount. Version 2: what `cgroup.controllers` of our own group lists. */
  controllers: string[];
  /** The folder of our own group. */
  ownFolder: string;
  /** The outermost group that can be seen from here: a container sees no further than its own. */
  outermostFolder: string;
}

/** Every mounted hierarchy that shows our own group. `self` and `read` are for tests. */
export function listCgroupHierarchies(
  read: (path: string) => string | undefined = readProcFile,
): CgroupHierarchy[] {
  const groups = (read('/proc/self/cgroup') ?? '').split('\n').flatMap((line) => {
    const found = /^\d+:([^:]*):(\/.*)$/.exec(line);
    return found === null ? [] : [{ names: (found[1] ?? '').split(','), path: found[2] ?? '/' }];
  });
  return (read('/proc/self/mountinfo') ?? '').split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '/', place = ''] = before.split(' ').map(unescaped);
    const [type, , options = ''] = after.split(' ');
    if (type !== 'cgroup' && type !== 'cgroup2') return [];
    const version = type === 'cgroup' ? 1 : 2;
    const mounted = options.split(',');
    const group = groups.find(({ names }) =>
      version === 2 ? names[0] === '' : names[0] !== '' && names.every((name) => mounted.includes(name)),
    );
    if (group === undefined) return [];
    const own = join(place, below(group.path, root));
    const controllers =
      version === 1 ? group.names : (read(join(own, 'cgroup.controllers')) ?? '').trim().split(/\s+/);
    return [{ version, controllers, ownFolder: own, outermostFolder: place } satisfies CgroupHierarchy];
  });
}

/** The path of a group as the mount shows it, which may begin at a group further down. */
function below(path: string, root: string): string {
  if (root === '/') return path === '/' ? '' : path;
  return path.startsWith(`${root}/`) ? path.slice(root.length) : '';
}

/** The kernel writes spaces and the like as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** Our own group and those above it, the outermost last. */
export function listGroupAndAncestors({ ownFolder: own, outermostFolder: top }: CgroupHierarchy): string[] {
  const folders = [own];
  for (let folder = own; folder !== top && folder.startsWith(`${top}/`); ) {
    folder = join(folder, '..');
    folders.push(folder);
  }
  return folders;
}

/** A number of a group's file; undefined where there is none, or it says `max`. */
export function readGroupNumber(folder: string, file: string): number | undefined {
  const text = readGroupFile(folder, file)?.trim();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The value behind a name in one of the files that have a line for each. */
export function readNamedNumber(folder: string, file: string, name: string): number {
  return parseNamedNumbers(readGroupFile(folder, file) ?? '').get(name) ?? 0;
}

/** The numbers of a text that has a name and a number on each line. */
export function parseNamedNumbers(text: string): Map<string, number> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [name = '', value] = line.split(/:?\s+/);
      return value === undefined ? [] : [[name, Number(value)] as const];
    }),
  );
}

export function readGroupFile(folder: string, file: string): string | undefined {
  try {
    return readFileSync(join(folder, file), 'utf8');
  } catch {
    return undefined;
  }
}

/** What a memory group holds that is not given back under pressure, and how much of that belongs to processes. */
export interface GroupMemory {
  unreclaimableBytes: number;
  /** Anonymous pages that processes have mapped. */
  processBytes: number;
}

/** undefined where it cannot be read. Files that lie on a disk are cached in the group and count nothing. */
export function readGroupMemory(folder: string, version: 1 | 2): GroupMemory | undefined {
  const current = readGroupNumber(folder, version === 2 ? 'memory.current' : 'memory.usage_in_bytes');
  const stat = readGroupFile(folder, 'memory.stat');
  if (current === undefined || stat === undefined) return undefined;
  const sums = parseNamedNumbers(stat);
  const sum = (name: string): number => sums.get(version === 2 ? name : `total_${name}`) ?? 0;
  const given = sum('inactive_file') + sum('active_file') + (version === 2 ? sum('slab_reclaimable') : 0);
  return {
    unreclaimableBytes: Math.max(0, current - given),
    processBytes: version === 2 ? sum('anon') : sum('rss'),
  };
}

/** The limit on the memory of a group; undefined when it has none that a machine could reach. */
export function readMemoryLimit(folder: string, version: 1 | 2): number | undefined {
  const limit = readGroupNumber(folder, version === 2 ? 'memory.max' : 'memory.limit_in_bytes');
  return limit === undefined || limit >= 2 ** 60 ? undefined : limit;
}
