/** What processes hold that no folder and no resident memory shows: files without a name, memory without a process. Linux only. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { type ProcessInfo, readProc } from './processes.ts';
import { isErrno } from './sentences.ts';

const LINUX = process.platform === 'linux';

/** Files without a name that processes still hold: on disk, or in memory (memfd). */
export function unlinkedBytes(tree: ProcessInfo[]): { disk: number; memory: number } {
  const sums = { disk: 0, memory: 0 };
  for (const { path, target } of openFiles(tree)) {
    if (!target.endsWith(' (deleted)')) continue;
    const blocks = statSync(path, { throwIfNoEntry: false })?.blocks ?? 0;
    if (target.startsWith('/memfd:')) sums.memory += blocks * 512;
    else sums.disk += blocks * 512;
  }
  return sums;
}

/** Whether the process is alive and its open files are not for us to see; never so for root. */
export function hidesFiles({ pid, state }: ProcessInfo): boolean {
  if (!LINUX || state === 'Z' || state === 'X') return false;
  try {
    readdirSync(`/proc/${pid}/fd`);
    return false;
  } catch (error) {
    return isErrno(error, 'EACCES', 'EPERM');
  }
}

/**
 * The most memory that the processes can be to blame for: what is resident; mappings that several could share, whose
 * pages stay when a process gives up its view of them; and what the kernel may keep for their sockets. Too much for a
 * limit, right for the question who holds most.
 */
export function heldBytes(tree: ProcessInfo[]): number {
  let sum = tree.reduce((bytes, one) => bytes + one.residentBytes, 0);
  if (!LINUX) return sum;
  const shared = new Map<string, number>();
  for (const one of tree) {
    if (hidesFiles(one)) sum += totalmem();
    for (const line of (readProc(`/proc/${one.pid}/maps`) ?? '').split('\n')) {
      const found = SHARED_MEMORY.exec(line);
      if (found === null) continue;
      const [, from = '', to = '', offset = '', file = ''] = found;
      shared.set(`${file}+${offset}`, Number.parseInt(to, 16) - Number.parseInt(from, 16));
    }
  }
  for (const bytes of shared.values()) sum += bytes;
  for (const { target } of openFiles(tree)) if (target.startsWith('socket:')) sum += socketBytes();
  return sum;
}

/** A line of /proc/<pid>/maps for memory that has no name and may be shared: from, to, offset, device with inode. */
const SHARED_MEMORY =
  /^([0-9a-f]+)-([0-9a-f]+) \S{3}s ([0-9a-f]+) ([0-9a-f]+:[0-9a-f]+ \d+) +\/(?:dev\/zero|SYSV)\S* \(deleted\)$/;

/** How much the kernel keeps for one socket at the most. */
function socketBytes(): number {
  return 2 * Number.parseInt(readFileSync('/proc/sys/net/core/wmem_max', 'utf8'), 10);
}

/** Each open file of the processes once, with the path by which it can be reached and what it is. */
function* openFiles(tree: ProcessInfo[]): Generator<{ path: string; target: string }> {
  if (!LINUX) return;
  const seen = new Set<string>();
  for (const { pid } of tree) {
    let descriptors: string[];
    try {
      descriptors = readdirSync(`/proc/${pid}/fd`);
    } catch {
      continue;
    }
    for (const descriptor of descriptors) {
      const path = `/proc/${pid}/fd/${descriptor}`;
      try {
        const target = readlinkSync(path);
        if (!target.startsWith('socket:') && !target.endsWith(' (deleted)')) continue;
        const { dev, ino } = statSync(path);
        if (seen.has(`${dev}:${ino}`)) continue;
        seen.add(`${dev}:${ino}`);
        yield { path, target };
      } catch {
        // Closed in the meantime.
      }
    }
  }
}
