/** `squeue --json` of several versions. The fields that are left out are the ones nobody reads. */
import { describe, expect, test } from 'vitest';
import { parseSqueue } from './squeue.ts';

const PREFIX = 'switchyard-a-';
const parse = (jobs: object[]) => parseSqueue(JSON.stringify({ meta: {}, errors: [], jobs }), PREFIX);

/** Slurm 22.05: texts and numbers; an exit code is the status of wait(2). */
const old = (fields: object) => ({
  ...{ account: '', array_task_id: null, exit_code: 0, job_id: 7, job_state: 'PENDING' },
  ...{ name: `${PREFIX}one`, state_reason: 'None', start_time: 0 },
  ...fields,
});
const number = (value: number) => ({ set: true, infinite: false, number: value });
/** Slurm 23.11 and 24.05: lists of flags, and numbers that may be unset or infinite. */
const recent = (fields: object) => ({
  ...{ account: '', array_task_id: { set: false, infinite: false, number: 0 }, job_id: 7 },
  exit_code: exitCode('SUCCESS', 0),
  ...{ job_state: ['PENDING'], name: `${PREFIX}one`, state_reason: 'None', start_time: number(0) },
  ...fields,
});
const exitCode = (status: string, code: number) => ({
  status: [status],
  return_code: number(code),
  signal: { id: { set: false, infinite: false, number: 0 }, name: '' },
});

test.each([
  ['22.05, waiting', old({}), 'pending', null],
  ['22.05, running', old({ job_state: 'RUNNING' }), 'running', null],
  ['22.05, its processes end', old({ job_state: 'COMPLETING' }), 'running', null],
  ['22.05, ended well', old({ job_state: 'COMPLETED' }), 'ended', null],
  [
    '22.05, exit code 127',
    old({ job_state: 'FAILED', exit_code: 127 << 8, state_reason: 'NonZeroExitCode' }),
    'ended',
    'Slurm says FAILED, reason NonZeroExitCode, exit code 127',
  ],
  [
    '22.05, killed',
    old({ job_state: 'OUT_OF_MEMORY', exit_code: 9 }),
    'ended',
    'Slurm says OUT_OF_MEMORY, signal 9',
  ],
  ['22.05, cancelled', old({ job_state: 'CANCELLED' }), 'ended', 'Slurm says CANCELLED'],
  ['23.11, waiting', recent({}), 'pending', null],
  ['23.11, running', recent({ job_state: ['RUNNING'] }), 'running', null],
  ['23.11, starting', recent({ job_state: ['RUNNING', 'CONFIGURING'] }), 'pending', null],
  ['23.11, its processes end', recent({ job_state: ['COMPLETED', 'COMPLETING'] }), 'running', null],
  ['23.11, ended well', recent({ job_state: ['COMPLETED'] }), 'ended', null],
  [
    '23.11, exit code 1',
    recent({ job_state: ['FAILED'], exit_code: exitCode('ERROR', 1), state_reason: 'NonZeroExitCode' }),
    'ended',
    'Slurm says FAILED, reason NonZeroExitCode, exit code 1',
  ],
  [
    '23.11, the node went down',
    recent({ job_state: ['NODE_FAIL'], exit_code: exitCode('SUCCESS', 0) }),
    'ended',
    'Slurm says NODE_FAIL',
  ],
  ['a version with a number as an object', recent({ job_id: number(7) }), 'pending', null],
])('%s', (_, job, state, failure) => {
  expect(parse([job])).toEqual([{ name: `${PREFIX}one`, id: '7', state, pending: null, failure }]);
});

describe('the reason of a job that waits', () => {
  test.each([
    ['Priority', false],
    ['Resources', false],
    ['QOSMaxCpuPerUserLimit', false],
    ['AssocGrpCpuLimit', false],
    ['PartitionDown', false],
    ['JobHeldAdmin', false],
    ['PartitionConfig', true],
    ['PartitionTimeLimit', true],
    ['AssocMaxWallDurationPerJobLimit', true],
    ['QOSMaxCpuPerNode', true],
    ['QOSMinGRES', true],
    ['InvalidQOS', true],
  ])('%s, which blocks it: %s', (code, isBlocked) => {
    expect(parse([old({ state_reason: code })])).toMatchObject([{ pending: { text: code, isBlocked } }]);
    expect(parse([recent({ state_reason: code })])).toMatchObject([{ pending: { text: code, isBlocked } }]);
  });

  test('has the description of Slurm', () => {
    const job = recent({ state_reason: 'ReqNodeNotAvail', state_description: 'UnavailableNodes:n1' });
    expect(parse([job])).toMatchObject([{ pending: { text: 'ReqNodeNotAvail: UnavailableNodes:n1' } }]);
  });
});

test('jobs of others and those without a name are left out', () => {
  expect(parse([old({ name: 'switchyard-b-one' }), old({ name: null })])).toEqual([]);
});

/** The output of squeue 22.05.8, which ends with status 0. */
const SLURM_22_DOWN = {
  errors: [
    {
      ...{ description: 'Failed while looking for jobs', error_number: -1 },
      ...{ error: 'Unspecified error', source: 'slurm_load_jobs' },
    },
  ],
  jobs: [],
};

describe('W4: an answer without data is an error', () => {
  test.each<[string, object, string]>([
    [
      '22.05, slurmctld down',
      SLURM_22_DOWN,
      'squeue --json reported an error: Failed while looking for jobs.',
    ],
    [
      '23.11, slurmctld down',
      {
        errors: [{ description: 'Unable to contact slurm controller (connect failure)', error_number: 1901 }],
        ...{ warnings: [], jobs: [] },
      },
      'Unable to contact slurm controller (connect failure). Look whether slurmctld answers',
    ],
    ['an error without a text', { errors: [{}], jobs: [old({})] }, 'no description'],
    ['a job without an id', { errors: [], jobs: [old({ job_id: null })] }, 'without an id or a state'],
    ['a job without a state', { errors: [], jobs: [recent({ job_state: [] })] }, 'without an id or a state'],
  ])('%s', (_, document, message) => {
    expect(() => parseSqueue(JSON.stringify(document), PREFIX)).toThrow(message);
  });
});

describe('an output of another form is refused', () => {
  test.each([
    ['', 'printed no JSON'],
    ['squeue: unrecognized option', 'printed no JSON'],
    ['{"errors":[]}', 'printed no list of jobs'],
    ['[]', 'printed no list of jobs'],
  ])('%o', (text, message) => {
    expect(() => parseSqueue(text, PREFIX)).toThrow(message);
  });
});
