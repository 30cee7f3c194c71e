/** The numbers of this process for monitoring, in Prometheus' text format. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  registry: Registry;
  requests: Histogram<'operation' | 'status'>;
  runsSubmitted: Counter;
  runsFinished: Counter<'status'>;
  runsRequeued: Counter;
  slotsBusy: Gauge;
  webhookAttempts: Counter<'status'>;
  damagedBlobs: Counter<'damage'>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'switchyard_' });
  const registers = [registry];
  return {
    registry,
    requests: new Histogram({
      name: 'switchyard_http_request_seconds',
      help: 'Time to answer, by operation and status.',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers,
    }),
    runsSubmitted: new Counter({
      name: 'switchyard_runs_submitted_total',
      help: 'Runs made here, external ones too.',
      registers,
    }),
    runsFinished: new Counter({
      name: 'switchyard_runs_finished_total',
      help: 'Runs whose app was ended here, by status.',
      labelNames: ['status'],
      registers,
    }),
    runsRequeued: new Counter({
      name: 'switchyard_runs_requeued_total',
      help: 'Runs queued again: their worker died, was shut down, or could not start the app.',
      registers,
    }),
    slotsBusy: new Gauge({
      name: 'switchyard_slots_busy',
      help: 'Runs executing on this machine.',
      registers,
    }),
    damagedBlobs: new Counter({
      name: 'switchyard_damaged_blobs_total',
      help: 'Reads of stored content that failed because its blob is missing, truncated or changed.',
      labelNames: ['damage'],
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'switchyard_webhook_attempts_total',
      help: 'Attempts made here to deliver an event to a webhook, by how they ended.',
      labelNames: ['status'],
      registers,
    }),
  };
}
