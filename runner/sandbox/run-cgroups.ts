/**
 * Control groups (cgroups), where we may make them: the kernel then holds memory, processor time and number of processes
 * of each run by construction, with all that no process shows (page tables, buffers of sockets and pipes, files without
 * a name, kernel objects).
 *
 * Each controller is taken where it is: in version 2 below our own group, when that was delegated to us (or we are root
 * and our own processes are all that is in it), and in version 1 below our own group of each hierarchy. Groups are made
 * below our own group only, so that what an operator has set for it holds for apps, too. In version 2 a group that hands
 * controllers on may have no processes of its own, so we move into a group beside those of the runs first.
 *
 * What must stay true: `switchyard-<marker>-<pid>-<pid namespace>` belongs to the process of that id in that namespace; when
 * it is dead, the next runner that sees the same processes ends what is left in the group and removes it.
 */
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type CgroupHierarchy,
  listCgroupHierarchies,
  readGroupFile,
  readGroupMemory,
  readGroupNumber,
  readMemoryLimit,
  readNamedNumber,
} from '../process/cgroup-hierarchies.ts';
import { runCommand } from '../process/command.ts';
import { inspectProcess, listAncestors, sendSignal } from '../process/processes.ts';
import type { Limits } from '../types.ts';

type Controller = 'memory' | 'cpu' | 'pids';

interface Place {
  version: 1 | 2;
  /** The group that the groups of the runs are made in. */
  folder: string;
}

/** Where groups of runs are made, by what they hold. */
export type CgroupParents = Partial<Record<Controller, Place>>;

/** The groups of one run. */
export interface RunCgroups {
  /** A process joins the run by writing its id to `cgroup.procs` of each. */
  folders: string[];
  memory?: Place;
}

const CONTROLLERS: Controller[] = ['memory', 'cpu', 'pids'];
const REMOVED_WITHIN_MS = 2_000;
const CPU_PERIOD_US = 100_000;
/** The least that a kernel takes for `cpu.max`. */
const LEAST_CPU_US = 1_000;
/** Processes of the chain, which are in the group and not the app's. */
const CHAIN_PROCESSES = 4;
/** The group that the server itself moves into where a group with controllers may have no processes. */
const OWN_GROUP = 'switchyard-server';
const HOME_GROUP = /^switchyard-[0-9a-f]{16}-(\d+)-(\d+)$/;
/** By this file a child shows that it has the controller. */
const KNOBS: Record<Controller, [version1: string, version2: string]> = {
  memory: ['memory.limit_in_bytes', 'memory.max'],
  cpu: ['cpu.cfs_quota_us', 'cpu.max'],
  pids: ['pids.max', 'pids.max'],
};

/**
 * Removes what dead runners left, and tries for each controller whether a process can be held by it; undefined when none
 * can.
 */
export async function findCgroupParents(marker: string): Promise<CgroupParents | undefined> {
  const home: CgroupParents = {};
  for (const hierarchy of listCgroupHierarchies()) {
    const wanted = CONTROLLERS.filter((name) => hierarchy.controllers.includes(name) && !home[name]);
    if (wanted.length === 0) continue;
    for (const name of await probeControllers(hierarchy, wanted, marker))
      home[name] = { version: hierarchy.version, folder: homeFolder(baseOf(hierarchy), marker) };
  }
  return Object.keys(home).length === 0 ? undefined : home;
}

/** The group that homes are made in: our own, or the one above it when ours is where the server moved to. */
function baseOf({ ownFolder: own }: CgroupHierarchy): string {
  return basename(own) === OWN_GROUP ? dirname(own) : own;
}

function homeFolder(base: string, marker: string): string {
  return join(base, `switchyard-${marker}-${process.pid}-${readPidNamespace()}`);
}

/** Ids of processes mean something within one of these only. */
export function readPidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
}

