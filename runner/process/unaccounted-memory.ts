/** Measures memory and disk space that neither folders nor resident memory show: unlinked files, memory without a process. Linux only. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { isErrno } from './errors.ts';
import { type ProcessInfo, readProcFile } from './processes.ts';

const LINUX = process.platform === 'linux';
const MIB = 1024 * 1024;
/** Smallest memory that the kernel uses for an open file. */
const DESCRIPTOR_BYTES = 1024;
/** Sockets of a run that do not count; each further one counts with a full buffer. Ordinary apps stay below. */
const FREE_SOCKETS = 256;
/** Largest content of a pipe; also the estimate for a file in flight between two processes. */
const PIPE_BYTES = MIB;
/** Upper bound for a file in flight, which may be a memfd of any size; used only to attribute lost memory. */
const IN_FLIGHT_FILE_MAX_BYTES = 1024 * MIB;

/** Resources held by the open files of a run. */
export interface OpenFileUsage {
  /** Unlinked files on a disk. */
  diskBytes: number;
  /** Memory that counts against the limit of the run: memfd files and the minimum for all open files. */
  memoryBytes: number;
  /** Largest further memory that sockets, pipes and files in flight can hold. */
  upperBoundBytes: number;
  /** Files sent to a socket and not yet received; they may be open nowhere else, and of any size. */
  inFlightFiles: number;
}

/** Inspects every open file of the processes. */
export function measureOpenFiles(tree: ProcessInfo[]): OpenFileUsage {
  const sums = { disk: 0, memfd: 0, sockets: 0, inFlight: 0, pipes: 0 };
  const descriptors = visitOpenFiles(tree, ({ pid, descriptor, path, target }) => {
    if (target.startsWith('pipe:')) sums.pipes += 1;
    else if (target.startsWith('socket:')) {
      sums.sockets += 1;
      // A sender that closed such a file leaves this counter as its only trace.
      const found = /^scm_fds:\s+(\d+)/m.exec(readProcFile(`/proc/${pid}/fdinfo/${descriptor}`) ?? '');
      sums.inFlight += Number(found?.[1] ?? 0);
    } else {
      const blocks = statSync(path, { throwIfNoEntry: false })?.blocks ?? 0;
      if (target.startsWith('/memfd:')) sums.memfd += blocks * 512;
      else sums.disk += blocks * 512;
    }
  });
  const extra = Math.max(0, sums.sockets - FREE_SOCKETS);
  const memoryBytes =
    sums.memfd +
    descriptors * DESCRIPTOR_BYTES +
    extra * readSocketBufferBytes('default') +
    sums.inFlight * PIPE_BYTES;
  const upperBoundBytes =
    sums.sockets * readSocketBufferBytes('max') +
    sums.pipes * PIPE_BYTES +
    sums.inFlight * IN_FLIGHT_FILE_MAX_BYTES;
  return { diskBytes: sums.disk, memoryBytes, upperBoundBytes, inFlightFiles: sums.inFlight };
}

/** Returns whether the process is alive and its open files are not readable; always false for root. */
export function hidesOpenFiles({ pid, state }: ProcessInfo): boolean {
  if (!LINUX || state === 'Z' || state === 'X') return false;
  try {
    readdirSync(`/proc/${pid}/fd`);
    return false;
  } catch (error) {
    return isErrno(error, 'EACCES', 'EPERM');
  }
}

/** Returns whether a process maps an unlinked file of a disk. Only root could see the size of that file. */
export function mapsDeletedFiles(tree: ProcessInfo[]): boolean {
  if (!LINUX) return false;
  return tree.some(({ pid }) =>
    (readProcFile(`/proc/${pid}/maps`) ?? '').split('\n').some((line) => UNLINKED_FILE.test(line)),
  );
}

const UNLINKED_FILE = / \/(?!memfd:|dev\/zero|SYSV|dev\/shm\/|anon_hugepage).* \(deleted\)$/;

/** Returns the size of the page tables: they grow with memory that is only read, and resident memory excludes them. */
export function readPageTableBytes(tree: ProcessInfo[]): number {
  if (!LINUX) return 0;
  return tree.reduce((bytes, { pid }) => {
    const found = /^VmPTE:\s+(\d+) kB/m.exec(readProcFile(`/proc/${pid}/status`) ?? '');
    return bytes + Number(found?.[1] ?? 0) * 1024;
  }, 0);
}

/**
 * Estimates the largest memory in shareable mappings, whose pages stay when a process drops its view of them. A process
 * with unreadable open files counts with all memory of the host. Too high for a limit; right for attributing lost memory.
 */
export function estimateSharedMemoryBytes(tree: ProcessInfo[]): number {
  if (!LINUX) return 0;
  let sum = 0;
  const shared = new Map<string, number>();
  for (const info of tree) {
    if (hidesOpenFiles(info)) sum += totalmem();
    for (const line of (readProcFile(`/proc/${info.pid}/maps`) ?? '').split('\n')) {
      const found = SHARED_MEMORY.exec(line);
      if (found === null) continue;
      const [, from = '', to = '', offset = '', file = ''] = found;
      shared.set(`${file}+${offset}`, Number.parseInt(to, 16) - Number.parseInt(from, 16));
    }
  }
  for (const bytes of shared.values()) sum += bytes;
  return sum;
}

/** A line of /proc/<pid>/maps for unnamed shareable memory: from, to, offset, device with inode. */
const SHARED_MEMORY =
  /^([0-9a-f]+)-([0-9a-f]+) \S{3}s ([0-9a-f]+) ([0-9a-f]+:[0-9a-f]+ \d+) +\/(?:dev\/zero|SYSV)\S* \(deleted\)$/;

/** Returns the kernel memory of a socket with a buffer of the default or of the largest allowed size. */
function readSocketBufferBytes(which: 'default' | 'max'): number {
  return 2 * Number.parseInt(readFileSync(`/proc/sys/net/core/wmem_${which}`, 'utf8'), 10);
}

interface OpenFile {
  pid: number;
  descriptor: string;
  /** Path in /proc through which the file can be opened. */
  path: string;
  target: string;
}

/** Calls `visit` once for each socket, pipe and unlinked file; returns the number of all descriptors. */
function visitOpenFiles(tree: ProcessInfo[], visit: (file: OpenFile) => void): number {
  if (!LINUX) return 0;
  let count = 0;
  const seen = new Set<string>();
  for (const { pid } of tree) {
    let descriptors: string[];
    try {
      descriptors = readdirSync(`/proc/${pid}/fd`);
    } catch {
      continue;
    }
    count += descriptors.length;
    for (const descriptor of descriptors) {
      const path = `/proc/${pid}/fd/${descriptor}`;
      try {
        const target = readlinkSync(path);
        if (!VISITED_TARGET.test(target)) continue;
        // The target of a socket or pipe contains its inode number; files are identified by device and inode.
        let id = target;
        if (target.startsWith('/')) {
          const { dev, ino } = statSync(path);
          id = `${dev}:${ino}`;
        }
        if (seen.has(id)) continue;
        seen.add(id);
        visit({ pid, descriptor, path, target });
      } catch {
        // Closed in the meantime.
      }
    }
  }
  return count;
}

const VISITED_TARGET = /^(?:socket|pipe):| \(deleted\)$/;
