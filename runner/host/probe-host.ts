/** Finds out, by trying, what this host can do: how apps are held here, and which runtimes there are. */
import { writeFileSync } from 'node:fs';
import { arch, availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findTool, runCommand } from '../process/command.ts';
import type { Confinement } from '../sandbox/launch-plan.ts';
import { type CgroupParents, findCgroupParents } from '../sandbox/run-cgroups.ts';
import { buildSeccompFilter } from '../sandbox/seccomp.ts';
import { buildReadOnlyMounts, prepareSystemMounts } from '../sandbox/system-mounts.ts';
import type { Host, RunnerSettings } from '../types.ts';
import { computeUsableMemoryBytes, listMemoryScopes } from './memory-scopes.ts';
import { type ConfinementCandidate, listCandidates, tryCandidate } from './probe-confinement.ts';
import { DISKS_FEATURE, type DiskProbeResult, probeDisks } from './probe-disks.ts';
import { type FoundRuntimes, findRuntimes } from './runtimes.ts';

/**
 * What was found out in this process, by what was asked and the PATH that it was asked with. A host does not change while a
 * process lives, and a program that starts many runners, as tests do, would spend most of their start on asking again: a
 * process is started for each answer, which costs in proportion to the memory of the one that asks.
 */
const answers = new Map<string, Promise<unknown>>();

/** `keeps`: which answers hold for the next one who asks, too. */
function once<T>(
  question: string,
  ask: () => Promise<T>,
  keeps: (answer: T) => boolean = () => true,
): Promise<T> {
  const key = JSON.stringify([question, process.env.PATH]);
  const known = (answers.get(key) as Promise<T> | undefined) ?? ask();
  answers.set(key, known);
  known.then(
    (answer) => keeps(answer) || answers.delete(key),
    () => answers.delete(key),
  );
  return known;
}

/** By this name `consider` is asked whether runs get cgroups of their own. */
export const CGROUPS_FEATURE = 'cgroups';

/**
 * Throws with a sentence when the required level is not to be had.
 *
 * @param consider leaves out ways of holding an app, by name; tests go through all of them with it.
 */
export async function probeHost(
  settings: RunnerSettings,
  marker: string,
  consider: (name: string) => boolean = () => true,
): Promise<{ host: Host; confinement: Confinement }> {
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    throw new Error(`The runner works on Linux and macOS; this host runs ${process.platform}.`);
  }
  const [runtimes, system, letter] = await Promise.all([
    once('runtimes', () => findRuntimes(undefined)),
    prepareSystemMounts(settings.folder),
    once('process limit', processLimitLetter),
  ]);
  const cgroup =
    process.platform === 'linux' && consider(CGROUPS_FEATURE) ? await findCgroupParents(marker) : undefined;
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
  const disks: DiskProbeResult = consider(DISKS_FEATURE)
    ? // What is wrong with this folder may not be with the next.
      await probeDisks(settings.folder)
    : { trouble: 'they are not considered' };
  if ('tools' in disks) base.disks = disks.tools;
  if (settings.reservedMemoryBytes !== undefined) base.keepFreeBytes = settings.reservedMemoryBytes;
  if (filterFile !== undefined) base.filterFile = filterFile;
  const failures: string[] = [];
  for (const candidate of listCandidates(base, settings.containment)) {
    if (!consider(candidate.name)) continue;
    // What is wrong with this folder may not be with the next.
    const trouble = await once(
      `trouble of ${candidate.name}`,
      () => tryCandidate(candidate.confinement, settings.folder),
      (answer) => answer === undefined,
    );
    if (trouble !== undefined) {
      failures.push(`${candidate.name}: ${trouble}`);
      continue;
    }
    return await settle(candidate, { runtimes, settings, cgroup, disks, failures });
  }
  const wanted =
    settings.containment === undefined ? '' : `Containment "${settings.containment}" is required, but `;
  throw new Error(`${wanted}this host cannot run an app. ${failures.join(' ') || whyNoSandbox(base)}`);
}

/** Where bubblewrap finds the filter of system calls; undefined for an architecture that none was written for. */
function writeFilter(folder: string, countsMemory: boolean): string | undefined {
  const filter = process.platform === 'linux' ? buildSeccompFilter(arch(), countsMemory) : undefined;
  if (filter === undefined) return undefined;
  const path = join(folder, 'seccomp.bpf');
  writeFileSync(path, filter, { mode: 0o600 });
  return path;
}

interface Found {
  runtimes: FoundRuntimes;
  settings: RunnerSettings;
  cgroup: CgroupParents | undefined;
  disks: DiskProbeResult;
  failures: string[];
}

async function settle(
  candidate: ConfinementCandidate,
  { runtimes, settings, cgroup, disks, failures }: Found,
): Promise<{ host: Host; confinement: Confinement }> {
  const { confinement } = candidate;
  // At level limits an app sees runtimes with the eyes of its own user.
  const user = confinement.means === 'bwrap' ? undefined : confinement.users?.first;
  const usable = user === undefined ? runtimes : await once(`runtimes of ${user}`, () => findRuntimes(user));
  const host: Host = {
    platform: process.platform === 'darwin' ? 'darwin' : 'linux',
    architecture: arch(),
    cores: confinement.hostCores,
    memoryBytes: computeUsableMemoryBytes(listMemoryScopes()),
    containment: confinement.level,
    containmentReason: confinement.level === 'sandbox' ? '' : noteFor(confinement, settings, failures),
    enforcement: enforcementOf(confinement, cgroup),
    notHeld: notHeldBy(confinement, cgroup, disks),
    runtimes: usable.runtimes,
    missingRuntimes: usable.missing,
  };
  return { host, confinement };
}

