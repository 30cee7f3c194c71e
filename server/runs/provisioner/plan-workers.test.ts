import { EXECUTION_CLASSES, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BLOCKED_TIMEOUT_MS,
  type Demand,
  type FreeOffer,
  type PlanInput,
  type PlannedJob,
  type PlannedWorker,
  type PlanSettings,
  planWorkers,
  REGISTRATION_TIMEOUT_MS,
} from './plan-workers.ts';

const NOW = 1_000_000_000;
const IDLE_MS = 60_000;
const GB = 1_000_000_000;
const ACCOUNT = 'account-a' as AccountId;

/** The offer of a worker with slots for every class. */
function buildOffer(slots: number, fields: Partial<FreeOffer> = {}): FreeOffer {
  return {
    pools: [{ classes: EXECUTION_CLASSES, slots }],
    labels: [],
    resources: null,
    scope: null,
    running: [],
    ...fields,
  };
}

function buildDemand(count: number, fields: Partial<Demand> = {}): Demand {
  return {
    ...{ account: ACCOUNT, applicationUid: 'app-1', executionClass: EXECUTION_CLASSES[0], labels: [], count },
    ...fields,
  };
}

function buildJob(name: string, fields: Partial<PlannedJob> = {}): PlannedJob {
  return {
    ...{ name, state: 'pending', requested_at: NOW - 10_000, running_since: null, worker_seen_at: null },
    ...{ unneeded_since: null, stop_requested_at: null, missing_since: null, hasWorker: false },
    ...{ pending_reason: null, blocked_since: null },
    ...fields,
  };
}

const buildWorker = (jobName: string | null, free: FreeOffer): PlannedWorker => ({
  ...{ jobName, isIdle: true, free },
});

type Case = Partial<Omit<PlanInput, 'settings'>> & { settings?: Partial<PlanSettings> };

function plan({ settings = {}, ...input }: Case) {
  return planWorkers({
    ...{ demand: [], workers: [], jobs: [], now: NOW, ...input },
    settings: {
      ...{ max: 4, idleMs: IDLE_MS, offer: buildOffer(2), failures: 0, retryAt: null, watchingSince: 0 },
      ...settings,
    },
  });
}

describe('the number of workers to start', () => {
  test.each<[string, number, Case]>([
    ['nothing waits', 0, {}],
    ['one run waits', 1, { demand: [buildDemand(1)] }],
    ['two runs fill one worker', 1, { demand: [buildDemand(2)] }],
    ['three runs need two', 2, { demand: [buildDemand(3)] }],
    ['a thousand runs need the most', 4, { demand: [buildDemand(1000)] }],
    [
      'jobs that wait in the cluster are part of the most',
      1,
      { demand: [buildDemand(1000)], jobs: ['a', 'b', 'c'].map((name) => buildJob(name)) },
    ],
    [
      'a job that stops is part of the most until it has ended',
      3,
      { demand: [buildDemand(1000)], jobs: [buildJob('a', { hasWorker: true, stop_requested_at: NOW })] },
    ],
    [
      'a blocked job is the attempt that shows whether one can start',
      0,
      { demand: [buildDemand(1000)], jobs: [buildJob('a', { blocked_since: NOW - 1000 })] },
    ],
    [
      'a job that was blocked for too long begins a back-off',
      0,
      { demand: [buildDemand(1000)], jobs: [buildJob('a', { blocked_since: NOW - BLOCKED_TIMEOUT_MS })] },
    ],
    ['a job that starts takes two runs', 1, { demand: [buildDemand(4)], jobs: [buildJob('a')] }],
    [
      'a worker with free slots takes runs, also one that somebody started',
      1,
      { demand: [buildDemand(3)], workers: [buildWorker(null, buildOffer(1))] },
    ],
    [
      'a worker of another account takes none',
      2,
      {
        demand: [buildDemand(3)],
        workers: [
          buildWorker(
            null,
            buildOffer(9, { scope: { account: 'account-b' as AccountId, applicationUids: null } }),
          ),
        ],
      },
    ],
    ['a run needs a label that the workers lack', 0, { demand: [buildDemand(5, { labels: ['gpu'] })] }],
    [
      'a run needs a label that the workers have',
      1,
      {
        demand: [buildDemand(1, { labels: ['gpu'] })],
        settings: { offer: buildOffer(2, { labels: ['gpu', 'eu'] }) },
      },
    ],
    [
      'the class needs more memory than a worker has',
      0,
      {
        demand: [buildDemand(3, { executionClass: '16c60gb12h' })],
        settings: { offer: buildOffer(8, { resources: { cores: 16, memoryBytes: 32 * GB } }) },
      },
    ],
    [
      'cores bound the runs of a worker: 16 hold two runs of six',
      2,
      {
        demand: [buildDemand(4)],
        settings: { offer: buildOffer(16, { resources: { cores: 16, memoryBytes: 99 * GB } }) },
      },
    ],
    [
      'the default class has the whole of a smaller worker',
      3,
      {
        demand: [buildDemand(3)],
        settings: { offer: buildOffer(4, { resources: { cores: 4, memoryBytes: 8 * GB } }) },
      },
    ],
    [
      'a start failed a moment ago',
      0,
      { demand: [buildDemand(9)], settings: { failures: 1, retryAt: NOW + 1 } },
    ],
    [
      'after the back-off one worker is tried',
      1,
      { demand: [buildDemand(9)], settings: { failures: 3, retryAt: NOW } },
    ],
    [
      'and no other until it registers',
      0,
      { demand: [buildDemand(9)], jobs: [buildJob('a')], settings: { failures: 3, retryAt: NOW } },
    ],
  ])('%s: %i', (_, count, input) => {
    expect(plan(input).start).toBe(count);
  });

  test('runs that no worker of the cluster could execute are counted', () => {
    const demand = [buildDemand(5, { labels: ['gpu'] }), buildDemand(2)];
    expect(plan({ demand })).toMatchObject({ start: 1, unservableRuns: 5 });
    const gpu = buildWorker(null, buildOffer(3, { labels: ['gpu'] }));
    expect(plan({ demand, workers: [gpu] })).toMatchObject({ unservableRuns: 2 });
  });
});