/** The controllers by which a process in a new group of this hierarchy is held. */
export async function probeControllers<Name extends string>(
  hierarchy: CgroupHierarchy,
  wanted: Name[],
  marker: string,
  hasKnob = (folder: string, name: Name): boolean =>
    hasController(folder, name as Controller & Name, hierarchy.version),
): Promise<Name[]> {
  const base = baseOf(hierarchy);
  const folder = homeFolder(base, marker);
  const probe = join(folder, 'probe');
  try {
    await clearHomes(base, marker);
    mkdirSync(folder);
    if (hierarchy.version === 2) {
      if (!handOn(base, wanted)) await moveOut(hierarchy, wanted);
      handOn(folder, wanted);
    }
    mkdirSync(probe);
    const held = wanted.filter((name) => hasKnob(probe, name));
    const joins = await runCommand('/bin/sh', ['-c', 'echo $$ > "$0"', join(probe, 'cgroup.procs')]);
    rmdirSync(probe);
    if (joins.ok && held.length > 0) return held;
  } catch {
    // Not ours to use.
  }
  removeGroup(probe);
  removeGroup(folder);
  return [];
}

function hasController(folder: string, name: Controller, version: 1 | 2): boolean {
  return existsSync(join(folder, KNOBS[name][version - 1] ?? ''));
}

/** Lets children of a group of version 2 have controllers; whether they have all of them now. */
function handOn(folder: string, names: string[]): boolean {
  for (const name of names) {
    try {
      writeFileSync(join(folder, 'cgroup.subtree_control'), `+${name}`);
    } catch {
      // Processes in the group, no right, or not on offer: what came of it is read below.
    }
  }
  const now = (readGroupFile(folder, 'cgroup.subtree_control') ?? '').trim().split(/\s+/);
  return names.every((name) => now.includes(name));
}

/**
 * Moves all processes of our group into one of our own below it, when the group was made for us: it was delegated, and all
 * of them descend from one that started us. The root of the tree belongs to nobody.
 */
async function moveOut({ ownFolder: own }: CgroupHierarchy, names: string[]): Promise<void> {
  if (!existsSync(join(own, 'cgroup.type')) || !(await isDelegated(own))) return;
  const members = processesIn(own);
  const first = [process.pid, ...listAncestors(process.pid)].filter((pid) => members.includes(pid)).at(-1);
  if (first === undefined) return;
  if (!members.every((pid) => pid === first || listAncestors(pid).includes(first))) return;
  const leaf = join(own, OWN_GROUP);
  mkdirSync(leaf, { recursive: true });
  for (const pid of members) move(pid, leaf);
  if (handOn(own, names)) return;
  const handed = (readGroupFile(own, 'cgroup.subtree_control') ?? '').split(/\s+/);
  if (names.some((name) => handed.includes(name))) return;
  // Somebody came in between, or the kernel says no for another reason: back to how it was.
  for (const pid of processesIn(leaf)) move(pid, own);
  removeGroup(leaf);
}

/** The groups of systemd's units are its own unless it says otherwise; others are those of whoever may write to them. */
async function isDelegated(folder: string): Promise<boolean> {
  const unit = basename(folder);
  if (!/\.(service|scope|slice)$/.test(unit)) return true;
  const manager = /\/user@\d+\.service\//.test(folder) ? ['--user'] : [];
  const said = await runCommand('systemctl', [...manager, 'show', '--property', 'Delegate', '--value', unit]);
  return said.ok && said.output.trim() === 'yes';
}

function move(pid: number, folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  } catch {
    // Gone.
  }
}

/** Ends and removes what runners that are dead left in a group, and what an earlier one of this folder did. */
async function clearHomes(base: string, marker: string): Promise<void> {
  for (const name of foldersIn(base)) {
    const [, owner, namespace] = HOME_GROUP.exec(name) ?? [];
    if (owner === undefined) continue;
    const isDead = namespace === readPidNamespace() && inspectProcess(Number(owner)) === undefined;
    if (isDead || name.includes(marker)) await removeHome(join(base, name));
  }
}

/** A process that was killed is in its group for a moment more. */
async function removeHome(folder: string): Promise<void> {
  const deadline = performance.now() + REMOVED_WITHIN_MS;
  for (;;) {
    for (const name of foldersIn(folder)) removeGroup(join(folder, name));
    removeGroup(folder);
    if (!existsSync(folder) || performance.now() > deadline) return;
    await pause(5);
  }
}

