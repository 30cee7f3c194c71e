/** Probes this host: the strongest confinement that works, the enforcement of each limit, and the runtimes. */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type DiskTools, MKFS_OPTIONS, MOUNT_OPTIONS } from '../filesystem/run-disks.ts';
import { type CommandResult, findTool, runCommand } from '../process/command.ts';
import { ProbeCache } from '../process/probe-cache.ts';
import type { Confinement } from '../sandbox/launch-plan.ts';
import { type CgroupParents, findCgroupParents } from '../sandbox/run-cgroups.ts';
import { buildSeccompFilter } from '../sandbox/seccomp.ts';
import { buildReadOnlyMounts, prepareSystemMounts } from '../sandbox/system-mounts.ts';
import type { Host, RunnerSettings } from '../types.ts';
import { computeUsableMemoryBytes, listMemoryScopes } from './memory-scopes.ts';
import { type ConfinementCandidate, listCandidates, tryCandidate } from './probe-confinement.ts';
import { type FoundRuntimes, findRuntimes } from './runtimes.ts';

const runtimesProbes = new ProbeCache<FoundRuntimes>();
const processLimitProbes = new ProbeCache<Awaited<ReturnType<typeof findProcessLimitLetter>>>();
/** Errors are not cached: they may depend on the folder. */
const candidateErrors = new ProbeCache<string | undefined>((error) => error === undefined);

/** The settings that probing depends on. */
type HostSettings = Pick<RunnerSettings, 'folder' | 'containment' | 'reservedMemoryBytes'>;

/** Name of the feature "cgroups for each run" for the filter of probeHost. */
export const CGROUPS_FEATURE = 'cgroups';

/** Name of the feature "a disk for each run" for the filter of probeHost. */
export const DISKS_FEATURE = 'disks';

/** By device of the folder. Failures are not cached: they may depend on the folder, or the loop devices were in use. */
const mountProbes = new ProbeCache<CommandResult>(({ ok }) => ok);

/**
 * Returns the host and its strongest working confinement. Throws when the required level is unavailable.
 *
 * @param isConsidered selects confinements and features by name, so that tests can cover each of them.
 */
export async function probeHost(
  settings: HostSettings,
  marker: string,
  isConsidered: (name: string) => boolean = () => true,
): Promise<{ host: Host; confinement: Confinement }> {
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    throw new Error(`The runner works on Linux and macOS; this host runs ${process.platform}.`);
  }
  const [runtimes, system, letter] = await Promise.all([
    runtimesProbes.probeOnce('runtimes', () => findRuntimes(undefined)),
    prepareSystemMounts(settings.folder),
    processLimitProbes.probeOnce('process limit', findProcessLimitLetter),
  ]);
  const cgroup =
    process.platform === 'linux' && isConsidered(CGROUPS_FEATURE)
      ? await findCgroupParents(marker)
      : undefined;
  const filterFile = writeFilter(settings.folder, cgroup?.memory !== undefined);
  const base: Confinement = {
    level: 'limits',
    means: 'plain',
    processLimitIsOwn: false,
    processLimitLetter: letter,
    tools: { sh: '/bin/sh' },
    bwrapFlags: [],
    systemMounts: system.mounts,
    runtimeMounts: buildReadOnlyMounts(runtimes.mounts),
    etcMounts: system.etcMounts,
    hostCores: availableParallelism(),
    marker,
  };
  for (const name of ['bwrap', 'setpriv', 'unshare', 'taskset'] as const) {
    const path = findTool(name);
    if (path !== undefined) base.tools[name] = path;
  }
  if (cgroup !== undefined) base.cgroup = cgroup;
  const disks: DiskProbeResult = isConsidered(DISKS_FEATURE)
    ? await probeDisks(settings.folder)
    : { reason: 'they are excluded' };
  if ('tools' in disks) base.disks = disks.tools;
  if (settings.reservedMemoryBytes !== undefined) base.reservedMemoryBytes = settings.reservedMemoryBytes;
  if (filterFile !== undefined) base.filterFile = filterFile;
  const failures: string[] = [];
  for (const candidate of listCandidates(base, settings.containment)) {
    if (!isConsidered(candidate.name)) continue;
    const error = await candidateErrors.probeOnce(candidate.name, () =>
      tryCandidate(candidate.confinement, settings.folder),
    );
    if (error !== undefined) {
      failures.push(`${candidate.name}: ${error}`);
      continue;
    }
    return await describeHost(candidate, { runtimes, settings, cgroup, disks, failures });
  }
  const requirement =
    settings.containment === undefined ? '' : `Containment "${settings.containment}" is required, but `;
  throw new Error(
    `${requirement}this host cannot run an app. ${failures.join(' ') || explainMissingSandbox(base)}`,
  );
}