describe('the jobs to stop', () => {
  const overdue = { state: 'running', running_since: NOW - REGISTRATION_TIMEOUT_MS - 1 } as const;

  test.each<[string, [string, string][], Case]>([
    [
      'a job that runs without a worker for too long',
      [['a', 'unregistered']],
      { jobs: [buildJob('a', overdue)] },
    ],
    [
      'a job that cannot start for too long',
      [['a', 'blocked']],
      { jobs: [buildJob('a', { blocked_since: NOW - BLOCKED_TIMEOUT_MS })] },
    ],
    [
      'not one that is blocked for a moment',
      [],
      { demand: [buildDemand(2)], jobs: [buildJob('a', { blocked_since: NOW - BLOCKED_TIMEOUT_MS + 1 })] },
    ],
    ['not while its worker is registered', [], { jobs: [buildJob('a', { ...overdue, hasWorker: true })] }],
    [
      'nor right after its worker was registered',
      [],
      { jobs: [buildJob('a', { ...overdue, worker_seen_at: NOW - 1000 })] },
    ],
    [
      'nor when the server was down in that time',
      [],
      { jobs: [buildJob('a', overdue)], settings: { watchingSince: NOW - 5000 } },
    ],
    ['nor twice', [], { jobs: [buildJob('a', { ...overdue, stop_requested_at: NOW - 5000 })] }],
    [
      'a waiting job that no run has needed for the idle time',
      [['a', 'unneeded']],
      { jobs: [buildJob('a', { unneeded_since: NOW - IDLE_MS })] },
    ],
    ['not before', [], { jobs: [buildJob('a', { unneeded_since: NOW - IDLE_MS + 1 })] }],
    [
      'nor while a run needs it again',
      [],
      { jobs: [buildJob('a', { unneeded_since: NOW - IDLE_MS })], demand: [buildDemand(1)] },
    ],
    [
      'the newest waiting jobs beyond the most',
      [['new', 'surplus']],
      {
        demand: [buildDemand(9)],
        jobs: [
          buildJob('new', { requested_at: NOW - 1 }),
          buildJob('old'),
          buildJob('b', { hasWorker: true }),
        ],
        settings: { max: 2 },
      },
    ],
    [
      'then idle workers, and never a worker with a run',
      [['idle', 'surplus']],
      {
        jobs: ['idle', 'busy', 'busy-too'].map((name) =>
          buildJob(name, { state: 'running', hasWorker: true }),
        ),
        workers: [
          buildWorker('idle', buildOffer(2)),
          { ...buildWorker('busy', buildOffer(1)), isIdle: false },
          { ...buildWorker('busy-too', buildOffer(1)), isIdle: false },
        ],
        settings: { max: 1 },
      },
    ],
  ])('%s', (_, stopped, input) => {
    expect(plan(input).stop.map(({ name, reason }) => [name, reason])).toEqual(stopped);
  });
});

