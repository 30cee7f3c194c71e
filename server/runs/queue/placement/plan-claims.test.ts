/** Plans of claims: a table of cases. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { formatLicenseKey } from '../run-requirements.ts';
import {
  type Host,
  planClaims,
  type RunningNeeds,
  type Situation,
  type WaitingNeeds,
} from './plan-claims.ts';

const SMALL: ExecutionClass = '6c9500mb870s';
const MIDDLE: ExecutionClass = '8c16gb12h';
const LARGE: ExecutionClass = '16c60gb12h';
const ACCOUNT = 'account' as AccountId;
const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

const buildHost = (
  id: string,
  cores: number | null,
  more: Partial<Host> & { labels?: string[] } = {},
): Host => ({
  id,
  offer: {
    labels: more.labels ?? [],
    // The memory of the largest class for each 16 cores.
    resources: cores === null ? null : { cores, memoryBytes: (cores / 16) * 60_000_000_000 },
    scope: null,
  },
  pools: more.pools ?? [{ classes: EXECUTION_CLASSES, slots: 10 }],
});

const waits = (
  id: string,
  executionClass: ExecutionClass,
  more: Partial<WaitingNeeds> = {},
): WaitingNeeds => ({
  id: id as RunId,
  ...{ executionClass, account: ACCOUNT, applicationUid: 'app', licenses: {}, labels: [] },
  ...{ createdAt: NOW, isClaimable: true, durationMs: 60 * MINUTE },
  ...more,
});
const runs = (
  workerId: string,
  executionClass: ExecutionClass,
  minutes: number,
  more: Partial<RunningNeeds> = {},
): RunningNeeds => ({
  ...{ workerId, executionClass, account: ACCOUNT, licenses: {}, hasSlot: true },
  endsAt: NOW + minutes * MINUTE,
  ...more,
});

interface Case extends Partial<Omit<Situation, 'self' | 'hosts' | 'licenses'>> {
  hosts?: Host[];
  waiting: WaitingNeeds[];
  licenses?: Record<string, number>;
}

/** Plans a claim of the first host, by default of one with 16 cores. */
function plan({ hosts = [buildHost('a', 16)], licenses = {}, ...rest }: Case): string[] {
  const [self = buildHost('a', 16)] = hosts;
  const totals = Object.entries(licenses).map(
    ([name, total]) => [formatLicenseKey(ACCOUNT, name), total] as const,
  );
  return planClaims({
    ...{ self, hosts, classes: EXECUTION_CLASSES, limit: 10, running: [], now: NOW },
    ...{ licenses: new Map(totals), quotas: { accounts: new Map(), applications: new Map() } },
    ...rest,
  }).started;
}

const GUROBI = { gurobi: 1 };
const SLOTS = buildHost('a', null, { pools: [{ classes: EXECUTION_CLASSES, slots: 2 }] });

