/**
 * Looks at a running app from outside and says when it has gone beyond a limit that the kernel does not hold for us.
 *
 * One Watchdog per run, asked every SAMPLE_MS by the launcher. A sample reads /proc for the run's tree only. The size
 * of the folders is looked at less often the longer a look takes, so that it costs at most about a twentieth of a core.
 */
import { lstatSync, statfsSync, statSync } from 'node:fs';
import { cameToLimit, heldBy, memoryKills, type RunGroup } from './cgroup.ts';
import { type Disk, takenBytes, type Usage, usageOf } from './disks.ts';
import {
  hidesFiles,
  mapsUnnamedFiles,
  type OpenFiles,
  openFilesOf,
  pageTableBytes,
  sharedMemoryBytes,
} from './holdings.ts';
import { DEEPEST, type Measured, measure } from './measure.ts';
import type { Holdings } from './memory-guard.ts';
import { putFirstAgain } from './oom.ts';
import { childrenOf, inspectProcess, type ProcessInfo, proportionalBytes, treeOf } from './processes.ts';
import type { LaunchPlan } from './protocol.ts';
import { type RunFolder, writablePlaces } from './run-folder.ts';
import { bytesInWords } from './sentences.ts';
import { sharedPlaces } from './shared-places.ts';
import type { EndReason } from './types.ts';

/** Where ps has to be asked, a look costs much more. */
export const SAMPLE_MS = process.platform === 'linux' ? 50 : 250;
const DISK_SHARE = 20;
const DISK_PAUSE_MS = 200;
const LONGEST_DISK_PAUSE_MS = 2_000;

export interface Breach {
  reason: EndReason;
  error: string;
  /** As in Ended. */
  hostFault?: true;
}

export interface Watched {
  plan: LaunchPlan;
  folder: RunFolder;
  /** The first process of the chain. */
  pid: number;
  cgroup: RunGroup | undefined;
  /** Whether the app could write to the files by which the kernel chooses whom to end. */
  ownsScore: boolean;
  /** What the executable and the input brought along. */
  brought: Measured;
  /** The disk of the run alone, and what was on it before the app was. */
  disk?: (Disk & { used: Usage }) | undefined;
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
  readonly #memoryGroup: RunGroup['memory'];
  readonly #ownsScore: boolean;
  /** Everything ever seen in the tree, by pid with its start time: what left it by a double fork is found again. */
  readonly seen = new Map<number, string>();
  readonly #brought: Measured;
  /** Size of the start script and stdin before the app could come at them. */
  readonly #standardBytes: number;
  readonly #user: number | undefined;
  readonly #ownDisk: Watched['disk'];
  /** What the disk took of the host's before the app was there. */
  readonly #takenAtStart: number;
  #nextDiskLook = 0;
  #hidAtLastLook = new Set<string>();
  #hidOnDisk = false;
  readonly #freeAtStart: number;
  /** As of the last look at the disk. */
  #openFiles: OpenFiles = { diskBytes: 0, memoryBytes: 0, possibleBytes: 0, underWay: 0 };