/** Writes the seccomp filter for bubblewrap; returns undefined for an architecture without one. */
function writeFilter(folder: string, countsMemory: boolean): string | undefined {
  const filter = process.platform === 'linux' ? buildSeccompFilter(arch(), countsMemory) : undefined;
  if (filter === undefined) return undefined;
  const path = join(folder, 'seccomp.bpf');
  writeFileSync(path, filter, { mode: 0o600 });
  return path;
}

interface ProbeResults {
  runtimes: FoundRuntimes;
  settings: HostSettings;
  cgroup: CgroupParents | undefined;
  disks: DiskProbeResult;
  failures: string[];
}

async function describeHost(
  candidate: ConfinementCandidate,
  { runtimes, settings, cgroup, disks, failures }: ProbeResults,
): Promise<{ host: Host; confinement: Confinement }> {
  const { confinement } = candidate;
  // At level limits an app accesses the runtimes as its own user.
  const user = confinement.means === 'bwrap' ? undefined : confinement.users?.first;
  const usableRuntimes =
    user === undefined
      ? runtimes
      : await runtimesProbes.probeOnce(`runtimes of ${user}`, () => findRuntimes(user));
  const host: Host = {
    platform: process.platform === 'darwin' ? 'darwin' : 'linux',
    architecture: arch(),
    cores: confinement.hostCores,
    memoryBytes: computeUsableMemoryBytes(listMemoryScopes()),
    containment: confinement.level,
    containmentReason:
      confinement.level === 'sandbox' ? '' : explainContainment(confinement, settings, failures),
    enforcement: describeEnforcement(confinement, cgroup),
    notHeld: describeGaps(confinement, cgroup, disks),
    runtimes: usableRuntimes.runtimes,
    missingRuntimes: usableRuntimes.missing,
  };
  return { host, confinement };
}

function explainMissingSandbox({ tools }: Confinement): string {
  if (process.platform !== 'linux') return 'Sandboxes need Linux; this host runs macOS.';
  return tools.bwrap === undefined ? 'There is no bubblewrap (the command bwrap) on this host.' : '';
}

function explainContainment(confinement: Confinement, settings: HostSettings, failures: string[]): string {
  const warning = hasServerUser(confinement) ? ` ${SHARED_USER_WARNING}` : '';
  if (settings.containment === 'limits') return `The configuration requires level "limits".${warning}`;
  return `${explainMissingSandbox(confinement)} ${failures.join(' ')}`.trim() + warning;
}

/** At level limits an app has a user of its own only when the runner is root. */
function hasServerUser({ level, users }: Confinement): boolean {
  return level === 'limits' && users === undefined;
}

const SHARED_USER_WARNING =
  process.getuid?.() === 0
    ? 'Apps run as root, as the server does: anyone who may push an app is root on this machine.'
    : "Apps have all rights of the server's user. Anyone who may push an app, such as a key of the role developer, can read and change its database, keys and files.";

/** Describes what an app can do here despite its limits, the most severe first. */
function describeGaps(
  confinement: Confinement,
  cgroup: CgroupParents | undefined,
  disks: DiskProbeResult,
): string[] {
  const isSandbox = confinement.level === 'sandbox';
  const gaps: string[] = [];
  if (hasServerUser(confinement)) gaps.push(SHARED_USER_WARNING);
  if (!isSandbox) gaps.push('Apps have the network of this machine.');
  if (cgroup?.memory === undefined) {
    gaps.push(
      isSandbox
        ? 'A watchdog enforces the memory limit, not a cgroup. Buffers of sockets, shared mappings that no process reads and kernel objects count only when the host runs short of memory.'
        : 'A watchdog enforces the memory limit, not a cgroup. Files in memory sent to another process, pages moved to pipes, System V shared memory, buffers of sockets and kernel objects count only when the host runs short of memory.',
    );
  }
  if ('reason' in disks) {
    gaps.push(
      `A watchdog enforces the disk limit, not a file system for each run (${disks.reason}). A run may hide files by sending them over a socket, or by mapping and closing them. It ends only when the free space of the disk has fallen by more than its limit.`,
    );
  } else if (!isSandbox)
    gaps.push(
      'Apps can write to /tmp, /var/tmp and /dev/shm of this machine; a watchdog measures these files.',
    );
  if (cgroup?.cpu === undefined) {
    gaps.push(
      isSandbox
        ? 'No cgroup divides processor time: runs on the same cores slow each other down.'
        : 'No cgroup limits processor time: an app can use every core.',
    );
  }
  return gaps;
}