test.each<[string, Case, string[]]>([
  [
    'as many runs as fit into the cores',
    { waiting: [waits('1', MIDDLE), waits('2', MIDDLE), waits('3', SMALL)] },
    ['1', '2'],
  ],
  [
    'at most as many runs as it has free slots',
    { limit: 1, waiting: [waits('1', SMALL), waits('2', SMALL)] },
    ['1'],
  ],
  [
    'nothing beside runs that use the cores',
    { running: [runs('a', LARGE, 5)], waiting: [waits('1', SMALL)] },
    [],
  ],
  [
    'a run beside a workflow that waits without a slot',
    { running: [runs('a', LARGE, 5, { hasSlot: false })], waiting: [waits('1', LARGE)] },
    ['1'],
  ],
  [
    'no run of a class for which it does not claim',
    { classes: [SMALL], waiting: [waits('1', MIDDLE), waits('2', SMALL, { durationMs: 1 })] },
    ['2'],
  ],
  [
    'a run that ends before the oldest one could start',
    {
      running: [runs('a', MIDDLE, 5)],
      waiting: [waits('1', LARGE), waits('2', SMALL, { durationMs: 5 * MINUTE })],
    },
    ['2'],
  ],
  [
    'no run that would delay the oldest one',
    {
      running: [runs('a', MIDDLE, 5)],
      waiting: [waits('1', LARGE), waits('2', SMALL, { durationMs: 5 * MINUTE + 1 })],
    },
    [],
  ],
  [
    'a long run beside which the oldest one fits at its start',
    {
      hosts: [buildHost('a', 32)],
      running: [runs('a', LARGE, 5), runs('a', SMALL, 9)],
      waiting: [waits('1', LARGE), waits('2', SMALL)],
    },
    ['2'],
  ],
  [
    'a long run when the oldest one starts earlier on another worker',
    {
      hosts: [buildHost('a', 16), buildHost('b', 16)],
      running: [runs('a', MIDDLE, 5), runs('b', LARGE, 4)],
      waiting: [waits('1', LARGE), waits('2', SMALL)],
    },
    ['2'],
  ],
  [
    'no long run when the oldest one starts earliest here',
    {
      hosts: [buildHost('a', 16), buildHost('b', 16)],
      running: [runs('a', MIDDLE, 5), runs('b', LARGE, 6)],
      waiting: [waits('1', LARGE), waits('2', SMALL)],
    },
    [],
  ],
  [
    'no long run when the oldest one has waited too long for the other worker',
    {
      hosts: [buildHost('a', 16), buildHost('b', 16)],
      running: [runs('a', MIDDLE, 5)],
      waiting: [waits('1', LARGE, { createdAt: NOW - 10 * MINUTE }), waits('2', SMALL)],
    },
    [],
  ],
  [
    'nothing before a run that outlives its expected end can end',
    { running: [runs('a', MIDDLE, -5)], waiting: [waits('1', LARGE), waits('2', SMALL)] },
    [],
  ],
  [
    'past a run for which every worker is too small',
    { hosts: [buildHost('a', 8)], waiting: [waits('1', LARGE), waits('2', MIDDLE)] },
    ['2'],
  ],
  [
    'past a run that requires a label that it has not',
    { waiting: [waits('1', LARGE, { labels: ['gpu'] }), waits('2', LARGE)] },
    ['2'],
  ],
  [
    'past a run that waits for a worker with a label',
    {
      hosts: [buildHost('a', 16), buildHost('b', 16, { labels: ['gpu'] })],
      running: [runs('b', LARGE, 9)],
      waiting: [waits('1', LARGE, { labels: ['gpu'] }), waits('2', LARGE)],
    },
    ['2'],
  ],
  [
    'a run whose labels it has',
    {
      hosts: [buildHost('a', 16, { labels: ['gpu', 'region=eu'] })],
      waiting: [waits('1', LARGE, { labels: ['region=eu'] })],
    },
    ['1'],
  ],
  [
    'as many runs as the licence has free tokens',
    {
      hosts: [SLOTS],
      licenses: { gurobi: 3 },
      running: [runs('b', SMALL, 5, { licenses: { gurobi: 2 } })],
      waiting: [waits('1', SMALL, { licenses: GUROBI }), waits('2', SMALL, { licenses: GUROBI })],
    },
    ['1'],
  ],
  [
    'no run with the token of one that starts now, though past runs ended when they started',
    {
      hosts: [SLOTS],
      licenses: { gurobi: 1 },
      waiting: ['1', '2'].map((id) => waits(id, SMALL, { licenses: GUROBI, durationMs: 0 })),
    },
    ['1'],
  ],
  [
    'none whose tokens a waiting workflow occupies',
    {
      hosts: [SLOTS],
      licenses: { gurobi: 1 },
      running: [runs('b', SMALL, 5, { licenses: GUROBI, hasSlot: false })],
      waiting: [waits('1', SMALL, { licenses: GUROBI })],
    },
    [],
  ],
  [
    'a run without tokens into a slot beside the one that is reserved',
    {
      hosts: [SLOTS],
      licenses: { gurobi: 1 },
      running: [runs('b', SMALL, 5, { licenses: GUROBI })],
      waiting: [waits('1', SMALL, { licenses: GUROBI }), waits('2', SMALL), waits('3', SMALL)],
    },
    ['2'],
  ],
  [
    'past a run that requires more tokens than there are',
    {
      hosts: [SLOTS],
      licenses: { gurobi: 1 },
      waiting: [waits('1', SMALL, { licenses: { gurobi: 2 } }), waits('2', SMALL), waits('3', SMALL)],
    },
    ['2', '3'],
  ],
  [
    'past a run with a licence that the account has not',
    { hosts: [SLOTS], waiting: [waits('1', SMALL, { licenses: { constructor: 1 } }), waits('2', SMALL)] },
    ['2'],
  ],
  [
    'no run that takes the token of an older one, which another worker starts',
    {
      hosts: [SLOTS, buildHost('b', null, { labels: ['gpu'] })],
      licenses: { gurobi: 1 },
      waiting: [
        waits('1', SMALL, { licenses: GUROBI, labels: ['gpu'] }),
        waits('2', SMALL, { licenses: GUROBI }),
      ],
    },
    [],
  ],
  [
    'no run beyond the quota of the account',
    {
      hosts: [SLOTS],
      quotas: { accounts: new Map([[ACCOUNT, 1]]), applications: new Map() },
      waiting: [waits('1', SMALL), waits('2', SMALL), waits('3', SMALL, { account: 'other' as AccountId })],
    },
    ['1', '3'],
  ],
  [
    'no run beyond the quota of the application',
    {
      hosts: [SLOTS],
      quotas: { accounts: new Map(), applications: new Map([['app', 0]]) },
      waiting: [waits('1', SMALL), waits('2', SMALL, { applicationUid: 'other' })],
    },
    ['2'],
  ],
  [
    'only runs in its scope',
    {
      hosts: [{ ...SLOTS, offer: { ...SLOTS.offer, scope: { account: ACCOUNT, applicationUids: ['app'] } } }],
      waiting: [
        waits('1', SMALL, { account: 'other' as AccountId }),
        waits('2', SMALL, { applicationUid: 'other' }),
        waits('3', SMALL),
      ],
    },
    ['3'],
  ],
])('a worker starts %s', (_, testCase, expected) => {
  expect(plan(testCase)).toEqual(expected);
});
