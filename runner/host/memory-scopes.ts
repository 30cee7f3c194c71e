/**
 * Lists the scopes in which the server and its apps share memory: the host, and every memory cgroup with a limit above the
 * server. A container or a service has such a cgroup. When the memory of a scope is exhausted, the kernel kills processes in it.
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

/** A host or group with a memory limit. */
export interface MemoryScope {
  /** Subject of an error sentence: "The host". */
  name: string;
  totalBytes: number;
  /** Less free memory than this is a shortage. */
  reservedBytes: number;
  /** Returns undefined when at least `reservedBytes` are free, or the values cannot be read. */
  readShortage(): MemoryShortage | undefined;
}

/** State of a scope that is short of memory. */
export interface MemoryShortage {
  freeBytes: number;
  /** Unreclaimable memory that no process shows as its own. */
  unattributedBytes: number;
}

/** Below this share a host slows down, and the kernel soon kills processes of its own choice. */
const RESERVED_SHARE = 0.03;
/** Larger than for the host: a group has no foreign caches to reclaim first, and reaches its limit without a delay. */
const RESERVED_GROUP_SHARE = 0.05;
const MIN_RESERVED_BYTES = 64 * 1024 * 1024;

/** Returns the host and then the groups from the innermost; `reservedBytes` replaces the default of the host. */
export function listMemoryScopes(reservedBytes?: number): MemoryScope[] {
  const host: MemoryScope = {
    name: 'The host',
    totalBytes: totalmem(),
    reservedBytes: reservedBytes ?? Math.max(MIN_RESERVED_BYTES, totalmem() * RESERVED_SHARE),
    readShortage: () => readHostShortage(host.reservedBytes),
  };
  const groups = listCgroupHierarchies()
    .filter(({ controllers }) => controllers.includes('memory'))
    .flatMap((hierarchy) =>
      listGroupAndAncestors(hierarchy).flatMap((folder) => {
        const limit = readMemoryLimit(folder, hierarchy.version);
        return limit === undefined || limit >= totalmem()
          ? []
          : [createGroupScope(folder, hierarchy.version, limit)];
      }),
    );
  return [host, ...groups];
}

/** Returns the memory limit of the tightest scope. */
export function computeUsableMemoryBytes(scopes: MemoryScope[]): number {
  return Math.min(...scopes.map(({ totalBytes }) => totalBytes));
}

function createGroupScope(folder: string, version: 1 | 2, limit: number): MemoryScope {
  const reservedBytes = Math.min(Math.max(MIN_RESERVED_BYTES, limit * RESERVED_GROUP_SHARE), limit / 4);
  return {
    name: 'The memory cgroup of the server',
    totalBytes: limit,
    reservedBytes,
    readShortage() {
      const current = readGroupNumber(folder, version === 2 ? 'memory.current' : 'memory.usage_in_bytes');
      if (current === undefined || limit - current >= reservedBytes) return undefined;
      const memory = readGroupMemory(folder, version);
      if (memory === undefined || limit - memory.unreclaimableBytes >= reservedBytes) return undefined;
      return {
        freeBytes: Math.max(0, limit - memory.unreclaimableBytes),
        unattributedBytes: Math.max(0, memory.unreclaimableBytes - memory.processBytes),
      };
    },
  };
}

function readHostShortage(reservedBytes: number): MemoryShortage | undefined {
  const kib = parseNamedNumbers(readProcFile('/proc/meminfo') ?? '');
  const bytes = (name: string): number => (kib.get(name) ?? Number.NaN) * 1024;
  const freeBytes = bytes('MemAvailable');
  // Without /proc/meminfo this is NaN, for which every comparison is false.
  if (!(freeBytes < reservedBytes)) return undefined;
  const usedBytes = bytes('MemTotal') - freeBytes;
  return { freeBytes, unattributedBytes: Math.max(0, usedBytes - bytes('AnonPages')) };
}
