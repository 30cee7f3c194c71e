/** The reason why a run waits: the code and the message match the same numbers of workers, slots and runs. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { QUEUE_POSITION_MAX } from '@switchyard/contract/limits.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import type { AccountId, ApplicationId, ExecutableId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Capacity } from '@switchyard/worker/execute/slots.ts';
import { describe, expect, test } from 'vitest';
import { SLOTS_ONLY, type WorkerOffer } from '../workers/offers.ts';
import { type BusySlotCount, computeClassCapacity } from '../workers/slots.ts';
import { findSuitable, type RequiredLicense } from './obstacles.ts';
import { createQueuePosition } from './order/queue-position.ts';
import type { SlotHolder } from './queue-order.ts';
import { formatRequirements } from './run-requirements.ts';
import { describeWaiting } from './waiting-reason.ts';

const SMALL: ExecutionClass = '6c9500mb870s';
const MIDDLE: ExecutionClass = '8c16gb12h';
const LARGE: ExecutionClass = '16c60gb12h';

interface Case {
  workers: Capacity[];
  busy?: BusySlotCount[];
  before?: number;
  attempt?: number;
  slotUse?: { account: number; application: number };
  fault?: { message: string; retryInMs: number };
  name?: ExecutionClass;
  holders?: SlotHolder[];
  quota?: { owner: 'account' | 'application'; limit: number; running: number };
  /** The offers of the workers, in their order; by default slots alone. */
  offers?: Partial<WorkerOffer>[];
  labels?: string[];
  licenses?: RequiredLicense[];
  /** The workflows of each worker on the level of the run, which is one. */
  workflows?: number[];
  canProvision?: boolean;
}

const NOW = Date.UTC(2026, 10, 20, 9);

function explain({ workers, busy = [], before = 0, attempt = 0, fault, name = SMALL, ...rest }: Case) {
  const {
    slotUse = { account: 0, application: 0 },
    holders = [],
    quota = null,
    offers = [],
    labels = [],
    licenses = [],
    canProvision = false,
  } = rest;
  const account = 'own' as AccountId;
  const active = workers.map((capacity, index) => ({
    id: `worker-${index}`,
    capacity,
    offer: { ...SLOTS_ONLY, ...offers[index] },
  }));
  const demand = { executionClass: name, labels, account, applicationUid: 'application' };
  const { suitable, obstacle } = findSuitable(active, demand, canProvision);
  const serving = computeClassCapacity(suitable.length > 0 ? suitable : active, name);
  const run = {
    ...createQueuePosition(6, 0, 'run-1'),
    ...formatRequirements({ requirements: { labels } }),
    ...{ account_id: account, application_uid: 'application', workflow_depth: 1 },
    api_access: rest.workflows ? '[]' : null,
    execution_class: name,
    attempt,
    host_fault: fault?.message ?? null,
    retry_at: fault ? NOW + fault.retryInMs : null,
  };
  return describeWaiting(run, {
    ...{
      serving,
      obstacle,
      canProvision,
      busy,
      before,
      holders,
      quota,
      licenses,
      account,
      now: NOW,
      slotUse,
    },
    workflows: rest.workflows
      ? new Map(rest.workflows.map((count, index) => [`worker-${index}`, count]))
      : null,
  });
}
const on = (worker: number, name: ExecutionClass, count: number): BusySlotCount => ({
  worker_id: `worker-${worker}`,
  execution_class: name,
  count,
});
const shared = (slots: number): Capacity => ({ shared: slots, perClass: {} });

const resources = (cores: number, gigabytes: number) => ({
  resources: { cores, memoryBytes: gigabytes * 1e9 },
});
const gurobi = (required: number, total: number, ...tokens: number[]): RequiredLicense => ({
  ...{ name: 'gurobi', required, total, used: tokens.reduce((sum, one) => sum + one, 0) },
  holders: tokens.map((count, index) => ({
    run_id: `run-${index}` as RunId,
    application_id: 'app' as ApplicationId,
    started_at: '2026-11-20T08:58:30.000Z',
    tokens: count,
  })),
});

