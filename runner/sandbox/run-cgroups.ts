/**
 * Control groups (cgroups), where the host allows them: the kernel then limits memory, processor time and number of
 * processes of each run. It also counts memory that no process shows: page tables, buffers of sockets and pipes, unlinked
 * files and kernel objects.
 *
 * The runner uses each controller that exists. In version 2 it is below the own group, which must be delegated, or have only
 * processes of a runner that is root. In version 1 it is below the own group of each hierarchy. Groups are created below the own group only, so that limits of an operator apply to apps too. In version 2 a group with controllers for its
 * children may have no processes, so the server first moves into a group beside those of the runs.
 *
 * Invariant: `switchyard-<marker>-<pid>-<pid namespace>` belongs to the process with that id in that namespace. After its
 * death the next runner that sees the same processes kills the members of the group and removes it.
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
import { ProbeCache } from '../process/probe-cache.ts';
import { inspectProcess, listAncestors, sendSignal } from '../process/processes.ts';
import type { Limits } from '../types.ts';

type Controller = 'memory' | 'cpu' | 'pids';

interface GroupLocation {
  version: 1 | 2;
  /** The parent of the groups of all runs. */
  folder: string;
}

/** Parents of the groups of all runs, by controller. */
export type CgroupParents = Partial<Record<Controller, GroupLocation>>;

/** The groups of one run. */
export interface RunCgroups {
  /** A process joins the run by writing its id to `cgroup.procs` of each. */
  folders: string[];
  memory?: GroupLocation;
}

/** By parent of the runners' groups. Failures are not cached: the group of the probe may have vanished. */
const joinProbes = new ProbeCache<boolean>((canJoin) => canJoin);

const CONTROLLERS: Controller[] = ['memory', 'cpu', 'pids'];
const REMOVAL_TIMEOUT_MS = 2_000;
const CPU_PERIOD_US = 100_000;
/** Smallest value of `cpu.max` that the kernel accepts. */
const MIN_CPU_QUOTA_US = 1_000;
/** Processes of the chain, which are in the group but not the app's. */
const CHAIN_PROCESSES = 4;
/** The group that the server moves into where a group with controllers may have no processes. */
const SERVER_GROUP = 'switchyard-server';
const RUNNER_GROUP_PATTERN = /^switchyard-[0-9a-f]{16}-(\d+)-(\d+)$/;
/** A file that a child group has when it has the controller. */
const CONTROLLER_FILES: Record<Controller, [version1: string, version2: string]> = {
  memory: ['memory.limit_in_bytes', 'memory.max'],
  cpu: ['cpu.cfs_quota_us', 'cpu.max'],
  pids: ['pids.max', 'pids.max'],
};

/**
 * Removes groups of dead runners and probes each controller. Returns the parents of future groups; undefined when no
 * controller works.
 */
export async function findCgroupParents(marker: string): Promise<CgroupParents | undefined> {
  const parents: CgroupParents = {};
  for (const hierarchy of listCgroupHierarchies()) {
    const wanted = CONTROLLERS.filter((name) => hierarchy.controllers.includes(name) && !parents[name]);
    if (wanted.length === 0) continue;
    for (const name of await probeControllers(hierarchy, wanted, marker))
      parents[name] = {
        version: hierarchy.version,
        folder: resolveRunnerGroup(resolveBaseGroup(hierarchy), marker),
      };
  }
  return Object.keys(parents).length === 0 ? undefined : parents;
}

/** Returns the parent of all runners' groups: the own group, or its parent when the server has moved. */
function resolveBaseGroup({ ownFolder }: CgroupHierarchy): string {
  return basename(ownFolder) === SERVER_GROUP ? dirname(ownFolder) : ownFolder;
}

function resolveRunnerGroup(base: string, marker: string): string {
  return join(base, `switchyard-${marker}-${process.pid}-${readPidNamespace()}`);
}

/** Returns the id of the pid namespace, within which process ids are unique. */
export function readPidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
}

/** Returns the controllers that limit a process in a new group of this hierarchy. Tests pass their own `hasControllerFile`. */
export async function probeControllers<Name extends string>(
  hierarchy: CgroupHierarchy,
  wanted: Name[],
  marker: string,
  hasControllerFile = (folder: string, name: Name): boolean => hasController(folder, name, hierarchy.version),
): Promise<Name[]> {
  const base = resolveBaseGroup(hierarchy);
  const folder = resolveRunnerGroup(base, marker);
  const probe = join(folder, 'probe');
  try {
    await removeDeadGroups(base, marker);
    mkdirSync(folder);
    if (hierarchy.version === 2) {
      if (!enableControllers(base, wanted)) await moveServerProcesses(hierarchy, wanted);
      enableControllers(folder, wanted);
    }
    mkdirSync(probe);
    const held = wanted.filter((name) => hasControllerFile(probe, name));
    const canJoin = await joinProbes.probeOnce(base, () => joinGroup(probe));
    rmdirSync(probe);
    if (canJoin && held.length > 0) return held;
  } catch {
    // The group is not writable for this process.
  }
  removeGroup(probe);
  removeGroup(folder);
  return [];
}

