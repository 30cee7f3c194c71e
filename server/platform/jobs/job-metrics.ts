/** Metrics of background jobs, one series for each job. */
import { Counter, Gauge, type Registry } from 'prom-client';

export interface JobMetrics {
  lastRun: Gauge<'job'>;
  rows: Counter<'job'>;
  failures: Counter<'job'>;
}

/** Registers the metrics of all jobs; the label `job` is the name of the job. */
export function createJobMetrics(registry: Registry): JobMetrics {
  const labelled = { labelNames: ['job' as const], registers: [registry] };
  return {
    lastRun: new Gauge({
      ...labelled,
      name: 'switchyard_job_last_run_timestamp_seconds',
      help: 'When the background job last ran to its end, in seconds since the epoch.',
    }),
    rows: new Counter({
      ...labelled,
      name: 'switchyard_job_rows_total',
      help: 'Rows that the background job handled.',
    }),
    failures: new Counter({
      ...labelled,
      name: 'switchyard_job_failures_total',
      help: 'Rows that the background job could not handle, and runs of it that failed as a whole.',
    }),
  };
}
