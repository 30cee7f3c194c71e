/** The numbers of jobs that the API and the metrics show. */
import { Counter, Gauge } from 'prom-client';
import type { Reader } from '../database/database.ts';
import type { Metrics } from '../http/metrics.ts';
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

/** Registers the metrics of the provisioner. Each scrape reads them from the database, so that every server has the same. */
export function registerProvisionerMetrics({ registry }: Pick<Metrics, 'registry'>, db: Reader): void {
  new Gauge({
    name: 'switchyard_provisioner_jobs',
    help: 'Jobs of workers on the cluster, by state: pending, running or stopping.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      // An unavailable database must not fail the scrape.
      const jobs = await listJobs(db).catch(() => null);
      this.reset();
      for (const [state, count] of Object.entries(jobs ? countJobs(jobs) : {})) this.set({ state }, count);
    },
  });
  new Counter({
    name: 'switchyard_provisioner_failed_starts_total',
    help: 'Jobs of workers that could not be submitted or ended before their worker registered.',
    registers: [registry],
    async collect() {
      const state = await readState(db).catch(() => null);
      if (!state) return;
      this.reset();
      this.inc(state.failed_starts);
    },
  });
  new Gauge({
    name: 'switchyard_provisioner_unservable_runs',
    help: 'Queued runs that no worker of the provisioner could execute.',
    registers: [registry],
    async collect() {
      const state = await readState(db).catch(() => null);
      if (state) this.set(state.unservable_runs);
    },
  });
}