const USE = { account: 2.5, application: 1.5 };
/** The fields beside the place, the reason and the message. */
type Facts = Omit<Waiting, 'place' | 'reason' | 'message'>;

test.each<[string, Case, Pick<Waiting, 'reason'> & { message: RegExp } & Facts]>([
  [
    'no worker has the label that it requires',
    { workers: [shared(4), shared(4)], offers: [{ labels: ['gp'] }], labels: ['gpu'] },
    {
      reason: 'labels_missing',
      message:
        /^The run requires the label gpu, and no active worker has it; the run waits until somebody starts one that has\.$/,
      required_labels: ['gpu'],
      can_be_provisioned: false,
    },
  ],
  [
    'no worker has all of its labels, and the server can start one',
    {
      ...{ workers: [shared(4), shared(4)], offers: [{ labels: ['gpu'] }, { labels: ['region=eu'] }] },
      ...{ labels: ['gpu', 'region=eu'], canProvision: true },
    },
    {
      reason: 'labels_missing',
      message:
        /^The run requires the labels gpu, region=eu, .* has all of them; the server can start one that has\.$/,
      required_labels: ['gpu', 'region=eu'],
      can_be_provisioned: true,
    },
  ],
  [
    'the worker with its label is full, and another one is free',
    {
      workers: [shared(1), shared(1)],
      offers: [{ labels: ['gpu'] }],
      labels: ['gpu'],
      busy: [on(0, SMALL, 1)],
    },
    { reason: 'slots_taken', message: /^The only slot/, slots: { total: 1, free: 0 } },
  ],
  [
    'every worker is smaller than its class',
    { workers: [shared(4), shared(4)], offers: [resources(8, 64), resources(4, 16)], name: LARGE },
    {
      reason: 'class_too_large',
      message:
        /^Execution class 16c60gb12h needs 16 cores and 60 GB of memory; the largest active worker that it could use has 8 cores and 64 GB of memory; /,
      required_resources: { cores: 16, memory_bytes: 60e9 },
      largest_worker: { cores: 8, memory_bytes: 64e9 },
      can_be_provisioned: false,
    },
  ],
  [
    'the only worker serves another account',
    { workers: [shared(4)], offers: [{ scope: { account: 'other' as AccountId, applicationUids: null } }] },
    {
      reason: 'no_worker',
      message: /^No active worker may execute runs of this application; /,
      workers: { active: 1, draining: 0 },
      can_be_provisioned: false,
    },
  ],
  [
    'the account has fewer tokens than it requires',
    { workers: [shared(4)], licenses: [gurobi(2, 1)] },
    {
      reason: 'licenses_missing',
      message: /^The run requires 2 tokens of the licence gurobi, and the account has 1; /,
      licenses: [gurobi(2, 1)],
    },
  ],
  [
    'runs occupy the tokens',
    { workers: [shared(4)], licenses: [gurobi(2, 4, 1, 2)] },
    {
      reason: 'licenses_taken',
      message:
        /^The run requires 2 tokens of the licence gurobi, of which 3 of 4 are in use by run-0, run-1; /,
      licenses: [gurobi(2, 4, 1, 2)],
    },
  ],
  [
    'every worker executes as many workflows of its level as it may',
    { workers: [shared(4), shared(1)], workflows: [16, 17] },
    {
      reason: 'workflows_running',
      message: /^The run is a workflow on level 2, and every worker .* executes 16 of them, /,
      workflows: { level: 2, limit: 16 },
    },
  ],
  [
    'another worker may execute one more workflow',
    { workers: [shared(4), shared(1)], workflows: [16] },
    { reason: 'about_to_start', message: /^5 of 5 slots/, slots: { total: 5, free: 5 } },
  ],
  [
    'slots are free, and no worker has its cores free',
    {
      workers: [shared(4)],
      offers: [resources(16, 64)],
      busy: [on(0, MIDDLE, 1), on(0, SMALL, 1)],
      name: MIDDLE,
    },
    {
      reason: 'resources_taken',
      message:
        /^2 of 4 slots .* are free, but no worker has 8 cores and 16 GB of memory free; this run is next\.$/,
      slots: { total: 4, free: 2 },
      required_resources: { cores: 8, memory_bytes: 16e9 },
    },
  ],
  [
    'it fits, and workers reserve capacity for the run before it',
    { workers: [shared(4)], offers: [resources(32, 64)], before: 1 },
    {
      reason: 'runs_before',
      message: /^4 of 4 slots .* are free, and one run stands before it\.$/,
      ...{ slots: { total: 4, free: 4 }, slot_use: { account: 0, application: 0 } },
    },
  ],
  [
    'F1: runs of applications that use fewer slots are before it',
    { workers: [shared(2)], busy: [on(0, SMALL, 2)], before: 3, slotUse: USE },
    {
      reason: 'slots_taken',
      message:
        /3 runs stand before it\. Runs of one priority take turns, .* account uses 2\.5, this .* 1\.5\.$/,
      ...{ slots: { total: 2, free: 0 }, slot_use: USE },
    },
  ],
])('%s: the reason and its facts', (_, testCase, { message, ...facts }) => {
  expect(explain(testCase)).toEqual({
    place: (testCase.before ?? 0) + 1,
    message: expect.stringMatching(message),
    ...facts,
  });
});

