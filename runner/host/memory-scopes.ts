/**
 * Within what the server and its apps share memory: the host, and every memory cgroup with a limit that the server lives
 * in, as in a container or a service with a limit. Where one of them has none left, the kernel ends processes in it.
 */
import { totalmem } from 'node:os';
import {
  listCgroupHierarchies,
  listGroupAndAncestors,
  parseNamedNumbers,
  readGroupMemory,
  readGroupNumber,
  readMemoryLimit,
} from '../process/cgroup-hierarchies.ts';
import { readProcFile } from '../process/processes.ts';

export interface MemoryScope {
  /** The beginning of a sentence: "The host". */
  name: string;
  totalBytes: number;
  /** Less than this free is hardly any. */
  reservedBytes: number;
  /** undefined where it cannot be read, or more than `keepFreeBytes` is free. */
  readShortage(): MemoryShortage | undefined;
}

export interface MemoryShortage {
  freeBytes: number;
  /** Memory that cannot be given back and that no process shows as its own. */
  unattributedBytes: number;
}

/** Below this a host begins to stand still, and the kernel to choose by itself what to end. */
const FREE_SHARE = 0.03;
/** A group has no files of others to give back first, and comes to its limit without a pause. */
const GROUP_FREE_SHARE = 0.05;
const LEAST_FREE_BYTES = 64 * 1024 * 1024;

/** The host first, then groups from the innermost. `keepFreeBytes` is that of the host, when it is not the usual share. */
export function listMemoryScopes(keepFreeBytes?: number): MemoryScope[] {
  const host: MemoryScope = {
    name: 'The host',
    totalBytes: totalmem(),
    reservedBytes: keepFreeBytes ?? Math.max(LEAST_FREE_BYTES, totalmem() * FREE_SHARE),
    readShortage: () => hostShortage(host.reservedBytes),
  };
  const groups = listCgroupHierarchies()
    .filter(({ controllers }) => controllers.includes('memory'))
    .flatMap((hierarchy) =>
      listGroupAndAncestors(hierarchy).flatMap((folder) => {
        const limit = readMemoryLimit(folder, hierarchy.version);
        return limit === undefined || limit >= totalmem()
          ? []
          : [groupScope(folder, hierarchy.version, limit)];
      }),
    );
  return [host, ...groups];
}

/** What a container or a service manager leaves us of the host's memory. */
export function computeUsableMemoryBytes(scopes: MemoryScope[]): number {
  return Math.min(...scopes.map(({ totalBytes }) => totalBytes));
}

function groupScope(folder: string, version: 1 | 2, limit: number): MemoryScope {
  const keepFreeBytes = Math.min(Math.max(LEAST_FREE_BYTES, limit * GROUP_FREE_SHARE), limit / 4);
  return {
    name: 'The memory cgroup of the server',
    totalBytes: limit,
    reservedBytes: keepFreeBytes,
    readShortage() {
      const current = readGroupNumber(folder, version === 2 ? 'memory.current' : 'memory.usage_in_bytes');
      if (current === undefined || limit - current >= keepFreeBytes) return undefined;
      const memory = readGroupMemory(folder, version);
      if (memory === undefined || limit - memory.unreclaimableBytes >= keepFreeBytes) return undefined;
      return {
        freeBytes: Math.max(0, limit - memory.unreclaimableBytes),
        unattributedBytes: Math.max(0, memory.unreclaimableBytes - memory.processBytes),
      };
    },
  };
}

function hostShortage(keepFreeBytes: number): MemoryShortage | undefined {
  const kib = parseNamedNumbers(readProcFile('/proc/meminfo') ?? '');
  const bytes = (name: string): number => (kib.get(name) ?? Number.NaN) * 1024;
  const freeBytes = bytes('MemAvailable');
  // Elsewhere than on Linux there is no number, which is not less than any.
  if (!(freeBytes < keepFreeBytes)) return undefined;
  const heldBytes = bytes('MemTotal') - freeBytes;
  return { freeBytes, unattributedBytes: Math.max(0, heldBytes - bytes('AnonPages')) };
}
