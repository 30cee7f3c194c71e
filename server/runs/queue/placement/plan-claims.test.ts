/** Plans of claims: a table of cases, and a simulated cluster in which the oldest run is never delayed. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { CLASS_LIMITS, EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatLicenseKey,
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

interface Simulated extends WaitingNeeds {
  arrivesAt: number;
}

/** Small durations and few sorts of runs, so that they meet. */
const arbitraryRun = fc.record({
  executionClass: fc.constantFrom(...EXECUTION_CLASSES),
  durationMs: fc.integer({ min: 1, max: 30 }),
  arrivesAt: fc.integer({ min: 0, max: 40 }),
  licenses: fc.constantFrom<Record<string, number>[]>({}, {}, { gurobi: 1 }, { gurobi: 2 }, { gurobi: 4 }),
  labels: fc.constantFrom<string[][]>([], [], [], ['gpu']),
});
const arbitraryHost = fc.record({
  cores: fc.constantFrom(null, 8, 16, 24, 32),
  slots: fc.integer({ min: 1, max: 4 }),
  labels: fc.constantFrom<string[][]>([], ['gpu']),
});
const arbitraryCluster = fc.record({
  hosts: fc.array(arbitraryHost, { minLength: 1, maxLength: 3 }),
  runs: fc.array(arbitraryRun, { minLength: 1, maxLength: 14 }),
  order: fc.array(fc.nat({ max: 2 }), { minLength: 60, maxLength: 60 }),
});

const TOTAL = 3;

/** A cluster in which durations hold. It decides by itself whether a run fits, not by the plan. */
class SimulatedCluster {
  readonly hosts: Host[];
  running: (Simulated & RunningNeeds)[] = [];
  waiting: Simulated[] = [];

  constructor(hosts: { cores: number | null; slots: number; labels: string[] }[]) {
    this.hosts = hosts.map(({ cores, slots, labels }, index) =>
      buildHost(`host-${index}`, cores, { labels, pools: [{ classes: EXECUTION_CLASSES, slots }] }),
    );
  }

  fits(host: Host, run: Simulated, at: number): boolean {
    const active = this.running.filter(({ endsAt }) => endsAt > at);
    const here = active.filter(({ workerId }) => workerId === host.id);
    const { resources, labels } = host.offer;
    const sum = (key: 'cores' | 'memory_bytes') =>
      [...here, run].reduce((total, one) => total + CLASS_LIMITS[one.executionClass][key], 0);
    const tokens = [...active, run].reduce((total, { licenses }) => total + (licenses.gurobi ?? 0), 0);
    return (
      run.labels.every((label) => labels.includes(label)) &&
      here.length < (host.pools[0]?.slots ?? 0) &&
      (resources === null ||
        (sum('cores') <= resources.cores && sum('memory_bytes') <= resources.memoryBytes)) &&
      ((run.licenses.gurobi ?? 0) === 0 || tokens <= TOTAL)
    );
  }

  /** Returns the earliest start of the run if nothing else starts; infinite for a run that no worker could take. */
  findEarliest(run: Simulated, now: number): number {
    const times = [now, ...this.running.map(({ endsAt }) => endsAt)].sort((a, b) => a - b);
    return (
      times.find((at) => this.hosts.some((host) => this.fits(host, run, at))) ?? Number.POSITIVE_INFINITY
    );
  }

  claim(self: Host, now: number): Simulated[] {
    const { started } = planClaims({
      ...{
        self,
        hosts: this.hosts,
        classes: EXECUTION_CLASSES,
        running: this.running,
        waiting: this.waiting,
      },
      limit: (self.pools[0]?.slots ?? 0) - this.running.filter(({ workerId }) => workerId === self.id).length,
      licenses: new Map([[formatLicenseKey(ACCOUNT, 'gurobi'), TOTAL]]),
      quotas: { accounts: new Map(), applications: new Map() },
      now,
    });
    return started.map((id) => {
      const run = this.waiting.find((one) => one.id === id);
      if (!run || !this.fits(self, run, now)) throw new Error(`${id} does not fit.`);
      this.waiting = this.waiting.filter((one) => one !== run);
      this.running.push({ ...run, workerId: self.id, hasSlot: true, endsAt: now + run.durationMs });
      return run;
    });
  }
}

function rotate<Value>(values: readonly Value[], count: number): Value[] {
  return [...values.slice(count % values.length), ...values.slice(0, count % values.length)];
}

describe('in a cluster in which durations hold', () => {
  test('the oldest run starts no later than without the later ones, every run starts, and nothing is exceeded', () => {
    fc.assert(
      fc.property(arbitraryCluster, ({ hosts, runs: arriving, order }) => {
        const cluster = new SimulatedCluster(hosts);
        const queue: Simulated[] = arriving
          .map((run, index) => ({ ...waits(`run-${index}`, run.executionClass), ...run }))
          .sort((one, other) => one.arrivesAt - other.arrivesAt);
        let rounds = 0;
        let now = 0;
        const bounds = new Map<RunId, number>();
        const unstartable = new Set<RunId>();
        while (queue.length + cluster.running.length > 0) {
          cluster.running = cluster.running.filter(({ endsAt }) => endsAt > now);
          while (queue[0] && queue[0].arrivesAt <= now) cluster.waiting.push(...queue.splice(0, 1));
          for (const run of cluster.waiting)
            if (cluster.findEarliest(run, now) === Number.POSITIVE_INFINITY) unstartable.add(run.id);
          // Workers poll in any order, until none of them starts a run.
          let hasStarted = true;
          while (hasStarted) {
            hasStarted = false;
            for (const self of rotate(cluster.hosts, order[rounds % order.length] ?? 0)) {
              const oldest = cluster.waiting.find(({ id }) => !unstartable.has(id));
              const bound =
                oldest &&
                Math.min(
                  bounds.get(oldest.id) ?? Number.POSITIVE_INFINITY,
                  cluster.findEarliest(oldest, now),
                );
              if (oldest && bound !== undefined) bounds.set(oldest.id, bound);
              const started = cluster.claim(self, now);
              if (started.length > 0) hasStarted = true;
              for (const { id } of started) expect(now).toBeLessThanOrEqual(bounds.get(id) ?? now);
            }
            rounds += 1;
          }
          const times = [
            ...cluster.running.map(({ endsAt }) => endsAt),
            ...queue.map(({ arrivesAt }) => arrivesAt),
          ];
          if (times.length === 0) break;
          now = Math.min(...times);
        }
        expect(cluster.waiting.filter(({ id }) => !unstartable.has(id))).toEqual([]);
      }),
      { seed: 17, numRuns: 400 },
    );
  });
});