/** Returns true when a process can join the group by itself, as the first process of a run does. */
async function joinGroup(folder: string): Promise<boolean> {
  const { ok } = await runCommand('/bin/sh', ['-c', 'echo $$ > "$0"', join(folder, 'cgroup.procs')]);
  return ok;
}

function hasController(folder: string, name: string, version: 1 | 2): boolean {
  const files: Readonly<Record<string, readonly string[]>> = CONTROLLER_FILES;
  return existsSync(join(folder, files[name]?.[version - 1] ?? ''));
}

/** Enables controllers for the children of a group of version 2; returns whether all are enabled. */
function enableControllers(folder: string, names: string[]): boolean {
  for (const name of names) {
    try {
      writeFileSync(join(folder, 'cgroup.subtree_control'), `+${name}`);
    } catch {
      // The group has processes, is not writable or lacks the controller: the file below shows the result.
    }
  }
  const now = (readGroupFile(folder, 'cgroup.subtree_control') ?? '').trim().split(/\s+/);
  return names.every((name) => now.includes(name));
}

/**
 * Moves all processes of the own group into a group below it, when the group exists for the server. Such a group is
 * delegated, and all members descend from the process that started the server. The root group belongs to no server.
 */
async function moveServerProcesses({ ownFolder }: CgroupHierarchy, names: string[]): Promise<void> {
  if (!existsSync(join(ownFolder, 'cgroup.type')) || !(await isDelegated(ownFolder))) return;
  const members = listProcessesIn(ownFolder);
  const root = [process.pid, ...listAncestors(process.pid)].filter((pid) => members.includes(pid)).at(-1);
  if (root === undefined) return;
  if (!members.every((pid) => pid === root || listAncestors(pid).includes(root))) return;
  const serverGroup = join(ownFolder, SERVER_GROUP);
  mkdirSync(serverGroup, { recursive: true });
  for (const pid of members) moveProcess(pid, serverGroup);
  if (enableControllers(ownFolder, names)) return;
  const enabled = (readGroupFile(ownFolder, 'cgroup.subtree_control') ?? '').split(/\s+/);
  if (names.some((name) => enabled.includes(name))) return;
  // Another process joined meanwhile, or the kernel refuses for another reason: move back.
  for (const pid of listProcessesIn(serverGroup)) moveProcess(pid, ownFolder);
  removeGroup(serverGroup);
}

/** systemd owns the groups of its units unless a unit says otherwise; other groups belong to any user that may write them. */
async function isDelegated(folder: string): Promise<boolean> {
  const unit = basename(folder);
  if (!/\.(service|scope|slice)$/.test(unit)) return true;
  const manager = /\/user@\d+\.service\//.test(folder) ? ['--user'] : [];
  const result = await runCommand('systemctl', [
    ...manager,
    'show',
    '--property',
    'Delegate',
    '--value',
    unit,
  ]);
  return result.ok && result.output.trim() === 'yes';
}

function moveProcess(pid: number, folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  } catch {
    // The process has ended.
  }
}

/** Kills and removes the groups of dead runners, and of an earlier runner of the same folder. */
async function removeDeadGroups(base: string, marker: string): Promise<void> {
  for (const name of listFoldersIn(base)) {
    const [, owner, namespace] = RUNNER_GROUP_PATTERN.exec(name) ?? [];
    if (owner === undefined) continue;
    const isDead = namespace === readPidNamespace() && inspectProcess(Number(owner)) === undefined;
    if (isDead || name.includes(marker)) await removeRunnerGroup(join(base, name));
  }
}

/** Retries, because a killed process stays in its group for a moment. */
async function removeRunnerGroup(folder: string): Promise<void> {
  const deadline = performance.now() + REMOVAL_TIMEOUT_MS;
  for (;;) {
    for (const name of listFoldersIn(folder)) removeGroup(join(folder, name));
    removeGroup(folder);
    if (!existsSync(folder) || performance.now() > deadline) return;
    await pause(5);
  }
}

