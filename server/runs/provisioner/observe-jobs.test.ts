import { describe, expect, test } from 'vitest';
import type { ListedJob } from './adapters/adapter.ts';
import { createJob, listNewReasons, MISSING_GRACE_MS, observeJobs } from './observe-jobs.ts';
import type { WorkerJob } from './store.ts';

const NOW = 1_000_000_000;
const LONG_AGO = NOW - MISSING_GRACE_MS;

const buildRow = (fields: Partial<WorkerJob> = {}): WorkerJob => ({
  ...createJob('job-a', { adapter: 'slurm', id: '7', now: NOW - 1000 }),
  ...fields,
});
const buildListed = (fields: Partial<ListedJob> = {}): ListedJob => ({
  ...{ name: 'job-a', id: '7', state: 'running', pending: null, failure: null },
  ...fields,
});

interface Case {
  rows?: WorkerJob[];
  listed?: ListedJob[];
  registered?: string[];
  everRegistered?: string[];
}
const observe = ({ rows = [], listed = [], registered = [], everRegistered = registered }: Case) =>
  observeJobs({
    ...{ adapter: 'slurm', rows, listed, registered: new Set(registered) },
    ...{ everRegistered: new Set(everRegistered), now: NOW },
  });

describe('W4: a job stays', () => {
  test.each<[string, Case, Partial<WorkerJob>]>([
    [
      'which an earlier server started',
      { listed: [buildListed()] },
      { id: '7', state: 'running', running_since: NOW },
    ],
    [
      'whose server was killed before it knew the id',
      { rows: [buildRow({ id: null })], listed: [buildListed({ state: 'pending' })] },
      { id: '7', state: 'pending', running_since: null },
    ],
    [
      'that runs since earlier',
      { rows: [buildRow({ state: 'running', running_since: 5 })], listed: [buildListed()] },
      { running_since: 5 },
    ],
    [
      'that waits again after a fault of its node',
      {
        rows: [buildRow({ state: 'running', running_since: 5 })],
        listed: [buildListed({ state: 'pending' })],
      },
      { state: 'pending', running_since: null },
    ],
    [
      'that waits for its turn',
      {
        rows: [buildRow({ blocked_since: 5 })],
        listed: [buildListed({ state: 'pending', pending: { text: 'Priority', isBlocked: false } })],
      },
      { pending_reason: 'Priority', blocked_since: null },
    ],
    [
      'that cannot start, since the first time that the cluster said so',
      {
        rows: [buildRow({ blocked_since: 5 })],
        listed: [
          buildListed({ state: 'pending', pending: { text: 'ImagePullBackOff: x', isBlocked: true } }),
        ],
      },
      { pending_reason: 'ImagePullBackOff: x', blocked_since: 5 },
    ],
    [
      'that could not start and runs now',
      { rows: [buildRow({ pending_reason: 'ErrImagePull', blocked_since: 5 })], listed: [buildListed()] },
      { pending_reason: null, blocked_since: null },
    ],
    ['that the list does not show yet', { rows: [buildRow()] }, { state: 'starting', missing_since: NOW }],
    [
      'that was requested long ago, after the first list without it',
      { rows: [buildRow({ requested_at: LONG_AGO })] },
      { missing_since: NOW },
    ],
    [
      'that a list lacked, and the next one has',
      { rows: [buildRow({ missing_since: LONG_AGO })], listed: [buildListed()] },
      { missing_since: null },
    ],
    [
      'that is not listed, while its worker is registered',
      { rows: [buildRow({ missing_since: LONG_AGO })], registered: ['job-a'] },
      { worker_seen_at: NOW },
    ],
    [
      'that was unneeded, until its worker registered',
      { rows: [buildRow({ unneeded_since: 5 })], listed: [buildListed()], registered: ['job-a'] },
      { unneeded_since: null },
    ],
  ])('%s', (_, input, columns) => {
    const { jobs, ended } = observe(input);
    expect(jobs).toMatchObject([{ name: 'job-a', adapter: 'slurm', ...columns }]);
    expect(ended).toEqual([]);
  });
});

describe('a job ends', () => {
  test.each<[string, Case, RegExp[]]>([
    ['well', { rows: [buildRow()], listed: [buildListed({ state: 'ended' })] }, []],
    [
      'before its worker registered, which is a failure',
      { rows: [buildRow()], listed: [buildListed({ state: 'ended', failure: 'exit code 127' })] },
      [/^Job job-a \(7\) ended before its worker registered: exit code 127\./],
    ],
    [
      'badly after its worker registered, which is none',
      {
        rows: [buildRow({ worker_seen_at: 5 })],
        listed: [buildListed({ state: 'ended', failure: 'NODE_FAIL' })],
      },
      [],
    ],
    [
      'badly after a worker that left before anybody saw it, which is none',
      {
        rows: [buildRow()],
        listed: [buildListed({ state: 'ended', failure: 'NODE_FAIL' })],
        everRegistered: ['job-a'],
      },
      [],
    ],
    [
      'because it was stopped, which is none',
      {
        rows: [buildRow({ stop_requested_at: 5 })],
        listed: [buildListed({ state: 'ended', failure: 'CANCELLED' })],
      },
      [],
    ],
    [
      'because the cluster lost it',
      { rows: [buildRow({ missing_since: LONG_AGO })] },
      [/the cluster no longer lists it/],
    ],
    ['because it was never submitted', { rows: [buildRow({ id: null, missing_since: LONG_AGO })] }, []],
  ])('%s', (_, input, failures) => {
    const observation = observe(input);
    expect(observation.jobs).toEqual([]);
    expect(observation.ended).toEqual(['job-a']);
    expect(observation.failures).toEqual(failures.map((pattern) => expect.stringMatching(pattern)));
  });
});

test('a job of an earlier server that has ended is no job', () => {
  expect(observe({ listed: [buildListed({ state: 'ended', failure: 'exit code 1' })] })).toEqual({
    ...{ jobs: [], ended: [], failures: [], registrations: 0 },
  });
});

test('only the first registration of a worker is counted', () => {
  const input = { listed: [buildListed()], registered: ['job-a'] };
  expect(observe({ ...input, rows: [buildRow()] }).registrations).toBe(1);
  expect(observe({ ...input, rows: [buildRow({ worker_seen_at: 5 })] }).registrations).toBe(0);
});

test('a new pending reason is listed once, and a change of its message is none', () => {
  const nodes = (count: number) => buildRow({ pending_reason: `Unschedulable: 0/${count} nodes` });
  const blocked = buildRow({ pending_reason: 'ErrImagePull: x', blocked_since: 5 });
  expect(listNewReasons([buildRow()], [nodes(3), nodes(3), blocked])).toEqual([
    { reason: 'Unschedulable: 0/3 nodes', jobs: 2, isBlocked: false },
    { reason: 'ErrImagePull: x', jobs: 1, isBlocked: true },
  ]);
  expect(listNewReasons([nodes(3)], [nodes(4), buildRow()])).toEqual([]);
});