const anyLabels = fc.subarray(['gpu', 'eu']);
const anyDemand: fc.Arbitrary<Demand[]> = fc.array(
  fc
    .record({
      executionClass: fc.constantFrom<ExecutionClass>(...EXECUTION_CLASSES),
      labels: anyLabels,
      count: fc.integer({ min: 1, max: 200 }),
    })
    .map(({ count, ...fields }) => buildDemand(count, fields)),
  { maxLength: 4 },
);
const anyOffer: fc.Arbitrary<FreeOffer> = fc
  .record({
    slots: fc.integer({ min: 0, max: 20 }),
    labels: anyLabels,
    resources: fc.option(
      fc.record({
        cores: fc.integer({ min: 1, max: 40 }),
        memoryBytes: fc.integer({ min: GB, max: 200 * GB }),
      }),
    ),
  })
  .map(({ slots, ...fields }) => buildOffer(slots, fields));
const anyAge = fc.integer({ min: 0, max: 2 * REGISTRATION_TIMEOUT_MS }).map((age) => NOW - age);
const anyJobs: fc.Arbitrary<PlannedJob[]> = fc
  .array(
    fc.record({
      state: fc.constantFrom('starting' as const, 'pending' as const, 'running' as const),
      requested_at: anyAge,
      running_since: fc.option(anyAge),
      worker_seen_at: fc.option(anyAge),
      unneeded_since: fc.option(anyAge),
      stop_requested_at: fc.option(anyAge),
      hasWorker: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((jobs) => jobs.map((fields, index) => buildJob(`job-${index}`, fields)));
const anyInput: fc.Arbitrary<PlanInput> = fc.record({
  demand: anyDemand,
  workers: fc.array(
    anyOffer.map((free) => buildWorker(null, free)),
    { maxLength: 4 },
  ),
  jobs: anyJobs,
  settings: fc.record({
    max: fc.integer({ min: 1, max: 20 }),
    idleMs: fc.constant(IDLE_MS),
    offer: anyOffer,
    failures: fc.integer({ min: 0, max: 2 }),
    retryAt: fc.option(fc.constantFrom(NOW - 1, NOW + 1)),
    watchingSince: fc.constant(0),
  }),
  now: fc.constant(NOW),
});

/** Returns the jobs after a cluster has done what the plan says, with the ended ones gone. */
function apply({ jobs }: PlanInput, { start, stop, unneeded }: ReturnType<typeof planWorkers>): PlannedJob[] {
  const stopped = new Set(stop.map(({ name }) => name));
  return [
    ...jobs
      .filter(({ name }) => !stopped.has(name))
      .map((job) => ({
        ...job,
        unneeded_since: unneeded.includes(job.name) ? (job.unneeded_since ?? NOW) : null,
      })),
    ...Array.from({ length: start }, (_, index) =>
      buildJob(`new-${index}`, { state: 'starting', requested_at: NOW }),
    ),
  ];
}

describe('for any queue, workers and jobs', () => {
  test('there are never more jobs than allowed, nor more new workers than waiting runs', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { start } = planWorkers(input);
        const runs = input.demand.reduce((sum, { count }) => sum + count, 0);
        expect(start).toBeGreaterThanOrEqual(0);
        if (start > 0) expect(input.jobs.length + start).toBeLessThanOrEqual(input.settings.max);
        expect(start).toBeLessThanOrEqual(runs);
      }),
    );
  });

  test('a run that a new worker could take starts one at once, or has a reason to wait', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { start, unneeded, unservableRuns } = planWorkers(input);
        const runs = input.demand.reduce((sum, { count }) => sum + count, 0);
        const isFree = input.jobs.length === 0 && input.workers.length === 0;
        const isBackingOff = (input.settings.retryAt ?? 0) > NOW;
        if (isFree && !isBackingOff && runs > unservableRuns) expect(start).toBeGreaterThan(0);
        if (unneeded.length > 0) expect(start).toBe(0);
      }),
    );
  });

  test('a second plan after the first changes nothing: no worker is started only to be stopped', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const first = planWorkers(input);
        const jobs = apply(input, first);
        const second = planWorkers({ ...input, jobs });
        const newNames = jobs.filter(({ name }) => name.startsWith('new-')).map(({ name }) => name);
        expect(second.stop.filter(({ name }) => newNames.includes(name))).toEqual([]);
        expect(second.unneeded.filter((name) => newNames.includes(name))).toEqual([]);
        // Stopping a job that never registered makes place for another one.
        if (first.stop.length === 0) expect(second.start).toBe(0);
        expect(second.stop).toEqual([]);
      }),
    );
  });

  test('no worker with a run is stopped', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const busy = input.jobs.filter(({ hasWorker }) => hasWorker).map(({ name }) => name);
        expect(planWorkers(input).stop.filter(({ name }) => busy.includes(name))).toEqual([]);
      }),
    );
  });
});