  constructor({ plan, folder, pid, cgroup, ownsScore, brought, disk, user }: Watched) {
    this.#plan = plan;
    this.#folder = folder;
    this.#pid = pid;
    this.#memoryGroup = cgroup?.memory;
    this.#ownsScore = ownsScore;
    this.#brought = brought;
    this.#user = user;
    this.#ownDisk = disk;
    this.#takenAtStart = disk === undefined ? 0 : takenBytes(disk);
    this.#freeAtStart = freeBytes(folder.root);
    this.#standardBytes = sizeOf(folder.script) + sizeOf(folder.stdin);
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

  /** What the run holds, for when the host has hardly any memory left. */
  holdings(): Holdings {
    if (this.#memoryGroup !== undefined) return { knownBytes: heldBy(this.#memoryGroup), possibleBytes: 0 };
    const tree = this.#tree();
    const { memoryBytes, possibleBytes } = openFilesOf(tree);
    return {
      knownBytes: sumOf(tree) + pageTableBytes(tree) + memoryBytes,
      possibleBytes: possibleBytes + sharedMemoryBytes(tree),
    };
  }

  /** Set once the kernel has ended a process of the run's cgroup for its memory; one is enough, the others may go on. */
  killedForMemory(): Breach | undefined {
    const group = this.#memoryGroup;
    if (group === undefined || memoryKills(group) === 0) return undefined;
    const { memoryBytes } = this.#plan.limits;
    if (!cameToLimit(group)) return { reason: 'memory', error: HOST_WITHOUT_MEMORY };
    return {
      reason: 'memory',
      error: memorySentence(Math.max(this.peakMemoryBytes, memoryBytes), memoryBytes),
    };
  }

  /** What is wrong with what lies in the folders and in files without a name, brought along things left out. */
  brokenOnDisk(tree: ProcessInfo[] = []): Breach | undefined {
    const { fileBytes, files } = this.#plan.limits;
    this.#openFiles = openFilesOf(tree);
    const unlinked = this.#openFiles.diskBytes;
    const { bytes, entries, hidden } = measure(
      [...writablePlaces(this.#folder), ...sharedPlaces(this.#user)],
      {
        bytes: fileBytes + this.#brought.bytes - unlinked,
        entries: files + this.#brought.entries,
      },
    );
    const standard = sizeOf(this.#folder.script) + sizeOf(this.#folder.stdin) - this.#standardBytes;
    const found = Math.max(0, bytes - this.#brought.bytes) + unlinked;
    const onDisk = this.#onDisk();
    const written = Math.max(found, onDisk.bytes) + standard;
    const grown = this.#ownDisk === undefined ? 0 : takenBytes(this.#ownDisk) - this.#takenAtStart;
    this.writtenBytes = Math.max(written, grown);
    if (hidden !== undefined) return { reason: 'disk', error: HIDDEN[hidden] };
    if (Math.max(entries - this.#brought.entries, onDisk.files) > files) {
      return {
        reason: 'disk',
        error: `The app made more than ${files} files and folders; that is its limit.`,
      };
    }
    return written > fileBytes ? diskBreach(written, fileBytes) : undefined;
  }

  /** What the app takes on its own disk, however it hides it. */
  #onDisk(): Usage {
    if (this.#ownDisk === undefined) return { bytes: 0, files: 0 };
    const { path, used } = this.#ownDisk;
    const now = usageOf(path);
    return { bytes: now.bytes - used.bytes, files: now.files - used.files };
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
    if (this.#memoryGroup !== undefined) {
      this.peakMemoryBytes = Math.max(this.peakMemoryBytes, heldBy(this.#memoryGroup));
      return this.killedForMemory();
    }
    const unseen = pageTableBytes(tree) + this.#openFiles.memoryBytes;
    let used = sumOf(tree) + unseen;
    // Shared pages are counted once per process up to here, which is quick and never too little.
    if (used > memoryBytes) used = proportionalBytes(tree) + unseen;
    this.peakMemoryBytes = Math.max(this.peakMemoryBytes, used);
    if (used <= memoryBytes) return undefined;
    const unshown = this.#openFiles.memoryBytes > used / 2;
    return { reason: 'memory', error: memorySentence(used, memoryBytes) + (unshown ? UNSHOWN : '') };
  }

  #stdout(): Breach | undefined {
    if (this.#plan.stdoutIsLog) return undefined;
    const { size } = statSync(this.#folder.stdout);
    return size > this.#plan.limits.outputBytes
      ? outputBreach(size, this.#plan.limits.outputBytes)
      : undefined;
  }

  /** A process whose open files we may not see at two looks could hold any space in files without a name. */
  #hiding(tree: ProcessInfo[]): Breach | undefined {
    const hiding = tree.filter(hidesFiles).map(({ pid, started }) => `${pid}/${started}`);
    const again = hiding.some((one) => this.#hidAtLastLook.has(one));
    this.#hidAtLastLook = new Set(hiding);
    return again ? { reason: 'disk', error: HIDDEN.process } : undefined;
  }

  /**
   * Without a disk of its own, or beside it: a file under way in a socket, or mapped and closed, has a size that nobody can
   * see. Space that the disk has lost is laid to a run that has such files at two looks.
   */
  #hidingOnDisk(tree: ProcessInfo[]): Breach | undefined {
    if (this.#ownDisk !== undefined && this.#user === undefined) return undefined;
    const { fileBytes } = this.#plan.limits;
    const lost = this.#freeAtStart - freeBytes(this.#folder.root);
    const before = this.#hidOnDisk;
    this.#hidOnDisk = lost > fileBytes && (this.#openFiles.underWay > 0 || mapsUnnamedFiles(tree));
    if (!before || !this.#hidOnDisk) return undefined;
    return {
      reason: 'disk',
      error: `The app kept files where they cannot be measured, in a socket or behind a mapping, while the disk lost ${bytesInWords(lost)} of free space; its limit is ${bytesInWords(fileBytes)}.`,
    };
  }

  #disk(tree: ProcessInfo[], now: number): Breach | undefined {
    if (now < this.#nextDiskLook) return undefined;
    const begun = performance.now();
    if (this.#ownsScore) putFirstAgain(tree.map(({ pid }) => pid));
    const breach = this.brokenOnDisk(tree) ?? this.#hiding(tree) ?? this.#hidingOnDisk(tree);
    const pause = Math.max(DISK_PAUSE_MS, (performance.now() - begun) * DISK_SHARE);
    this.#nextDiskLook = now + Math.min(pause, LONGEST_DISK_PAUSE_MS);
    return breach;
  }
}

/** The shell, bubblewrap and their like, which are in the tree but not the app's. */
const CHAIN_PROCESSES = 3;

export const HOST_WITHOUT_MEMORY =
  'The host, or the memory cgroup of the server, had no memory left, and the kernel ended the app.';

const UNSHOWN = ' Most of it is in files in memory, or is what its many open sockets and files can hold.';

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

const HIDDEN = {
  deep: `The app nested its folders deeper than ${DEEPEST}, so what it wrote cannot be measured.`,
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
