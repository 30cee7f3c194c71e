/** Plans of claims in a simulated cluster: the oldest run is never delayed. */
import { CLASS_LIMITS, EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatLicenseKey } from '../run-requirements.ts';
import { type Host, planClaims, type RunningNeeds, type WaitingNeeds } from './plan-claims.ts';

const ACCOUNT = 'account' as AccountId;

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
    this.hosts = hosts.map(({ cores, slots, labels }, index) => ({
      id: `host-${index}`,
      // The memory of the largest class for each 16 cores.
      offer: {
        labels,
        resources: cores === null ? null : { cores, memoryBytes: (cores / 16) * 60e9 },
        scope: null,
      },
      pools: [{ classes: EXECUTION_CLASSES, slots }],
    }));
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
          .map((run, index) => ({
            ...run,
            ...{ id: `run-${index}` as RunId, account: ACCOUNT, applicationUid: 'app' },
            createdAt: 0,
            isClaimable: true,
          }))
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