function whyNoSandbox({ tools }: Confinement): string {
  if (process.platform !== 'linux') return 'Sandboxes need Linux; this host runs macOS.';
  return tools.bwrap === undefined ? 'There is no bubblewrap (the command bwrap) on this host.' : '';
}

function noteFor(confinement: Confinement, settings: RunnerSettings, failures: string[]): string {
  const asRoot = sharesUser(confinement) ? ` ${SAME_RIGHTS}` : '';
  if (settings.containment === 'limits') return `The setting asks for limits and no more.${asRoot}`;
  return `${whyNoSandbox(confinement)} ${failures.join(' ')}`.trim() + asRoot;
}

/** At level limits an app has a user of its own only where we are root. */
function sharesUser({ level, users }: Confinement): boolean {
  return level === 'limits' && users === undefined;
}

const SAME_RIGHTS =
  process.getuid?.() === 0
    ? 'Apps run as root, as the server does: anyone who may push an app is root on this machine.'
    : "Apps have all rights of the server's user: anyone who may push an app, such as a key of the role developer, can read and change its database, keys and files.";

/** What no limit holds here, most severe first. */
function notHeldBy(
  confinement: Confinement,
  cgroup: CgroupParents | undefined,
  disks: DiskProbeResult,
): string[] {
  const isSandbox = confinement.level === 'sandbox';
  const found: string[] = [];
  if (sharesUser(confinement)) found.push(SAME_RIGHTS);
  if (!isSandbox) found.push('Apps have the network of this machine.');
  if (cgroup?.memory === undefined) {
    found.push(
      isSandbox
        ? 'Memory is held by a watchdog and not by a cgroup: buffers of sockets, shared mappings that no process looks at and kernel objects count only when the host runs short of memory.'
        : 'Memory is held by a watchdog and not by a cgroup: files in memory sent to another process, pages given to pipes, System V shared memory, buffers of sockets and kernel objects count only when the host runs short of memory.',
    );
  }
  if ('trouble' in disks) {
    found.push(
      `Disk space is held by a watchdog and not by a file system for each run (${disks.trouble}): a run that hides files, by sending them over a socket or by mapping and closing them, is ended only when the free space of the disk has fallen by more than its limit.`,
    );
  } else if (!isSandbox)
    found.push(
      'Apps can write to /tmp, /var/tmp and /dev/shm of this machine; a watchdog holds what they put there.',
    );
  if (cgroup?.cpu === undefined) {
    found.push(
      isSandbox
        ? 'Processor time is not shared out by a cgroup: runs on the same cores slow each other down.'
        : 'Processor time is not held by a cgroup: an app can use every core.',
    );
  }
  return found;
}

function enforcementOf(confinement: Confinement, cgroup: CgroupParents | undefined): Host['enforcement'] {
  const by = (place: { version: 1 | 2 } | undefined, version1: string, version2: string): string =>
    place === undefined ? '' : place.version === 1 ? `cgroup v1 ${version1}` : `cgroup v2 ${version2}`;
  const own = confinement.processLimitIsOwn && confinement.processLimitLetter !== '';
  const { taskset } = confinement.tools;
  const affinity = confinement.level === 'sandbox' ? 'CPU affinity' : 'CPU affinity, which an app can undo';
  const memory = by(cgroup?.memory, 'memory.limit_in_bytes', 'memory.max');
  const processes = [by(cgroup?.pids, 'pids.max', 'pids.max'), own ? 'RLIMIT_NPROC' : '', 'watchdog'];
  return {
    memory:
      memory === ''
        ? 'a watchdog on resident memory, page tables and open files, and RLIMIT_DATA one GiB above the limit'
        : `${memory}, and RLIMIT_DATA one GiB above the limit`,
    cores: by(cgroup?.cpu, 'cpu.cfs_quota_us', 'cpu.max') || (taskset === undefined ? 'not held' : affinity),
    processes: processes.filter((text) => text !== '').join(', '),
    disk:
      confinement.disks === undefined
        ? 'RLIMIT_FSIZE for each file, and a watchdog on files and free space'
        : 'a file system of its own for each run (ext4 on a loop device), and a watchdog',
    tree: confinement.means === 'plain' ? 'process group, descent and environment marker' : 'pid namespace',
  };
}

/** dash and ash say -p, bash and its like -u. */
async function processLimitLetter(): Promise<Confinement['processLimitLetter']> {
  for (const letter of ['p', 'u'] as const) {
    // bash knows -p too, but as the size of a pipe, which cannot be set.
    const { ok } = await runCommand('/bin/sh', [
      '-c',
      `ulimit -${letter} 10000 && test "$(ulimit -${letter})" = 10000`,
    ]);
    if (ok) return letter;
  }
  return '';
}