test.each<[string, Case, { place: number; reason: string; message: RegExp }]>([
  [
    'R2: its host had a fault and its pause has not ended',
    { workers: [shared(1)], fault: { message: 'The disk is full', retryInMs: 4_000 } },
    {
      place: 1,
      reason: 'host_fault',
      message:
        /^The host could not execute it: The disk is full\. It is retried at 2026-11-20T09:00:04\.000Z\.$/,
    },
  ],
  [
    'R2: its host had a fault and its pause is over',
    { workers: [shared(1)], fault: { message: 'The disk is full', retryInMs: 0 } },
    { place: 1, reason: 'about_to_start', message: /is about to start\.$/ },
  ],
  ['no worker is active', { workers: [] }, { place: 1, reason: 'no_worker', message: /No worker is active/ }],
  [
    'no active worker serves the class',
    { workers: [{ shared: 0, perClass: { [SMALL]: 4 } }], name: LARGE, before: 3 },
    { place: 4, reason: 'no_worker', message: /has a slot for execution class 16c60gb12h/ },
  ],
  [
    'its application executes as many runs as its quota allows',
    { workers: [shared(4)], busy: [on(0, SMALL, 2)], quota: { owner: 'application', limit: 2, running: 2 } },
    { place: 1, reason: 'quota', message: /^The application executes 2 of at most 2 runs at once, / },
  ],
  [
    'its account has a quota that is not used up',
    { workers: [shared(4)], busy: [on(0, SMALL, 2)], quota: { owner: 'account', limit: 3, running: 2 } },
    { place: 1, reason: 'about_to_start', message: /is about to start\.$/ },
  ],
  [
    'the one slot is taken',
    { workers: [shared(1)], busy: [on(0, LARGE, 1)] },
    { place: 1, reason: 'slots_taken', message: /^The only slot .* is taken; this run is next\.$/ },
  ],
  [
    'all slots of two workers are taken, and one run is before it',
    { workers: [shared(2), shared(1)], busy: [on(0, SMALL, 2), on(1, MIDDLE, 1)], before: 1 },
    { place: 2, reason: 'slots_taken', message: /^All 3 slots .* are taken; one run stands before it\.$/ },
  ],
  [
    'a slot is free, and other runs are before it',
    { workers: [shared(3)], busy: [on(0, SMALL, 2)], before: 2 },
    { place: 3, reason: 'runs_before', message: /^1 of 3 slots .* is free, and 2 runs stand before it\.$/ },
  ],
  [
    'there are more free slots than runs before it',
    { workers: [shared(3)], busy: [on(0, SMALL, 1)], before: 1 },
    {
      place: 2,
      reason: 'about_to_start',
      message: /^2 of 3 slots .* are free; this run is about to start\.$/,
    },
  ],
  [
    'its position is beyond the counted ones',
    { workers: [shared(1)], busy: [on(0, SMALL, 1)], before: QUEUE_POSITION_MAX },
    { place: 1001, reason: 'slots_taken', message: /1000 runs or more stand before it/ },
  ],
  [
    'it was cut short',
    { workers: [shared(1)], busy: [on(0, SMALL, 1)], attempt: 2 },
    { place: 1, reason: 'slots_taken', message: /It was started 2 times, cut short and queued again/ },
  ],
])('%s', (_, testCase, { place, reason, message }) => {
  expect(explain(testCase)).toMatchObject({ place, reason, message: expect.stringMatching(message) });
});

