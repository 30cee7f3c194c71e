/**
 * Measures a running app from outside and reports limits that the kernel does not enforce.
 *
 * One Watchdog per run; the launcher calls it every SAMPLE_INTERVAL_MS. A sample reads /proc for the process tree of the
 * run only. The longer a measurement of the folders takes, the rarer it is: it uses at most about 1/20 of a core.
 */
import { lstatSync, statfsSync, statSync } from 'node:fs';
import {
  formatBinaryBytes,
  formatBytes,
  formatSides,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { EndReason } from '@switchyard/contract/workers/end-reasons.ts';
import { type FolderUsage, MAX_FOLDER_DEPTH, measureFolders } from '../filesystem/folder-usage.ts';
import { type DiskUsage, type RunDisk, readAllocatedBytes, readDiskUsage } from '../filesystem/run-disks.ts';
import { listWritableFolders, type RunFolder } from '../filesystem/run-folder.ts';
import { listWorldWritableFiles } from '../filesystem/world-writable-dirs.ts';
import { restoreAppOomScore } from '../process/oom-score.ts';
import {
  inspectProcess,
  listChildren,
  listProcessTree,
  type ProcessInfo,
  readProportionalBytes,
} from '../process/processes.ts';
import {
  estimateSharedMemoryBytes,
  hidesOpenFiles,
  mapsDeletedFiles,
  measureOpenFiles,
  type OpenFileUsage,
  readPageTableBytes,
} from '../process/unaccounted-memory.ts';
import type { LaunchPlan } from '../sandbox/launch-plan.ts';
import {
  countOomKills,
  hasReachedMemoryLimit,
  type RunCgroups,
  readUnreclaimableBytes,
} from '../sandbox/run-cgroups.ts';
import type { ResourceUsage } from '../types.ts';
import type { MemoryEstimate } from './memory-guard.ts';

const INTERVAL_MS = 1_000;
/** Linux counts the processor time of processes in hundredths of a second, whatever its own clock rate is. */
const TICK_MS = 10;

/** Measures one run. */
class ResourceSampler {
  #measuredAt: number;
  #ticks = 0;

  constructor(startedAt: number) {
    this.#measuredAt = startedAt;
  }

  /** Returns the use since the last measurement; undefined before a second has passed. `now` is in milliseconds. */
  measure(
    now: number,
    tree: readonly ProcessInfo[],
    held: { memoryBytes: number; writtenBytes: number },
  ): Omit<ResourceUsage, 'at'> | undefined {
    const elapsedMs = now - this.#measuredAt;
    if (elapsedMs < INTERVAL_MS) return undefined;
    // The processor time of a process that was not waited for is lost with it, so the sum may decrease.
    const ticks = tree.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
    const usedMs = Math.max(0, ticks - this.#ticks) * TICK_MS;
    this.#ticks = ticks;
    this.#measuredAt = now;
    return { cpuCores: usedMs / elapsedMs, ...held };
  }
}

/** A sample through ps costs much more than one through /proc. */
export const SAMPLE_INTERVAL_MS = process.platform === 'linux' ? 50 : 250;
/** The pause between two measurements of the disk lasts this many times as long as a measurement. */
const DISK_PAUSE_FACTOR = 20;
const MIN_DISK_PAUSE_MS = 200;
const MAX_DISK_PAUSE_MS = 2_000;

/** An exceeded limit, or another reason to end a run. */
export interface LimitBreach {
  reason: EndReason;
  error: string;
  /** As in EndedRun. */
  hostFault?: true;
}

interface WatchdogOptions {
  plan: LaunchPlan;
  folder: RunFolder;
  /** The first process of the chain. */
  pid: number;
  cgroup: RunCgroups | undefined;
  /** true: the app can write the oom_score_adj files of its processes. */
  canLowerOomScore: boolean;
  /** Size of the executable and the input. */
  initialUsage: FolderUsage;
  /** The disk of this run alone, and its usage before the start of the app. */
  disk?: (RunDisk & { usageAtStart: DiskUsage }) | undefined;
  /** User id of this run alone, when the app sees the folders of the host that all users may write. */
  user: number | undefined;
}

/** Checks the limits of one run. */
export class Watchdog {
  peakMemoryBytes = 0;
  /** At the last sample. */
  #memoryBytes = 0;
  #tree: ProcessInfo[] = [];
  readonly #sampler = new ResourceSampler(performance.now());
  /** Disk space that the app held at the last measurement, removed files that still occupy space included. */
  writtenBytes = 0;
  readonly #plan: LaunchPlan;
  readonly #folder: RunFolder;
  readonly #pid: number;
  readonly #memoryGroup: RunCgroups['memory'];
  readonly #canLowerOomScore: boolean;
  /** Start ticks of every process ever seen in the tree, by pid: a process that left it by a double fork is found again. */
  readonly seenProcesses = new Map<number, string>();
  readonly #initialUsage: FolderUsage;
  /** Size of the start script and stdin before the app could write to them. */
  readonly #standardBytes: number;
  readonly #user: number | undefined;
  readonly #ownDisk: WatchdogOptions['disk'];
  /** Space of the host that the run's disk occupied before the start of the app. */
  readonly #allocatedAtStart: number;
  #nextDiskCheckAt = 0;
  /** Processes with unreadable open files at the last check, as `pid/startTicks`. */
  #hidingProcesses = new Set<string>();
  /** true: the last check found unmeasurable files and a disk that had lost more than the limit. */
  #mayHideDiskSpace = false;
  readonly #freeBytesAtStart: number;
  /** As of the last check of the disk. */
  #openFiles: OpenFileUsage = { diskBytes: 0, memoryBytes: 0, upperBoundBytes: 0, inFlightFiles: 0 };

  constructor({ plan, folder, pid, cgroup, canLowerOomScore, initialUsage, disk, user }: WatchdogOptions) {
    this.#plan = plan;
    this.#folder = folder;
    this.#pid = pid;
    this.#memoryGroup = cgroup?.memory;
    this.#canLowerOomScore = canLowerOomScore;
    this.#initialUsage = initialUsage;
    this.#user = user;
    this.#ownDisk = disk;
    this.#allocatedAtStart = disk === undefined ? 0 : readAllocatedBytes(disk);
    this.#freeBytesAtStart = readFreeBytes(folder.root);
    this.#standardBytes = readSize(folder.script) + readSize(folder.stdin);
  }

  /** Returns the first exceeded limit, or undefined. */
  sample(now: number): LimitBreach | undefined {
    const { limits } = this.#plan;
    const tree = this.#listTree();
    this.#tree = tree;
    const threads = tree.reduce((sum, info) => sum + info.threads, 0);
    if (threads > limits.processes + CHAIN_PROCESSES) {
      return {
        reason: 'processes',
        error: `The app had ${threads} processes and threads; its limit is ${limits.processes}.`,
      };
    }
    return this.#checkMemory(tree) ?? this.#checkStdout() ?? this.#checkDisk(tree, now);
  }

  /** Returns a measurement of the resources about once a second, and undefined in between. */
  measureUsage(now: number): Omit<ResourceUsage, 'at'> | undefined {
    const held = { memoryBytes: this.#memoryBytes, writtenBytes: this.writtenBytes };
    return this.#sampler.measure(now, this.#tree, held);
  }

  /** Estimates the memory of the run, for a shortage on the host. */
  estimateMemory(): MemoryEstimate {
    if (this.#memoryGroup !== undefined)
      return { knownBytes: readUnreclaimableBytes(this.#memoryGroup), upperBoundBytes: 0 };
    const tree = this.#listTree();
    const { memoryBytes, upperBoundBytes } = measureOpenFiles(tree);
    return {
      knownBytes: sumResidentBytes(tree) + readPageTableBytes(tree) + memoryBytes,
      upperBoundBytes: upperBoundBytes + estimateSharedMemoryBytes(tree),
    };
  }

  /** Returns a breach when the run has exceeded its own memory limit, whatever the last sample saw. */
  findMemoryBreach(): LimitBreach | undefined {
    return this.#checkMemory(this.#listTree());
  }

  /** Returns a breach once the kernel has ended any process of the run's cgroup for its memory. */
  findOomBreach(): LimitBreach | undefined {
    const group = this.#memoryGroup;
    if (group === undefined || countOomKills(group) === 0) return undefined;
    const { memoryBytes } = this.#plan.limits;
    if (!hasReachedMemoryLimit(group)) return createHostMemoryBreach(HOST_OUT_OF_MEMORY_MESSAGE);
    return {
      reason: 'memory',
      error: formatMemoryError(Math.max(this.peakMemoryBytes, memoryBytes), memoryBytes),
    };
  }

  /** Returns a breach of the disk limits by the app's folders and unlinked files, without the initial usage. */
  findDiskBreach(tree: ProcessInfo[] = []): LimitBreach | undefined {
    const { fileBytes, files } = this.#plan.limits;
    this.#openFiles = measureOpenFiles(tree);
    const unlinkedBytes = this.#openFiles.diskBytes;
    const { bytes, entries, incompleteReason } = measureFolders(
      [...listWritableFolders(this.#folder), ...listWorldWritableFiles(this.#user)],
      {
        bytes: fileBytes + this.#initialUsage.bytes - unlinkedBytes,
        entries: files + this.#initialUsage.entries,
      },
    );
    const standardGrowth = readSize(this.#folder.script) + readSize(this.#folder.stdin) - this.#standardBytes;
    const visibleBytes = Math.max(0, bytes - this.#initialUsage.bytes) + unlinkedBytes;
    const onDisk = this.#readOwnDiskGrowth();
    const written = Math.max(visibleBytes, onDisk.bytes) + standardGrowth;
    const allocatedGrowth =
      this.#ownDisk === undefined ? 0 : readAllocatedBytes(this.#ownDisk) - this.#allocatedAtStart;
    this.writtenBytes = Math.max(written, allocatedGrowth);
    if (incompleteReason !== undefined) return { reason: 'disk', error: UNMEASURABLE[incompleteReason] };
    if (Math.max(entries - this.#initialUsage.entries, onDisk.files) > files) {
      return {
        reason: 'disk',
        error: `The app made more than ${files} files and folders; that is its limit.`,
      };
    }
    return written > fileBytes ? createDiskBreach(written, fileBytes) : undefined;
  }

  /** Returns the growth of the run's own disk, hidden files included. */
  #readOwnDiskGrowth(): DiskUsage {
    if (this.#ownDisk === undefined) return { bytes: 0, files: 0 };
    const { path, usageAtStart } = this.#ownDisk;
    const usage = readDiskUsage(path);
    return { bytes: usage.bytes - usageAtStart.bytes, files: usage.files - usageAtStart.files };
  }

  #listTree(): ProcessInfo[] {
    const tree = listProcessTree(this.#pid);
    for (const [pid, startTicks] of this.seenProcesses) {
      if (tree.some((info) => info.pid === pid)) continue;
      const info = inspectProcess(pid);
      if (info === undefined || info.startTicks !== startTicks) this.seenProcesses.delete(pid);
      else tree.push(info, ...listChildren(pid).flatMap((child) => inspectProcess(child) ?? []));
    }
    for (const { pid, startTicks } of tree) this.seenProcesses.set(pid, startTicks);
    return tree;
  }

  #checkMemory(tree: ProcessInfo[]): LimitBreach | undefined {
    const { memoryBytes } = this.#plan.limits;
    if (this.#memoryGroup !== undefined) {
      this.#memoryBytes = readUnreclaimableBytes(this.#memoryGroup);
      this.peakMemoryBytes = Math.max(this.peakMemoryBytes, this.#memoryBytes);
      return this.findOomBreach();
    }
    const nonResidentBytes = readPageTableBytes(tree) + this.#openFiles.memoryBytes;
    let used = sumResidentBytes(tree) + nonResidentBytes;
    // The sum of resident memory counts shared pages once per process: quick, and never too low.
    if (used > memoryBytes) used = readProportionalBytes(tree) + nonResidentBytes;
    this.#memoryBytes = used;
    this.peakMemoryBytes = Math.max(this.peakMemoryBytes, used);
    if (used <= memoryBytes) return undefined;
    const isMostInOpenFiles = this.#openFiles.memoryBytes > used / 2;
    const error = formatMemoryError(used, memoryBytes) + (isMostInOpenFiles ? OPEN_FILES_REMARK : '');
    return { reason: 'memory', error };
  }

  #checkStdout(): LimitBreach | undefined {
    if (this.#plan.stdoutIsLog) return undefined;
    const { size } = statSync(this.#folder.stdout);
    return size > this.#plan.limits.outputBytes
      ? createOutputBreach(size, this.#plan.limits.outputBytes)
      : undefined;
  }

  /** A process that hides its open files at two checks in a row may hold any space in unlinked files. */
  #checkHidingProcesses(tree: ProcessInfo[]): LimitBreach | undefined {
    const hiding = tree.filter(hidesOpenFiles).map(({ pid, startTicks }) => `${pid}/${startTicks}`);
    const isRepeated = hiding.some((id) => this.#hidingProcesses.has(id));
    this.#hidingProcesses = new Set(hiding);
    return isRepeated ? { reason: 'disk', error: UNMEASURABLE.process } : undefined;
  }

  /**
   * Outside a disk of its own the size of some files is unknown: those in flight in a socket, or mapped and closed. A run
   * with such files at two checks in a row is blamed for the space that the disk of the host has lost.
   */
  #checkLostDiskSpace(tree: ProcessInfo[]): LimitBreach | undefined {
    if (this.#ownDisk !== undefined && this.#user === undefined) return undefined;
    const { fileBytes } = this.#plan.limits;
    const lostBytes = this.#freeBytesAtStart - readFreeBytes(this.#folder.root);
    const wasSuspected = this.#mayHideDiskSpace;
    this.#mayHideDiskSpace =
      lostBytes > fileBytes && (this.#openFiles.inFlightFiles > 0 || mapsDeletedFiles(tree));
    if (!wasSuspected || !this.#mayHideDiskSpace) return undefined;
    const [lost, limit] = formatSides([lostBytes, fileBytes], formatBinaryBytes);
    return {
      reason: 'disk',
      error: `The app kept files where they cannot be measured, in a socket or behind a mapping, while the disk lost ${lost} of free space; its limit is ${limit}.`,
    };
  }

  #checkDisk(tree: ProcessInfo[], now: number): LimitBreach | undefined {
    if (now < this.#nextDiskCheckAt) return undefined;
    const startedAt = performance.now();
    if (this.#canLowerOomScore) restoreAppOomScore(tree.map(({ pid }) => pid));
    const breach =
      this.findDiskBreach(tree) ?? this.#checkHidingProcesses(tree) ?? this.#checkLostDiskSpace(tree);
    const pauseMs = Math.max(MIN_DISK_PAUSE_MS, (performance.now() - startedAt) * DISK_PAUSE_FACTOR);
    this.#nextDiskCheckAt = now + Math.min(pauseMs, MAX_DISK_PAUSE_MS);
    return breach;
  }
}

/** Processes of the chain, such as the shell and bubblewrap, which are in the tree but not the app's. */
const CHAIN_PROCESSES = 3;

/** Error of a run that the kernel ended because the host, not the run, exhausted its memory. */
export const HOST_OUT_OF_MEMORY_MESSAGE =
  'The host, or the memory cgroup of the server, had no memory left, and the kernel ended the app.';

const OPEN_FILES_REMARK =
  ' Most of it is in files in memory, or is what its many open sockets and files can hold.';

function formatMemoryError(usedBytes: number, limitBytes: number): string {
  const [used, limit] = formatSides([usedBytes, limitBytes], formatBytes);
  return `The app used ${used} of memory, all its processes together; its limit is ${limit}.`;
}

/** Returns the breach for a stdout of `size` bytes. */
export function createOutputBreach(size: number, limitBytes: number): LimitBreach {
  const [printed, limit] = formatSides([size, limitBytes], formatBinaryBytes);
  return { reason: 'output', error: `The app printed ${printed} to stdout; its limit is ${limit}.` };
}

/** Returns the end of an app for which the host, and not its own limit, had too little memory. */
export function createHostMemoryBreach(error: string): LimitBreach {
  return { reason: 'memory', error, hostFault: true };
}

/** Returns the breach for `written` bytes in the app's folders. */
export function createDiskBreach(writtenBytes: number, limitBytes: number): LimitBreach {
  const [written, limit] = formatSides([writtenBytes, limitBytes], formatBinaryBytes);
  return { reason: 'disk', error: `The app wrote ${written} to disk; its limit is ${limit}.` };
}

const UNMEASURABLE = {
  deep: `The app nested its folders deeper than ${MAX_FOLDER_DEPTH}, so what it wrote cannot be measured.`,
  unreadable: 'The app made a folder that cannot be read, so what it wrote cannot be measured.',
  process: 'A process of the app hid its open files, so what it wrote cannot be measured.',
};

function readFreeBytes(path: string): number {
  const { bfree, bsize } = statfsSync(path);
  return bfree * bsize;
}

function readSize(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function sumResidentBytes(tree: ProcessInfo[]): number {
  return tree.reduce((sum, info) => sum + info.residentBytes, 0);
}