/** Removes the groups of a runner without runs. */
export async function removeCgroupParents(parents: CgroupParents): Promise<void> {
  for (const { folder } of listDistinctParents(parents)) await removeRunnerGroup(folder);
}

/** Returns the distinct parents. */
function listDistinctParents(parents: CgroupParents): GroupLocation[] {
  const all = Object.values(parents);
  return all.filter(({ folder }, index) => all.findIndex((other) => other.folder === folder) === index);
}

/** Creates the groups of one run with their limits; the first process of the run joins them by itself. */
export function createRunCgroups(parents: CgroupParents, key: string, limits: Limits): RunCgroups {
  const group: RunCgroups = { folders: listDistinctParents(parents).map(({ folder }) => join(folder, key)) };
  // Recursive, because a service manager may have removed the parent; version 2 then lacks the controllers, and the run fails.
  for (const folder of group.folders) mkdirSync(folder, { recursive: true });
  const writeLimits = (
    location: GroupLocation | undefined,
    values: [version1: Values, version2: Values],
  ): void => {
    if (location === undefined) return;
    for (const [name, value] of Object.entries(values[location.version - 1] ?? {})) {
      const file = join(location.folder, key, name);
      try {
        writeFileSync(file, String(value));
      } catch (error) {
        // Some kernels lack a file, and a group above may allow less; without the memory limit the run fails.
        if (name === CONTROLLER_FILES.memory[location.version - 1]) throw error;
      }
    }
  };
  const { memoryBytes, cores, processes } = limits;
  writeLimits(parents.memory, [
    {
      'memory.limit_in_bytes': memoryBytes,
      'memory.memsw.limit_in_bytes': memoryBytes,
      // Version 1 counts TCP buffers separately, and only with a limit.
      'memory.kmem.tcp.limit_in_bytes': memoryBytes,
    },
    { 'memory.max': memoryBytes, 'memory.swap.max': 0, 'memory.zswap.max': 0, 'memory.oom.group': 1 },
  ]);
  const quota = Math.max(MIN_CPU_QUOTA_US, Math.round(cores * CPU_PERIOD_US));
  writeLimits(parents.cpu, [
    { 'cpu.cfs_period_us': CPU_PERIOD_US, 'cpu.cfs_quota_us': quota },
    { 'cpu.max': `${quota} ${CPU_PERIOD_US}` },
  ]);
  writeLimits(parents.pids, [
    { 'pids.max': processes + CHAIN_PROCESSES },
    { 'pids.max': processes + CHAIN_PROCESSES },
  ]);
  if (parents.memory !== undefined)
    group.memory = { ...parents.memory, folder: join(parents.memory.folder, key) };
  return group;
}

type Values = Record<string, number | string>;

/** Returns how many processes of the group the kernel has ended for lack of memory, in the group or above it. */
export function countOomKills({ folder, version }: GroupLocation): number {
  return readNamedNumber(folder, version === 2 ? 'memory.events' : 'memory.oom_control', 'oom_kill');
}

/** Returns whether the group has reached its own limit, and not only that of a group above it. */
export function hasReachedMemoryLimit({ folder, version }: GroupLocation): boolean {
  if (version === 2) return readNamedNumber(folder, 'memory.events', 'oom') > 0;
  // The failure counter of version 1 stays at 0 in new kernels.
  const maxUsage = readGroupNumber(folder, 'memory.max_usage_in_bytes') ?? 0;
  return maxUsage >= 0.99 * (readMemoryLimit(folder, version) ?? Number.POSITIVE_INFINITY);
}

/** Returns the memory of the group that the kernel cannot reclaim, also memory that no process shows. */
export function readUnreclaimableBytes({ folder, version }: GroupLocation): number {
  return readGroupMemory(folder, version)?.unreclaimableBytes ?? 0;
}

/** Returns the live processes of the run, also those that left its session, user and parents. */
export function listCgroupProcesses(group: RunCgroups): number[] {
  return group.folders.flatMap(listProcessesIn);
}

/** Removes the groups of a run. */
export function removeRunCgroups(group: RunCgroups): void {
  for (const folder of group.folders) removeGroup(folder);
}

/** Kills the members of a group and removes it. */
function removeGroup(folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.kill'), '1');
  } catch {
    for (const pid of listProcessesIn(folder)) sendSignal(pid, 'SIGKILL');
  }
  try {
    rmdirSync(folder);
  } catch {
    // Removed already, or busy for a moment: removed with its parent.
  }
}

function listProcessesIn(folder: string): number[] {
  return (readGroupFile(folder, 'cgroup.procs') ?? '')
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}

function listFoldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []));
}
