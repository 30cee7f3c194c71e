/**
 * Looks at a running app from outside and says when it has gone beyond a limit that the kernel does not hold for us.
 *
 * One Watchdog per run, asked every SAMPLE_MS by the launcher. A sample reads /proc for the run's tree only. The size
 * of the folders is looked at less often the longer a look takes, so that it costs at most about a twentieth of a core.
 */
import { lstatSync, statfsSync, statSync } from 'node:fs';
import { type FolderUsage, MAX_FOLDER_DEPTH, measureFolders } from '../filesystem/folder-usage.ts';
import { type DiskUsage, type RunDisk, readAllocatedBytes, readDiskUsage } from '../filesystem/run-disks.ts';
import { listWritableFolders, type RunFolder } from '../filesystem/run-folder.ts';
import { listWorldWritableFiles } from '../filesystem/world-writable-dirs.ts';
import { formatBytes } from '../process/format.ts';
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
import type { EndReason } from '../types.ts';
import type { MemoryEstimate } from './memory-guard.ts';

/** Where ps has to be asked, a look costs much more. */
export const SAMPLE_INTERVAL_MS = process.platform === 'linux' ? 50 : 250;
const DISK_SHARE = 20;
const DISK_PAUSE_MS = 200;
const LONGEST_DISK_PAUSE_MS = 2_000;

export interface LimitBreach {
  reason: EndReason;
  error: string;
  /** As in Ended. */
  hostFault?: true;
}

export interface WatchdogOptions {
  plan: LaunchPlan;
  folder: RunFolder;
  /** The first process of the chain. */
  pid: number;
  cgroup: RunCgroups | undefined;
  /** Whether the app could write to the files by which the kernel chooses whom to end. */
  canLowerOomScore: boolean;
  /** What the executable and the input brought along. */
  initialUsage: FolderUsage;
  /** The disk of the run alone, and what was on it before the app was. */
  disk?: (RunDisk & { used: DiskUsage }) | undefined;
  /** The user of this run alone, where it can write in places that all users share. */
  user: number | undefined;
}

export class Watchdog {
  peakMemoryBytes = 0;
  /** What the app had on disk at the last look, or still keeps from others of what it has removed. */
  writtenBytes = 0;
  readonly #plan: LaunchPlan;
  readonly #folder: RunFolder;
  readonly #pid: number;
  readonly #memoryGroup: RunCgroups['memory'];
  readonly #ownsScore: boolean;
  /** Everything ever seen in the tree, by pid with its start time: what left it by a double fork is found again. */
  readonly seenProcesses = new Map<number, string>();
  readonly #initialUsage: FolderUsage;
  /** Size of the start script and stdin before the app could come at them. */
  readonly #standardBytes: number;
  readonly #user: number | undefined;
  readonly #ownDisk: WatchdogOptions['disk'];
  /** What the disk took of the host's before the app was there. */
  readonly #takenAtStart: number;
  #nextDiskLook = 0;
  #hidAtLastLook = new Set<string>();
  #hidOnDisk = false;
  readonly #freeAtStart: number;
  /** As of the last look at the disk. */
  #openFiles: OpenFileUsage = { diskBytes: 0, memoryBytes: 0, upperBoundBytes: 0, inFlightFiles: 0 };

  constructor({
    plan,
    folder,
    pid,
    cgroup,
    canLowerOomScore: ownsScore,
    initialUsage: brought,
    disk,
    user,
  }: WatchdogOptions) {
    this.#plan = plan;
    this.#folder = folder;
    this.#pid = pid;
    this.#memoryGroup = cgroup?.memory;
    this.#ownsScore = ownsScore;
    this.#initialUsage = brought;
    this.#user = user;
    this.#ownDisk = disk;
    this.#takenAtStart = disk === undefined ? 0 : readAllocatedBytes(disk);
    this.#freeAtStart = freeBytes(folder.root);
    this.#standardBytes = sizeOf(folder.script) + sizeOf(folder.stdin);
  }