function describeEnforcement(
  confinement: Confinement,
  cgroup: CgroupParents | undefined,
): Host['enforcement'] {
  const nameFile = (place: { version: 1 | 2 } | undefined, version1: string, version2: string): string =>
    place === undefined ? '' : place.version === 1 ? `cgroup v1 ${version1}` : `cgroup v2 ${version2}`;
  const hasOwnProcessLimit = confinement.processLimitIsOwn && confinement.processLimitLetter !== '';
  const { taskset } = confinement.tools;
  const affinity = confinement.level === 'sandbox' ? 'CPU affinity' : 'CPU affinity, which an app can undo';
  const memory = nameFile(cgroup?.memory, 'memory.limit_in_bytes', 'memory.max');
  const processes = [
    nameFile(cgroup?.pids, 'pids.max', 'pids.max'),
    hasOwnProcessLimit ? 'RLIMIT_NPROC' : '',
    'watchdog',
  ];
  return {
    memory:
      memory === ''
        ? 'a watchdog on resident memory, page tables and open files, and RLIMIT_DATA one GiB above the limit'
        : `${memory}, and RLIMIT_DATA one GiB above the limit`,
    cores:
      nameFile(cgroup?.cpu, 'cpu.cfs_quota_us', 'cpu.max') || (taskset === undefined ? 'not held' : affinity),
    processes: processes.filter((text) => text !== '').join(', '),
    disk:
      confinement.disks === undefined
        ? 'RLIMIT_FSIZE for each file, and a watchdog on files and free space'
        : 'a file system of its own for each run (ext4 on a loop device), and a watchdog',
    tree: confinement.means === 'plain' ? 'process group, descent and environment marker' : 'pid namespace',
  };
}

/** Returns the option letter of ulimit for processes: p in dash and ash, u in bash and similar shells. */
async function findProcessLimitLetter(): Promise<Confinement['processLimitLetter']> {
  for (const letter of ['p', 'u'] as const) {
    // In bash -p is the size of a pipe, which cannot be set.
    const { ok } = await runCommand('/bin/sh', [
      '-c',
      `ulimit -${letter} 10000 && test "$(ulimit -${letter})" = 10000`,
    ]);
    if (ok) return letter;
  }
  return '';
}

/** Tools that make disks, or the reason why there are none. */
type DiskProbeResult = { tools: DiskTools } | { reason: string };

/** Mounts a disk in a temporary mount namespace. Returns the tools, or the reason why disks are unavailable. */
export async function probeDisks(folder: string): Promise<DiskProbeResult> {
  if (process.platform !== 'linux') return { reason: 'loop devices need Linux' };
  if (process.getuid?.() !== 0) return { reason: 'only root can mount them' };
  const [unshare, mkfs, mount, umount] = ['unshare', 'mkfs.ext4', 'mount', 'umount'].map(findTool);
  const losetup = findTool('losetup');
  if (!unshare || !mkfs || !mount || !umount || !losetup)
    return { reason: 'unshare, mkfs.ext4 (e2fsprogs), mount, umount or losetup is missing' };
  const disksFolder = join(folder, 'disks');
  const tools: DiskTools = { folder: disksFolder, unshare, mkfs, mount, umount, losetup };
  rmSync(disksFolder, { recursive: true, force: true });
  const device = `device ${statSync(folder).dev}`;
  const { ok, error } = await mountProbes.probeOnce(device, () => mountDisk(tools));
  return ok ? { tools } : { reason: error };
}

/** Makes a disk, mounts it in a mount namespace of its own, writes a file to it and removes it. */
async function mountDisk({ folder, unshare, mkfs, mount }: DiskTools): Promise<CommandResult> {
  const disk = join(folder, 'probe');
  mkdirSync(disk, { recursive: true, mode: 0o711 });
  const script = `set -e
    head -c 4194304 /dev/zero > "$1.image"
    "$2" ${MKFS_OPTIONS.join(' ')} "$1.image"
    "$3" -t ext4 -o ${MOUNT_OPTIONS} "$1.image" "$1"
    : > "$1/file"`;
  const result = await runCommand(unshare, [
    ...['--mount', '--propagation', 'slave', '/bin/sh', '-c', script, 'sh'],
    ...[disk, mkfs, mount],
  ]);
  rmSync(folder, { recursive: true, force: true });
  return result;
}
