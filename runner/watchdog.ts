/**
 * Looks at a running app from outside and says when it has gone beyond a limit that the kernel does not hold for us.
 *
 * One Watchdog per run, asked every SAMPLE_MS by the launcher. A sample reads /proc for the run's tree only. The size
 * of the folders is looked at less often the longer a look takes, so that it costs at most about a twentieth of a core.
 */
import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  childrenOf,
  inspectProcess,
  type ProcessInfo,
  proportionalBytes,
  readProc,
  treeOf,
} from './processes.ts';
import type { LaunchPlan } from './protocol.ts';
import { type RunFolder, WRITABLE } from './run-folder.ts';
import { bytesInWords } from './sentences.ts';
import type { EndReason } from './types.ts';

/** Where ps has to be asked, a look costs much more. */
export const SAMPLE_MS = process.platform === 'linux' ? 50 : 250;
const DISK_SHARE = 20;
const DISK_PAUSE_MS = 200;

export interface Breach {
  reason: EndReason;
  error: string;
}

export class Watchdog {
  peakMemoryBytes = 0;
  readonly #plan: LaunchPlan;
  readonly #folder: RunFolder;
  readonly #pid: number;
  readonly #cgroup: string | undefined;
  /** Everything ever seen in the tree, by pid with its start time: what left it by a double fork is found again. */
  readonly seen = new Map<number, string>();
  readonly #broughtBytes: number;
  #nextDiskLook = 0;
  /** Memory held through files without a name, as of the last look at the disk. */
  #memfdBytes = 0;

  constructor(
    plan: LaunchPlan,
    folder: RunFolder,
    pid: number,
    cgroup: string | undefined,
    broughtBytes = 0,
  ) {
    this.#plan = plan;
    this.#folder = folder;
    this.#pid = pid;
    this.#cgroup = cgroup;
    this.#broughtBytes = broughtBytes;
  }

  /** The first limit found broken, or undefined. */
  sample(now: number): Breach | undefined {
    const { limits } = this.#plan;
    const tree = this.#tree();
    const threads = tree.reduce((sum, one) => sum + one.threads, 0);
    if (threads > limits.processes + CHAIN_PROCESSES) {
      return {
        reason: 'processes',
        error: `The app had ${threads} processes and threads; its limit is ${limits.processes}.`,
      };
    }
    return this.#memory(tree) ?? this.#stdout() ?? this.#disk(tree, now);
  }

  /** What the folders and the processes hold on disk beyond what the executable and the input brought along. */
  writtenBytes(tree: ProcessInfo[] = []): number {
    const unlinked = unlinkedBytes(tree);
    this.#memfdBytes = unlinked.memory;
    return Math.max(0, folderBytes(this.#folder) - this.#broughtBytes) + unlinked.disk;
  }

  #tree(): ProcessInfo[] {
    const tree = treeOf(this.#pid);
    for (const [pid, started] of this.seen) {
      if (tree.some((one) => one.pid === pid)) continue;
      const info = inspectProcess(pid);
      if (info === undefined || info.started !== started) this.seen.delete(pid);
      else tree.push(info, ...childrenOf(pid).flatMap((child) => inspectProcess(child) ?? []));
    }
    for (const one of tree) this.seen.set(one.pid, one.started);
    return tree;
  }

  #memory(tree: ProcessInfo[]): Breach | undefined {
    const { memoryBytes } = this.#plan.limits;
    let used = this.#memoryBytes(tree);
    // Shared pages are counted once per process up to here, which is quick and never too little.
    if (used > memoryBytes && this.#cgroup === undefined) used = proportionalBytes(tree) + this.#memfdBytes;
    this.peakMemoryBytes = Math.max(this.peakMemoryBytes, used);
    if (used <= memoryBytes) return undefined;
    return { reason: 'memory', error: memorySentence(used, memoryBytes) };
  }

  #memoryBytes(tree: ProcessInfo[]): number {
    if (this.#cgroup !== undefined) {
      const text = readProc(join(this.#cgroup, 'memory.current'));
      if (text !== undefined) return Math.min(Number(text), sumOf(tree));
    }
    return sumOf(tree) + this.#memfdBytes;
  }

  #stdout(): Breach | undefined {
    if (this.#plan.stdoutIsLog) return undefined;
    const { size } = statSync(this.#folder.stdout);
    return size > this.#plan.limits.outputBytes
      ? outputBreach(size, this.#plan.limits.outputBytes)
      : undefined;
  }

  #disk(tree: ProcessInfo[], now: number): Breach | undefined {
    if (now < this.#nextDiskLook) return undefined;
    const begun = performance.now();
    const written = this.writtenBytes(tree);
    this.#nextDiskLook = now + Math.max(DISK_PAUSE_MS, (performance.now() - begun) * DISK_SHARE);
    return written > this.#plan.limits.fileBytes
      ? diskBreach(written, this.#plan.limits.fileBytes)
      : undefined;
  }
}

/** The shell, bubblewrap and their like, which are in the tree but not the app's. */
const CHAIN_PROCESSES = 3;

export function memorySentence(used: number, limit: number): string {
  return `The app used ${bytesInWords(used)} of memory, all its processes together; its limit is ${bytesInWords(limit)}.`;
}

export function outputBreach(size: number, limit: number): Breach {
  return {
    reason: 'output',
    error: `The app printed ${bytesInWords(size)} to stdout; its limit is ${bytesInWords(limit)}.`,
  };
}

export function diskBreach(written: number, limit: number): Breach {
  return {
    reason: 'disk',
    error: `The app wrote ${bytesInWords(written)} to disk; its limit is ${bytesInWords(limit)}.`,
  };
}

function sumOf(tree: ProcessInfo[]): number {
  return tree.reduce((sum, one) => sum + one.residentBytes, 0);
}

/** Space taken by everything below the folders the app can write to; sparse files count what they hold. */
export function folderBytes(folder: RunFolder): number {
  let sum = 0;
  const stack: string[] = WRITABLE.map((name) => join(folder.root, name));
  for (let path = stack.pop(); path !== undefined; path = stack.pop()) {
    try {
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        const inner = join(path, entry.name);
        if (entry.isDirectory()) stack.push(inner);
        else if (entry.isFile()) sum += lstatSync(inner).blocks * 512;
      }
    } catch {
      // The app removes what we are about to look at.
    }
  }
  return sum;
}

/** Files without a name that processes still hold: on disk, or in memory (memfd). Linux only. */
function unlinkedBytes(tree: ProcessInfo[]): { disk: number; memory: number } {
  const sums = { disk: 0, memory: 0 };
  if (process.platform !== 'linux') return sums;
  const counted = new Set<string>();
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
        if (!target.endsWith(' (deleted)')) continue;
        const { dev, ino, blocks } = statSync(path);
        if (counted.has(`${dev}:${ino}`)) continue;
        counted.add(`${dev}:${ino}`);
        if (target.startsWith('/memfd:')) sums.memory += blocks * 512;
        else sums.disk += blocks * 512;
      } catch {
        // Closed in the meantime.
      }
    }
  }
  return sums;
}
