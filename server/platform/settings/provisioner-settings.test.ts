import { describe, expect, test } from 'vitest';
import { ConfigError } from '../config-error.ts';
import { readProvisionerSettings } from './provisioner-settings.ts';

const COMMAND = {
  SWITCHYARD_PROVISIONER: 'command',
  SWITCHYARD_COMMAND_START: 'start',
  SWITCHYARD_COMMAND_LIST: 'list',
  SWITCHYARD_COMMAND_STOP: 'stop',
};
const SLURM = { SWITCHYARD_PROVISIONER: 'slurm' };
const KUBERNETES = { SWITCHYARD_PROVISIONER: 'kubernetes', SWITCHYARD_KUBERNETES_IMAGE: 'worker:1' };

describe('the error for a wrong setting names it', () => {
  test.each([
    [{}, 'SWITCHYARD_PROVISIONER', 'ray'],
    [{}, 'SWITCHYARD_PROVISIONER_MAX', '5'],
    [{}, 'SWITCHYARD_SLURM_ARGS', '--mem=1G'],
    [SLURM, 'SWITCHYARD_PROVISIONER_MAX', '0'],
    [SLURM, 'SWITCHYARD_PROVISIONER_MAX', 'many'],
    [SLURM, 'SWITCHYARD_PROVISIONER_IDLE', '-1'],
    [SLURM, 'SWITCHYARD_PROVISIONER_IDLE', '5m'],
    [SLURM, 'SWITCHYARD_PROVISIONER_SERVER', 'yard.example'],
    [SLURM, 'SWITCHYARD_PROVISIONER_SERVER', 'https://yard.example/?a'],
    [SLURM, 'SWITCHYARD_PROVISIONER_LABELS', 'gpu,$(id)'],
    [SLURM, 'SWITCHYARD_PROVISIONER_SIZE', '4'],
    [SLURM, 'SWITCHYARD_PROVISIONER_SIZE', 'cores=0'],
    [SLURM, 'SWITCHYARD_PROVISIONER_SIZE', 'cores=4,memory=much'],
    [SLURM, 'SWITCHYARD_COMMAND_START', 'start'],
    [SLURM, 'SWITCHYARD_SLURM_ARGS', 'main'],
    [SLURM, 'SWITCHYARD_SLURM_ARGS', '--comment="no end'],
    [SLURM, 'SWITCHYARD_SLURM_ARGS', '--array=1-4'],
    [SLURM, 'SWITCHYARD_SLURM_ARGS', '-J mine'],
    [SLURM, 'SWITCHYARD_SLURM_ARGS', '--export=ALL'],
    [SLURM, 'SWITCHYARD_SLURM_ARGS', '--cpus-per-task=four'],
    [SLURM, 'SWITCHYARD_SLURM_ARGS', '--mem=lots'],
    [COMMAND, 'SWITCHYARD_COMMAND_STOP', ''],
    [COMMAND, 'SWITCHYARD_KUBERNETES_IMAGE', 'worker:1'],
    [KUBERNETES, 'SWITCHYARD_KUBERNETES_IMAGE', ''],
    [KUBERNETES, 'SWITCHYARD_KUBERNETES_NAMESPACE', 'Team A'],
    [KUBERNETES, 'SWITCHYARD_KUBERNETES_QUEUE', 'a/b'],
  ])('%o %s="%s"', (correct, name, value) => {
    const read = () => readProvisionerSettings({ ...correct, [name]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^${name} .*\\.$`));
  });
});

test('there is no provisioner by default', () => {
  expect(readProvisionerSettings({})).toBeNull();
  expect(readProvisionerSettings({ SWITCHYARD_PROVISIONER: 'none' })).toBeNull();
});

test('the arguments of sbatch keep what is quoted, and give the size of a worker', () => {
  const read = (args: string) => {
    const adapter = readProvisionerSettings({ ...SLURM, SWITCHYARD_SLURM_ARGS: args })?.adapter;
    if (adapter?.kind !== 'slurm') throw new Error('The adapter is not Slurm.');
    return { args: adapter.args, ...adapter.size };
  };
  const GIB = 2 ** 30;
  expect(read('')).toEqual({ args: [], cores: 1, memoryBytes: null });
  expect(read('--partition=main -c 4 --mem=16G')).toEqual({
    args: ['--partition=main', '-c', '4', '--mem=16G'],
    cores: 4,
    memoryBytes: 16 * GIB,
  });
  expect(read(`--comment="two words" -c8 --constraint='a|b'`)).toEqual({
    args: ['--comment=two words', '-c8', '--constraint=a|b'],
    cores: 8,
    memoryBytes: null,
  });
  expect(read('--cpus-per-task=2 --mem-per-cpu=2048')).toMatchObject({ cores: 2, memoryBytes: 4 * GIB });
  expect(read('--mem=0')).toMatchObject({ memoryBytes: null });
});

test('correct settings are read', () => {
  const env = {
    ...COMMAND,
    PATH: '/usr/bin',
    SWITCHYARD_PROVISIONER_MAX: '4',
    SWITCHYARD_PROVISIONER_IDLE: '60',
    SWITCHYARD_PROVISIONER_SERVER: 'https://yard.example/',
    SWITCHYARD_PROVISIONER_LABELS: 'region=eu, gpu',
    SWITCHYARD_PROVISIONER_SIZE: 'cores=8,memory=32G',
  };
  expect(readProvisionerSettings(env)).toEqual({
    max: 4,
    idleMs: 60_000,
    server: 'https://yard.example',
    labels: ['gpu', 'region=eu'],
    env: { PATH: '/usr/bin' },
    adapter: {
      kind: 'command',
      start: 'start',
      list: 'list',
      stop: 'stop',
      size: { cores: 8, memoryBytes: 32 * 2 ** 30 },
    },
  });
});
