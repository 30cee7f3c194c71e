/**
 * Reads the part of a machine that belongs to this process. In the job of a cluster, the scheduler has allocated it. Otherwise it
 * is bounded by cgroups, such as those of a container, or it is the whole machine.
 */
import { statfsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import {
  type CgroupHierarchy,
  listCgroupHierarchies,
  listGroupAndAncestors,
  readGroupFile,
  readMemoryLimit,
} from '../process/cgroup-hierarchies.ts';

export interface Allocation {
  /** May be a fraction in a container. */
  cores: number;
  memoryBytes: number;
  scratchBytes: number;
}

/** The tightest limits of the cgroups of the process; null where none is set. */
export interface GroupLimits {
  cores: number | null;
  memoryBytes: number | null;
}

/** Bytes in each unit of an amount of memory, such as those of Slurm. */
export const BINARY_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  T: 1024 ** 4,
};

/**
 * Returns the allocation of this process. In a Slurm job that is the job's, which Slurm itself enforces, or not, as the site
 * decided; a node may offer more CPUs than the machine has. Scratch disk is that of the machine.
 */
export function readAllocation(
  environment: Readonly<Record<string, string | undefined>>,
  limits: GroupLimits,
  machine: Allocation,
): Allocation {
  const isJob = (environment.SLURM_JOB_ID ?? '') !== '';
  const ofJob = isJob ? readSlurmJob(environment) : { cores: null, memoryBytes: null };
  return {
    cores: ofJob.cores ?? Math.min(limits.cores ?? machine.cores, machine.cores),
    memoryBytes:
      ofJob.memoryBytes ?? Math.min(limits.memoryBytes ?? machine.memoryBytes, machine.memoryBytes),
    scratchBytes: machine.scratchBytes,
  };
}

/** Memory is given for the node or for each CPU. A value of 0 stands for all memory of the node. */
function readSlurmJob(environment: Readonly<Record<string, string | undefined>>): GroupLimits {
  const onNode = parseCount(environment.SLURM_CPUS_ON_NODE);
  const cores = parseCount(environment.SLURM_CPUS_PER_TASK) ?? onNode;
  const perCpu = parseSlurmMemory(environment.SLURM_MEM_PER_CPU);
  const cpus = onNode ?? cores;
  return {
    cores,
    memoryBytes:
      parseSlurmMemory(environment.SLURM_MEM_PER_NODE) ??
      (perCpu === null || cpus === null ? null : perCpu * cpus),
  };
}

function parseCount(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,6}$/.test(text) ? Number(text) : null;
}

/** Slurm counts memory in megabytes of 1024 × 1024 bytes; its commands also accept units. */
function parseSlurmMemory(text: string | undefined): number | null {
  const [, digits, unit = ''] = /^(\d{1,12})([KMGT]?)$/.exec(text ?? '') ?? [];
  const bytes = Number(digits) * (BINARY_UNITS[unit || 'M'] ?? 0);
  return digits === undefined || bytes === 0 ? null : bytes;
}

/** Parses `cpu.max` of cgroup version 2, such as `150000 100000`, into cores; null for `max`. */
export function parseCpuMax(text: string): number | null {
  const [quota = '', period = ''] = text.trim().split(/\s+/);
  return computeQuota(quota, period);
}

/** Returns the cores of a quota and its period in microseconds; null without a quota, which version 1 writes as -1. */
export function computeQuota(quota: string, period: string): number | null {
  if (!/^\d+$/.test(quota) || !/^[1-9]\d*$/.test(period)) return null;
  return Number(quota) / Number(period);
}

/** Reads the limits of the cgroups of this process and of the groups around it. */
export function readGroupLimits(): GroupLimits {
  const hierarchies = listCgroupHierarchies();
  return {
    cores: findTightest(hierarchies, 'cpu', readCpuLimit),
    memoryBytes: findTightest(
      hierarchies,
      'memory',
      (folder, version) => readMemoryLimit(folder, version) ?? null,
    ),
  };
}

function readCpuLimit(folder: string, version: 1 | 2): number | null {
  if (version === 2) return parseCpuMax(readGroupFile(folder, 'cpu.max') ?? '');
  const [quota = '', period = ''] = ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map(
    (file) => readGroupFile(folder, file)?.trim() ?? '',
  );
  return computeQuota(quota, period);
}

function findTightest(
  hierarchies: readonly CgroupHierarchy[],
  controller: string,
  read: (folder: string, version: 1 | 2) => number | null,
): number | null {
  const limits = hierarchies
    .filter(({ version, controllers }) => version === 2 || controllers.includes(controller))
    .flatMap((hierarchy) => listGroupAndAncestors(hierarchy).map((folder) => read(folder, hierarchy.version)))
    .filter((limit) => limit !== null);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** Returns the cores, the memory and the free disk space of the folder on this machine. */
export function readMachine(scratchFolder: string): Allocation {
  const { bavail, bsize } = statfsSync(scratchFolder);
  // File systems without a size, such as those over an object store, report 8 EiB.
  const scratchBytes = Math.min(bavail * bsize, Number.MAX_SAFE_INTEGER);
  return { cores: availableParallelism(), memoryBytes: totalmem(), scratchBytes };
}
