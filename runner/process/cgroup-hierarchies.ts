/** Finds the control groups (cgroups) of this process and reads them, in both versions of the kernel interface. Linux only. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readProcFile } from './processes.ts';

/** One mounted cgroup hierarchy that contains this process. */
export interface CgroupHierarchy {
  version: 1 | 2;
  /** Version 1: the controllers of the mount. Version 2: the content of `cgroup.controllers` of the own group. */
  controllers: string[];
  /** Folder of the group of this process. */
  ownFolder: string;
  /** Outermost visible group: inside a container, the group of the container. */
  outermostFolder: string;
}

/** Returns every mounted hierarchy that shows the group of this process. Tests pass their own `read`. */
export function listCgroupHierarchies(
  read: (path: string) => string | undefined = readProcFile,
): CgroupHierarchy[] {
  const groups = (read('/proc/self/cgroup') ?? '').split('\n').flatMap((line) => {
    const found = /^\d+:([^:]*):(\/.*)$/.exec(line);
    return found === null ? [] : [{ names: (found[1] ?? '').split(','), path: found[2] ?? '/' }];
  });
  return (read('/proc/self/mountinfo') ?? '').split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '/', mountPoint = ''] = before.split(' ').map(unescapeMountPath);
    const [type, , options = ''] = after.split(' ');
    if (type !== 'cgroup' && type !== 'cgroup2') return [];
    const version = type === 'cgroup' ? 1 : 2;
    const mountedControllers = options.split(',');
    const group = groups.find(({ names }) =>
      version === 2
        ? names[0] === ''
        : names[0] !== '' && names.every((name) => mountedControllers.includes(name)),
    );
    if (group === undefined) return [];
    const ownFolder = join(mountPoint, toPathBelowMount(group.path, root));
    const controllers =
      version === 1 ? group.names : (read(join(ownFolder, 'cgroup.controllers')) ?? '').trim().split(/\s+/);
    return [{ version, controllers, ownFolder, outermostFolder: mountPoint } satisfies CgroupHierarchy];
  });
}

/** Returns the path of a group relative to a mount whose root may be a group further down. */
function toPathBelowMount(path: string, root: string): string {
  if (root === '/') return path === '/' ? '' : path;
  return path.startsWith(`${root}/`) ? path.slice(root.length) : '';
}

/** Decodes the octal escapes that the kernel writes for spaces and similar characters. */
function unescapeMountPath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** Returns the folders of the own group and of its ancestors, the outermost last. */
export function listGroupAndAncestors({ ownFolder, outermostFolder }: CgroupHierarchy): string[] {
  const folders = [ownFolder];
  let folder = ownFolder;
  while (folder !== outermostFolder && folder.startsWith(`${outermostFolder}/`)) {
    folder = join(folder, '..');
    folders.push(folder);
  }
  return folders;
}

/** Returns the number in a file of a group; undefined when the file is missing or contains `max`. */
export function readGroupNumber(folder: string, file: string): number | undefined {
  const text = readGroupFile(folder, file)?.trim();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Returns the value of a name in a file with one name and number on each line; 0 when it is missing. */
export function readNamedNumber(folder: string, file: string, name: string): number {
  return parseNamedNumbers(readGroupFile(folder, file) ?? '').get(name) ?? 0;
}

/** Parses a text with one name and number on each line. */
export function parseNamedNumbers(text: string): Map<string, number> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [name = '', value] = line.split(/:?\s+/);
      return value === undefined ? [] : [[name, Number(value)] as const];
    }),
  );
}

/** Returns the text of a file of a group; undefined when it cannot be read. */
export function readGroupFile(folder: string, file: string): string | undefined {
  try {
    return readFileSync(join(folder, file), 'utf8');
  } catch {
    return undefined;
  }
}

/** Memory of a group that the kernel cannot reclaim, and the part of it that belongs to processes. */
interface GroupMemory {
  unreclaimableBytes: number;
  /** Anonymous pages that processes have mapped. */
  processBytes: number;
}

/** Reads the memory of a group; undefined when it cannot be read. Cached files of a disk do not count. */
export function readGroupMemory(folder: string, version: 1 | 2): GroupMemory | undefined {
  const current = readGroupNumber(folder, version === 2 ? 'memory.current' : 'memory.usage_in_bytes');
  const stat = readGroupFile(folder, 'memory.stat');
  if (current === undefined || stat === undefined) return undefined;
  const sums = parseNamedNumbers(stat);
  const sum = (name: string): number => sums.get(version === 2 ? name : `total_${name}`) ?? 0;
  const reclaimable =
    sum('inactive_file') + sum('active_file') + (version === 2 ? sum('slab_reclaimable') : 0);
  return {
    unreclaimableBytes: Math.max(0, current - reclaimable),
    processBytes: version === 2 ? sum('anon') : sum('rss'),
  };
}

/** Returns the memory limit of a group; undefined when it has none that a machine could reach. */
export function readMemoryLimit(folder: string, version: 1 | 2): number | undefined {
  const limit = readGroupNumber(folder, version === 2 ? 'memory.max' : 'memory.limit_in_bytes');
  return limit === undefined || limit >= 2 ** 60 ? undefined : limit;
}
