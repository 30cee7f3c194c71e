/** What processes hold that no folder and no resident memory shows: files without a name, memory without a process. Linux only. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { isErrno } from './errors.ts';
import { type ProcessInfo, readProcFile } from './processes.ts';

const LINUX = process.platform === 'linux';
const MIB = 1024 * 1024;
/** What the kernel takes for an open file at the least. */
const DESCRIPTOR_BYTES = 1024;
/** Sockets that a run may have before each counts as if it were full: what apps have for good reasons. */
const FREE_SOCKETS = 256;
/** What may lie in a pipe, or behind a file that is under way from one process to another. */
const PIPE_BYTES = MIB;
/** A file under way may be one in memory, of any size; only who is asked why memory is gone is asked for that. */
const UNDER_WAY_POSSIBLE_BYTES = 1024 * MIB;

export interface OpenFileUsage {
  /** Files without a name on a disk. */
  diskBytes: number;
  /** Memory that counts against the limit of the run: files in memory (memfd), and what its open files must take. */
  memoryBytes: number;
  /** What sockets and pipes could hold beyond that, at the very most. */
  upperBoundBytes: number;
  /** Files sent to a socket and not received yet; they may be open nowhere else, and of any size. */
  inFlightFiles: number;
}

/** Looks at every open file of the processes. */
export function measureOpenFiles(tree: ProcessInfo[]): OpenFileUsage {
  const sums = { disk: 0, memfd: 0, sockets: 0, underWay: 0, pipes: 0 };
  const descriptors = eachOpenFile(tree, ({ pid, descriptor, path, target }) => {
    if (target.startsWith('pipe:')) sums.pipes += 1;
    else if (target.startsWith('socket:')) {
      sums.sockets += 1;
      // Closed where they were sent, these files are open nowhere that could be looked at.
      const found = /^scm_fds:\s+(\d+)/m.exec(readProcFile(`/proc/${pid}/fdinfo/${descriptor}`) ?? '');
      sums.underWay += Number(found?.[1] ?? 0);
    } else {
      const blocks = statSync(path, { throwIfNoEntry: false })?.blocks ?? 0;
      if (target.startsWith('/memfd:')) sums.memfd += blocks * 512;
      else sums.disk += blocks * 512;
    }
  });
  const extra = Math.max(0, sums.sockets - FREE_SOCKETS);
  const memoryBytes =
    sums.memfd + descriptors * DESCRIPTOR_BYTES + extra * socketBytes('default') + sums.underWay * PIPE_BYTES;
  const possibleBytes =
    sums.sockets * socketBytes('max') + sums.pipes * PIPE_BYTES + sums.underWay * UNDER_WAY_POSSIBLE_BYTES;
  return { diskBytes: sums.disk, memoryBytes, upperBoundBytes: possibleBytes, inFlightFiles: sums.underWay };
}

/** Whether the process is alive and its open files are not for us to see; never so for root. */
export function hidesOpenFiles({ pid, state }: ProcessInfo): boolean {
  if (!LINUX || state === 'Z' || state === 'X') return false;
  try {
    readdirSync(`/proc/${pid}/fd`);
    return false;
  } catch (error) {
    return isErrno(error, 'EACCES', 'EPERM');
  }
}

/** Whether a process has a file of a disk mapped that has no name any more; how large it is, only root could see. */
export function mapsDeletedFiles(tree: ProcessInfo[]): boolean {
  if (!LINUX) return false;
  return tree.some(({ pid }) =>
    (readProcFile(`/proc/${pid}/maps`) ?? '').split('\n').some((line) => UNNAMED_FILE.test(line)),
  );
}

const UNNAMED_FILE = / \/(?!memfd:|dev\/zero|SYSV|dev\/shm\/|anon_hugepage).* \(deleted\)$/;

/** Memory of the processes' page tables, which grow with what is only read, too, and are no process's resident memory. */
export function readPageTableBytes(tree: ProcessInfo[]): number {
  if (!LINUX) return 0;
  return tree.reduce((bytes, { pid }) => {
    const found = /^VmPTE:\s+(\d+) kB/m.exec(readProcFile(`/proc/${pid}/status`) ?? '');
    return bytes + Number(found?.[1] ?? 0) * 1024;
  }, 0);
}

/**
 * The most memory that mappings could hold which several processes could share, whose pages stay when a process gives up
 * its view of them; and all there is for a process that lets nobody look. Too much for a limit, right for the question who
 * is to blame.
 */
export function estimateSharedMemoryBytes(tree: ProcessInfo[]): number {
  if (!LINUX) return 0;
  let sum = 0;
  const shared = new Map<string, number>();
  for (const one of tree) {
    if (hidesOpenFiles(one)) sum += totalmem();
    for (const line of (readProcFile(`/proc/${one.pid}/maps`) ?? '').split('\n')) {
      const found = SHARED_MEMORY.exec(line);
      if (found === null) continue;
      const [, from = '', to = '', offset = '', file = ''] = found;
      shared.set(`${file}+${offset}`, Number.parseInt(to, 16) - Number.parseInt(from, 16));
    }
  }
  for (const bytes of shared.values()) sum += bytes;
  return sum;
}

/** A line of /proc/<pid>/maps for memory that has no name and may be shared: from, to, offset, device with inode. */
const SHARED_MEMORY =
  /^([0-9a-f]+)-([0-9a-f]+) \S{3}s ([0-9a-f]+) ([0-9a-f]+:[0-9a-f]+ \d+) +\/(?:dev\/zero|SYSV)\S* \(deleted\)$/;

/** What the kernel keeps for a socket whose buffer is as large as the system makes it, or as large as it may be made. */
function socketBytes(which: 'default' | 'max'): number {
  return 2 * Number.parseInt(readFileSync(`/proc/sys/net/core/wmem_${which}`, 'utf8'), 10);
}

interface OpenFile {
  pid: number;
  descriptor: string;
  /** The path by which the file can be reached. */
  path: string;
  target: string;
}

/** Calls for each socket, pipe and file without a name once; returns how many descriptors there are in all. */
function eachOpenFile(tree: ProcessInfo[], look: (file: OpenFile) => void): number {
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
        if (!LOOKED_AT.test(target)) continue;
        // Sockets and pipes have their number in their name; files are told apart by device and number.
        let name = target;
        if (target.startsWith('/')) {
          const { dev, ino } = statSync(path);
          name = `${dev}:${ino}`;
        }
        if (seen.has(name)) continue;
        seen.add(name);
        look({ pid, descriptor, path, target });
      } catch {
        // Closed in the meantime.
      }
    }
  }
  return count;
}

const LOOKED_AT = /^(?:socket|pipe):| \(deleted\)$/;
