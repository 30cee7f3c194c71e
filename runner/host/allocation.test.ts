/** The allocation of a process: by Slurm, by cgroups, or the machine. */
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import {
  computeQuota,
  type GroupLimits,
  parseCpuMax,
  readAllocation,
  readGroupLimits,
  readMachine,
} from './allocation.ts';

const MIB = 1024 ** 2;
const MACHINE = { cores: 8, memoryBytes: 16_000 * MIB, scratchBytes: 5000 * MIB };
const NONE: GroupLimits = { cores: null, memoryBytes: null };
const JOB = { SLURM_JOB_ID: '17' };

test.each<[string, Record<string, string>, GroupLimits, readonly [cores: number, mebibytes: number]]>([
  ['the machine', {}, NONE, [8, 16_000]],
  ['a container', {}, { cores: 1.5, memoryBytes: 512 * MIB }, [1.5, 512]],
  ['a container with limits above the machine', {}, { cores: 64, memoryBytes: 64_000 * MIB }, [8, 16_000]],
  [
    'a job with CPUs for its task',
    { ...JOB, SLURM_CPUS_PER_TASK: '4', SLURM_CPUS_ON_NODE: '6', SLURM_MEM_PER_NODE: '9500' },
    NONE,
    [4, 9500],
  ],
  [
    'a job with CPUs on its node',
    { ...JOB, SLURM_CPUS_ON_NODE: '6', SLURM_MEM_PER_NODE: '9500' },
    NONE,
    [6, 9500],
  ],
  [
    'a job with memory for each CPU',
    { ...JOB, SLURM_CPUS_ON_NODE: '6', SLURM_MEM_PER_CPU: '2000' },
    NONE,
    [6, 12_000],
  ],
  [
    'a job with memory for each CPU of several tasks',
    { ...JOB, SLURM_CPUS_PER_TASK: '2', SLURM_CPUS_ON_NODE: '6', SLURM_MEM_PER_CPU: '2000' },
    NONE,
    [2, 12_000],
  ],
  ['a job with a unit', { ...JOB, SLURM_CPUS_ON_NODE: '6', SLURM_MEM_PER_NODE: '9G' }, NONE, [6, 9216]],
  [
    'a job on a node that offers more than the machine has',
    { ...JOB, SLURM_CPUS_ON_NODE: '16', SLURM_MEM_PER_NODE: '64000' },
    NONE,
    [16, 64_000],
  ],
  [
    'a job in a cgroup of the same size',
    { ...JOB, SLURM_CPUS_ON_NODE: '6', SLURM_MEM_PER_NODE: '9500' },
    { cores: 6, memoryBytes: 9500 * MIB },
    [6, 9500],
  ],
  [
    'a job with all memory of its node',
    { ...JOB, SLURM_CPUS_ON_NODE: '6', SLURM_MEM_PER_NODE: '0' },
    NONE,
    [6, 16_000],
  ],
  [
    'a job with all memory of a smaller group',
    { ...JOB, SLURM_CPUS_ON_NODE: '6' },
    { cores: null, memoryBytes: 512 * MIB },
    [6, 512],
  ],
  [
    'variables of Slurm outside a job',
    { SLURM_CPUS_ON_NODE: '2', SLURM_MEM_PER_NODE: '1000' },
    NONE,
    [8, 16_000],
  ],
  [
    'damaged variables',
    { ...JOB, SLURM_CPUS_ON_NODE: '2(x3)', SLURM_MEM_PER_NODE: 'much' },
    NONE,
    [8, 16_000],
  ],
])('%s', (_, environment, limits, [cores, mebibytes]) => {
  expect(readAllocation(environment, limits, MACHINE)).toEqual({
    ...{ cores, memoryBytes: mebibytes * MIB, scratchBytes: 5000 * MIB },
  });
});

test.each([
  ['max 100000', null],
  ['150000 100000\n', 1.5],
  ['200000 100000', 2],
  ['', null],
])('cpu.max %j is %j cores', (text, cores) => {
  expect(parseCpuMax(text)).toBe(cores);
});

test.each([
  ['-1', '100000', null],
  ['50000', '100000', 0.5],
  ['50000', '0', null],
  ['', '', null],
])('cpu.cfs_quota_us %j in a period of %j is %j cores', (quota, period, cores) => {
  expect(computeQuota(quota, period)).toBe(cores);
});

test('this machine and its groups can be read', () => {
  const machine = readMachine(tmpdir());
  const allocation = readAllocation({}, readGroupLimits(), machine);
  expect(allocation.cores).toBeGreaterThan(0);
  expect(allocation.cores).toBeLessThanOrEqual(machine.cores);
  expect(allocation.memoryBytes).toBeGreaterThan(64 * MIB);
  expect(allocation.memoryBytes).toBeLessThanOrEqual(machine.memoryBytes);
  expect(allocation.scratchBytes).toBeGreaterThanOrEqual(0);
});
