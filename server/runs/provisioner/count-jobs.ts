/** The numbers of jobs that the API and the metrics show. */
import { Counter } from 'prom-client';
import type { Clock } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { cacheReads, type Metrics, registerStoredGauge } from '../../platform/http/metrics.ts';
import { readReasonCode } from './adapters/adapter.ts';
import { listJobs, readState, type WorkerJob } from './store.ts';

/** The jobs of the cluster by what they do. */
export interface JobCounts {
  pending: number;
  running: number;
  stopping: number;
}

export function countJobs(jobs: readonly WorkerJob[]): JobCounts {
  const counts: JobCounts = { pending: 0, running: 0, stopping: 0 };
  for (const { stop_requested_at, state } of jobs) {
    if (stop_requested_at !== null) counts.stopping += 1;
    else if (state === 'running') counts.running += 1;
    else counts.pending += 1;
  }
  return counts;
}

/** Jobs that wait for reasons with the same code. */
export interface PendingReasonCount {
  /** The reason of the oldest of them. */
  reason: string;
  jobs: number;
  /** When the oldest of the jobs was requested. */
  since: number;
  isBlocked: boolean;
}

/** Groups the jobs, oldest first, that wait by the code of their reason, blocked ones first, then the most jobs first. */
export function groupPendingReasons(jobs: readonly WorkerJob[]): PendingReasonCount[] {
  const groups = new Map<string, PendingReasonCount>();
  for (const { pending_reason: reason, blocked_since, requested_at, stop_requested_at } of jobs) {
    if (reason === null || stop_requested_at !== null) continue;
    const code = readReasonCode(reason);
    const group = groups.get(code) ?? { reason, jobs: 0, since: requested_at, isBlocked: false };
    groups.set(code, {
      ...group,
      jobs: group.jobs + 1,
      isBlocked: group.isBlocked || blocked_since !== null,
    });
  }
  return [...groups.values()].sort(
    (one, other) => Number(other.isBlocked) - Number(one.isBlocked) || other.jobs - one.jobs,
  );
}

/** Registers the metrics of the provisioner. Each scrape reads them from the database, so that every server has the same. */
export function registerProvisionerMetrics(
  metrics: Pick<Metrics, 'registry'>,
  { clock, db }: { clock: Clock; db: Reader },
): void {
  const read = cacheReads(clock, async () => ({
    jobs: countJobs(await listJobs(db)),
    state: await readState(db),
  }));
  registerStoredGauge(metrics, read, {
    name: 'switchyard_provisioner_jobs',
    help: 'Jobs of workers on the cluster, by state: pending, running or stopping.',
    labelNames: ['state'],
    list: ({ jobs }) => Object.entries(jobs).map(([state, count]) => [{ state }, count]),
  });
  new Counter({
    name: 'switchyard_provisioner_failed_starts_total',
    help: 'Jobs of workers that could not be submitted, were blocked, or ended before their worker registered.',
    registers: [metrics.registry],
    async collect() {
      const found = await read();
      if (!found) return;
      this.reset();
      this.inc(found.state.failed_starts);
    },
  });
  registerStoredGauge(metrics, read, {
    name: 'switchyard_provisioner_unservable_runs',
    help: 'Queued runs that no worker of the provisioner could execute.',
    labelNames: [],
    list: ({ state }) => [[{}, state.unservable_runs]],
  });
}