  /** The first limit found broken, or undefined. */
  sample(now: number): LimitBreach | undefined {
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

  /** What the run holds, for when the host has hardly any memory left. */
  estimateMemory(): MemoryEstimate {
    if (this.#memoryGroup !== undefined)
      return { knownBytes: readUnreclaimableBytes(this.#memoryGroup), upperBoundBytes: 0 };
    const tree = this.#tree();
    const { memoryBytes, upperBoundBytes: possibleBytes } = measureOpenFiles(tree);
    return {
      knownBytes: sumOf(tree) + readPageTableBytes(tree) + memoryBytes,
      upperBoundBytes: possibleBytes + estimateSharedMemoryBytes(tree),
    };
  }

  /** Set once the kernel has ended a process of the run's cgroup for its memory; one is enough, the others may go on. */
  findOomBreach(): LimitBreach | undefined {
    const group = this.#memoryGroup;
    if (group === undefined || countOomKills(group) === 0) return undefined;
    const { memoryBytes } = this.#plan.limits;
    if (!hasReachedMemoryLimit(group)) return { reason: 'memory', error: HOST_OUT_OF_MEMORY_MESSAGE };
    return {
      reason: 'memory',
      error: formatMemoryError(Math.max(this.peakMemoryBytes, memoryBytes), memoryBytes),
    };
  }

  /** What is wrong with what lies in the folders and in files without a name, brought along things left out. */
  findDiskBreach(tree: ProcessInfo[] = []): LimitBreach | undefined {
    const { fileBytes, files } = this.#plan.limits;
    this.#openFiles = measureOpenFiles(tree);
    const unlinked = this.#openFiles.diskBytes;
    const {
      bytes,
      entries,
      incompleteReason: hidden,
    } = measureFolders([...listWritableFolders(this.#folder), ...listWorldWritableFiles(this.#user)], {
      bytes: fileBytes + this.#initialUsage.bytes - unlinked,
      entries: files + this.#initialUsage.entries,
    });
    const standard = sizeOf(this.#folder.script) + sizeOf(this.#folder.stdin) - this.#standardBytes;
    const found = Math.max(0, bytes - this.#initialUsage.bytes) + unlinked;
    const onDisk = this.#onDisk();
    const written = Math.max(found, onDisk.bytes) + standard;
    const grown = this.#ownDisk === undefined ? 0 : readAllocatedBytes(this.#ownDisk) - this.#takenAtStart;
    this.writtenBytes = Math.max(written, grown);
    if (hidden !== undefined) return { reason: 'disk', error: HIDDEN[hidden] };
    if (Math.max(entries - this.#initialUsage.entries, onDisk.files) > files) {
      return {
        reason: 'disk',
        error: `The app made more than ${files} files and folders; that is its limit.`,
      };
    }
    return written > fileBytes ? createDiskBreach(written, fileBytes) : undefined;
  }

  /** What the app takes on its own disk, however it hides it. */
  #onDisk(): DiskUsage {
    if (this.#ownDisk === undefined) return { bytes: 0, files: 0 };
    const { path, used } = this.#ownDisk;
    const now = readDiskUsage(path);
    return { bytes: now.bytes - used.bytes, files: now.files - used.files };
  }

  #tree(): ProcessInfo[] {
    const tree = listProcessTree(this.#pid);
    for (const [pid, started] of this.seenProcesses) {
      if (tree.some((one) => one.pid === pid)) continue;
      const info = inspectProcess(pid);
      if (info === undefined || info.startTicks !== started) this.seenProcesses.delete(pid);
      else tree.push(info, ...listChildren(pid).flatMap((child) => inspectProcess(child) ?? []));
    }
    for (const one of tree) this.seenProcesses.set(one.pid, one.startTicks);
    return tree;
  }

  #memory(tree: ProcessInfo[]): LimitBreach | undefined {
    const { memoryBytes } = this.#plan.limits;
    if (this.#memoryGroup !== undefined) {
      this.peakMemoryBytes = Math.max(this.peakMemoryBytes, readUnreclaimableBytes(this.#memoryGroup));
      return this.findOomBreach();
    }
    const unseen = readPageTableBytes(tree) + this.#openFiles.memoryBytes;
    let used = sumOf(tree) + unseen;
    // Shared pages are counted once per process up to here, which is quick and never too little.
    if (used > memoryBytes) used = readProportionalBytes(tree) + unseen;
    this.peakMemoryBytes = Math.max(this.peakMemoryBytes, used);
    if (used <= memoryBytes) return undefined;
    const unshown = this.#openFiles.memoryBytes > used / 2;
    return { reason: 'memory', error: formatMemoryError(used, memoryBytes) + (unshown ? UNSHOWN : '') };
  }

  #stdout(): LimitBreach | undefined {
    if (this.#plan.stdoutIsLog) return undefined;
    const { size } = statSync(this.#folder.stdout);
    return size > this.#plan.limits.outputBytes
      ? createOutputBreach(size, this.#plan.limits.outputBytes)
      : undefined;
  }

  /** A process whose open files we may not see at two looks could hold any space in files without a name. */
  #hiding(tree: ProcessInfo[]): LimitBreach | undefined {
    const hiding = tree.filter(hidesOpenFiles).map(({ pid, startTicks: started }) => `${pid}/${started}`);
    const again = hiding.some((one) => this.#hidAtLastLook.has(one));
    this.#hidAtLastLook = new Set(hiding);
    return again ? { reason: 'disk', error: HIDDEN.process } : undefined;
  }

  /**
   * Without a disk of its own, or beside it: a file under way in a socket, or mapped and closed, has a size that nobody can
   * see. Space that the disk has lost is laid to a run that has such files at two looks.
   */
  #hidingOnDisk(tree: ProcessInfo[]): LimitBreach | undefined {
    if (this.#ownDisk !== undefined && this.#user === undefined) return undefined;
    const { fileBytes } = this.#plan.limits;
    const lost = this.#freeAtStart - freeBytes(this.#folder.root);
    const before = this.#hidOnDisk;
    this.#hidOnDisk = lost > fileBytes && (this.#openFiles.inFlightFiles > 0 || mapsDeletedFiles(tree));
    if (!before || !this.#hidOnDisk) return undefined;
    return {
      reason: 'disk',
      error: `The app kept files where they cannot be measured, in a socket or behind a mapping, while the disk lost ${formatBytes(lost)} of free space; its limit is ${formatBytes(fileBytes)}.`,
    };
  }

  #disk(tree: ProcessInfo[], now: number): LimitBreach | undefined {
    if (now < this.#nextDiskLook) return undefined;
    const begun = performance.now();
    if (this.#ownsScore) restoreAppOomScore(tree.map(({ pid }) => pid));
    const breach = this.findDiskBreach(tree) ?? this.#hiding(tree) ?? this.#hidingOnDisk(tree);
    const pause = Math.max(DISK_PAUSE_MS, (performance.now() - begun) * DISK_SHARE);
    this.#nextDiskLook = now + Math.min(pause, LONGEST_DISK_PAUSE_MS);
    return breach;
  }
}

/** The shell, bubblewrap and their like, which are in the tree but not the app's. */
const CHAIN_PROCESSES = 3;

export const HOST_OUT_OF_MEMORY_MESSAGE =
  'The host, or the memory cgroup of the server, had no memory left, and the kernel ended the app.';

const UNSHOWN = ' Most of it is in files in memory, or is what its many open sockets and files can hold.';

function formatMemoryError(used: number, limit: number): string {
  return `The app used ${formatBytes(used)} of memory, all its processes together; its limit is ${formatBytes(limit)}.`;
}

export function createOutputBreach(size: number, limit: number): LimitBreach {
  return {
    reason: 'output',
    error: `The app printed ${formatBytes(size)} to stdout; its limit is ${formatBytes(limit)}.`,
  };
}

export function createDiskBreach(written: number, limit: number): LimitBreach {
  return {
    reason: 'disk',
    error: `The app wrote ${formatBytes(written)} to disk; its limit is ${formatBytes(limit)}.`,
  };
}

const HIDDEN = {
  deep: `The app nested its folders deeper than ${MAX_FOLDER_DEPTH}, so what it wrote cannot be measured.`,
  unreadable: 'The app made a folder that cannot be read, so what it wrote cannot be measured.',
  process: 'A process of the app hid its open files, so what it wrote cannot be measured.',
};

function freeBytes(path: string): number {
  const { bfree, bsize } = statfsSync(path);
  return bfree * bsize;
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function sumOf(tree: ProcessInfo[]): number {
  return tree.reduce((sum, one) => sum + one.residentBytes, 0);
}