/** Removes the groups of a runner that has no runs any more. */
export async function removeCgroupParents(home: CgroupParents): Promise<void> {
  for (const { folder } of places(home)) await removeHome(folder);
}

/** The places of a home, each once. */
function places(home: CgroupParents): Place[] {
  const all = Object.values(home);
  return all.filter(({ folder }, place) => all.findIndex((one) => one.folder === folder) === place);
}

/** Makes the groups of one run with their limits set; the run's first process joins them by itself. */
export function createRunCgroups(home: CgroupParents, key: string, limits: Limits): RunCgroups {
  const group: RunCgroups = { folders: places(home).map(({ folder }) => join(folder, key)) };
  // With its home, which a service manager may have removed; version 2 then lacks the controllers, and the run fails.
  for (const folder of group.folders) mkdirSync(folder, { recursive: true });
  const set = (place: Place | undefined, values: [version1: Values, version2: Values]): void => {
    if (place === undefined) return;
    for (const [name, value] of Object.entries(values[place.version - 1] ?? {})) {
      const file = join(place.folder, key, name);
      try {
        writeFileSync(file, String(value));
      } catch (error) {
        // Not every kernel has every file, and a group above may allow less; but memory is held or the run fails.
        if (name === KNOBS.memory[place.version - 1]) throw error;
      }
    }
  };
  const { memoryBytes, cores, processes } = limits;
  set(home.memory, [
    {
      'memory.limit_in_bytes': memoryBytes,
      'memory.memsw.limit_in_bytes': memoryBytes,
      // Buffers of TCP are counted apart there, and only when they have a limit.
      'memory.kmem.tcp.limit_in_bytes': memoryBytes,
    },
    { 'memory.max': memoryBytes, 'memory.swap.max': 0, 'memory.zswap.max': 0, 'memory.oom.group': 1 },
  ]);
  const quota = Math.max(LEAST_CPU_US, Math.round(cores * CPU_PERIOD_US));
  set(home.cpu, [
    { 'cpu.cfs_period_us': CPU_PERIOD_US, 'cpu.cfs_quota_us': quota },
    { 'cpu.max': `${quota} ${CPU_PERIOD_US}` },
  ]);
  set(home.pids, [{ 'pids.max': processes + CHAIN_PROCESSES }, { 'pids.max': processes + CHAIN_PROCESSES }]);
  if (home.memory !== undefined) group.memory = { ...home.memory, folder: join(home.memory.folder, key) };
  return group;
}

type Values = Record<string, number | string>;

/** How often the kernel ended a process of the group for lack of memory, in the group or above it. */
export function countOomKills({ folder, version }: Place): number {
  return readNamedNumber(folder, version === 2 ? 'memory.events' : 'memory.oom_control', 'oom_kill');
}

/** Whether the group came to its own limit, and not to that of a group above it. */
export function hasReachedMemoryLimit({ folder, version }: Place): boolean {
  if (version === 2) return readNamedNumber(folder, 'memory.events', 'oom') > 0;
  // Its counter of refusals stays at 0 in new kernels.
  const most = readGroupNumber(folder, 'memory.max_usage_in_bytes') ?? 0;
  return most >= 0.99 * (readMemoryLimit(folder, version) ?? Number.POSITIVE_INFINITY);
}

/** All the memory that the group must keep, whether a process shows it or not. */
export function readUnreclaimableBytes({ folder, version }: Place): number {
  return readGroupMemory(folder, version)?.unreclaimableBytes ?? 0;
}

/** Everything of the run that lives, also what left its session, its user and its parents. */
export function listCgroupProcesses(group: RunCgroups): number[] {
  return group.folders.flatMap(processesIn);
}

export function removeRunCgroups(group: RunCgroups): void {
  for (const folder of group.folders) removeGroup(folder);
}

/** Kills whatever is left in the group, then removes it. */
function removeGroup(folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.kill'), '1');
  } catch {
    for (const pid of processesIn(folder)) sendSignal(pid, 'SIGKILL');
  }
  try {
    rmdirSync(folder);
  } catch {
    // Gone, or busy for a moment: it goes with its home.
  }
}

function processesIn(folder: string): number[] {
  return (readGroupFile(folder, 'cgroup.procs') ?? '')
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []));
}