const holder = (
  id: string,
  seconds: number,
  more: Partial<Record<keyof SlotHolder, string | number>> = {},
): SlotHolder => ({
  id: id as RunId,
  account_id: 'own' as AccountId,
  application_id: 'app' as ApplicationId,
  application_uid: 'application',
  instance_id: 'latest',
  executable_id: 'executable' as ExecutableId,
  worker_id: 'worker-0',
  execution_class: SMALL,
  initiated_at: NOW - seconds * 1000,
  network: 0,
  containment: 'sandbox',
  ...{ max_duration: null, required_labels: null, required_licenses: null },
  ...(more as object),
});

describe('R3: every slot is taken', () => {
  const full = (holders: SlotHolder[]) => explain({ workers: [shared(2)], busy: [on(0, SMALL, 2)], holders });

  test('the message names the runs in the slots, and the time since which no slot is free', () => {
    const waiting = full([holder('run-b', 20), holder('run-a', 90, { network: 1 })]);
    expect(waiting.slots_taken_since).toBe('2026-11-20T08:59:40.000Z');
    expect(waiting.slot_holders).toEqual([
      { run_id: 'run-a', application_id: 'app', started_at: '2026-11-20T08:58:30.000Z', network: true },
      { run_id: 'run-b', application_id: 'app', started_at: '2026-11-20T08:59:40.000Z', network: false },
    ]);
    // A slot became free 20 seconds ago: the queue moves.
    expect(waiting.message).toMatch(/are taken; this run is next\.$/);
  });

  test.each<[string, SlotHolder[], RegExp]>([
    [
      'names apps that can create runs',
      [holder('run-a', 90, { network: 1 }), holder('run-b', 60)],
      /No slot has become free since 2026-11-20T08:59:00\.000Z; they are held by run-a and run-b\. run-a can reach the network\. .*SWITCHYARD_CAPACITY/,
    ],
    [
      'names all apps where nothing keeps them from the network',
      [holder('run-a', 90, { containment: 'limits' }), holder('run-b', 80, { containment: 'limits' })],
      /held by run-a and run-b\. run-a and run-b can reach the network\. /,
    ],
    [
      'says nothing of the network when no app can reach it',
      [holder('run-a', 90), holder('run-b', 80)],
      /held by run-a and run-b\.$/,
    ],
    [
      'does not name runs of other accounts',
      [holder('run-a', 90), holder('run-b', 80, { account_id: 'other', network: 1 })],
      /held by run-a and a run of another account\.$/,
    ],
  ])('for a minute or longer: the message %s', (_, holders, message) => {
    expect(full(holders).message).toMatch(message);
  });

  test.each<[string, SlotHolder[]]>([
    ['a run ended while the slots were counted', [holder('run-a', 90)]],
    ['a run is on a removed worker', [holder('run-a', 90), holder('run-b', 80, { worker_id: 'x' })]],
  ])('the message does not explain the slots when %s', (_, holders) => {
    const waiting = full(holders);
    expect(waiting).not.toHaveProperty('slot_holders');
    expect(waiting.message).toMatch(/are taken; this run is next\.$/);
  });
});
