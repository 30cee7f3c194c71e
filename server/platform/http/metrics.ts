/** The metrics of this process in the text format of Prometheus. */
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { createJobMetrics, type JobMetrics } from '../jobs/job-metrics.ts';

/**
 * With three statuses and two metrics, a process has at most 1,206 series by application. These name accounts and
 * applications, so the server shows them only to a caller who may know both.
 * A server may have thousands of applications, and Prometheus stores each combination of labels for weeks. So the
 * first APPLICATIONS_MAX applications whose runs this process has ended have their own series, and all others share
 * one.
 */
export const APPLICATIONS_MAX = 200;

const OTHER = { account: '', application: 'other' };

/** The registry, and the metrics that other modules update. */
export interface Metrics {
  registry: Registry;
  requests: Histogram<'operation' | 'status'>;
  runsSubmitted: Counter;
  runsFinished: Counter<'status'>;
  runSeconds: Histogram<'execution_class' | 'status'>;
  runsRequeued: Counter;
  slotsBusy: Gauge;
  webhookAttempts: Counter<'status'>;
  damagedBlobs: Counter<'damage'>;
  spans: Counter<'result'>;
  applications: ApplicationMetrics;
  jobs: JobMetrics;
}

/** Returns new metrics in their own registry, with those of Node.js. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'switchyard_' });
  const registers = [registry];
  const metrics: Metrics = {
    registry,
    jobs: createJobMetrics(registry),
    requests: new Histogram({
      name: 'switchyard_http_request_seconds',
      help: 'Response time in seconds, by operation and status, without the wait of wait_seconds.',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers,
    }),
    runsSubmitted: new Counter({
      name: 'switchyard_runs_submitted_total',
      help: 'Runs submitted to this process, including external runs.',
      registers,
    }),
    runsFinished: new Counter({
      name: 'switchyard_runs_finished_total',
      help: 'Runs whose app ended on this machine, by status.',
      labelNames: ['status'],
      registers,
    }),
    runSeconds: new Histogram({
      name: 'switchyard_run_seconds',
      help: 'Execution time of apps on this machine in seconds, by execution class and status of the run.',
      labelNames: ['execution_class', 'status'],
      buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 10_800, 43_200],
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
    spans: new Counter({
      name: 'switchyard_spans_total',
      help: 'Spans that this process has exported, or could not export.',
      labelNames: ['result'],
      registers,
    }),
    applications: new ApplicationMetrics(),
    webhookAttempts: new Counter({
      name: 'switchyard_webhook_attempts_total',
      help: 'Attempts of this process to deliver an event to a webhook, by result.',
      labelNames: ['status'],
      registers,
    }),
  };
  startAtZero(metrics);
  return metrics;
}

/** Prometheus sees no increase from nothing to 1, so an alert would miss the first damage of a process. */
function startAtZero({ runsFinished, damagedBlobs, webhookAttempts, spans }: Metrics): void {
  for (const status of ['succeeded', 'failed', 'canceled']) runsFinished.inc({ status }, 0);
  for (const damage of ['missing', 'truncated', 'changed']) damagedBlobs.inc({ damage }, 0);
  for (const status of ['succeeded', 'timed_out', 'failed']) webhookAttempts.inc({ status }, 0);
  for (const result of ['exported', 'failed']) spans.inc({ result }, 0);
}

/** The queued runs of one execution class. */
export interface QueuedInClass {
  execution_class: string;
  count: number;
  /** When the oldest run was created, in milliseconds since the epoch. */
  oldest: number;
}

/** More frequent scrapes get cached values, because counting a queue of 100,000 runs takes tens of milliseconds. */
const READ_INTERVAL_MS = 5000;

/** Registers the length of the queue and the wait of its oldest run. Each scrape reads both from the database. */
export function registerQueueMetrics(
  metrics: Pick<Metrics, 'registry'>,
  { clock, read }: { clock: Clock; read(): Promise<QueuedInClass[]> },
): void {
  const readQueue = cacheReads(clock, read);
  const register = (name: string, help: string, value: (queued: QueuedInClass) => number): void =>
    registerStoredGauge(metrics, readQueue, {
      ...{ name, help, labelNames: ['execution_class'] },
      list: (queued) =>
        EXECUTION_CLASSES.map((execution_class) => {
          const queuedInClass = queued.find((one) => one.execution_class === execution_class);
          return [{ execution_class }, queuedInClass ? value(queuedInClass) : 0];
        }),
    });
  register('switchyard_queue_runs', 'Queued runs in the database, by execution class.', ({ count }) => count);
  register(
    'switchyard_queue_oldest_seconds',
    'Seconds since the oldest queued run in the database was created, by execution class; 0 without one.',
    ({ oldest }) => Math.max(0, (clock.now() - oldest) / 1000),
  );
}

/** The tokens of the licences of one name, of all accounts together. */
export interface LicenseTokens {
  license: string;
  total: number;
  used: number;
}

/** Registers the licence tokens and their use. Each scrape reads both from the database. */
export function registerLicenseMetrics(
  metrics: Pick<Metrics, 'registry'>,
  { clock, read }: { clock: Clock; read(): Promise<LicenseTokens[]> },
): void {
  const readTokens = cacheReads(clock, read);
  const register = (name: string, help: string, value: (tokens: LicenseTokens) => number): void =>
    registerStoredGauge(metrics, readTokens, {
      ...{ name, help, labelNames: ['license'] },
      list: (licenses) => licenses.map((tokens) => [{ license: tokens.license }, value(tokens)]),
    });
  register(
    'switchyard_license_tokens',
    'Licence tokens of all accounts, by the name of the licence.',
    ({ total }) => total,
  );
  register(
    'switchyard_license_tokens_used',
    'Licence tokens that running runs occupy, by the name of the licence.',
    ({ used }) => used,
  );
}

/** Returns a function that reads at most every five seconds, and returns null when the database is unavailable. */
export function cacheReads<Value>(clock: Clock, read: () => Promise<Value>): () => Promise<Value | null> {
  let readAt = Number.NEGATIVE_INFINITY;
  let latest: Promise<Value | null> = Promise.resolve(null);
  return () => {
    if (clock.elapsed() - readAt < READ_INTERVAL_MS) return latest;
    readAt = clock.elapsed();
    // An unavailable database must not fail the scrape: the metrics are absent then.
    latest = read().catch(() => null);
    return latest;
  };
}

/** A gauge whose series follow from a value in the database. */
interface StoredGauge<Value, Label extends string> {
  name: string;
  help: string;
  labelNames: Label[];
  list(value: Value): readonly (readonly [labels: LabelValues<Label>, number: number])[];
}

/** Registers the gauge. Each scrape calls `read`; while that returns null, the gauge has no series. */
export function registerStoredGauge<Value, Label extends string>(
  { registry }: Pick<Metrics, 'registry'>,
  read: () => Promise<Value | null>,
  { list, ...settings }: StoredGauge<Value, Label>,
): void {
  new Gauge({
    ...settings,
    registers: [registry],
    async collect() {
      const value = await read();
      this.reset();
      // A reset sets a gauge without labels to 0.
      if (settings.labelNames.length === 0) this.remove();
      if (value === null) return;
      for (const [labels, number] of list(value)) this.set(labels, number);
    },
  });
}

/**
 * Registers the age of the last backup. Each scrape reads it from the database; the metric is absent without a backup, and
 * while the database is unavailable.
 */
export function registerBackupMetric(
  metrics: Pick<Metrics, 'registry'>,
  { clock, read }: { clock: Clock; read(): Promise<number | null> },
): void {
  registerStoredGauge(metrics, () => read().catch(() => null), {
    name: 'switchyard_backup_age_seconds',
    help: 'Seconds since the instant of the last backup that the command has made; absent without one.',
    labelNames: [],
    list: (at) => [[{}, Math.max(0, (clock.now() - at) / 1000)]],
  });
}

type Labels = 'account' | 'application' | 'status';

/** Counts the ended runs of applications and their seconds. */
export class ApplicationMetrics {
  readonly registry = new Registry();
  readonly #counted = new Set<string>();
  readonly #runs: Counter<Labels>;
  readonly #seconds: Counter<Labels>;

  constructor() {
    const labelled = {
      labelNames: ['account' as const, 'application' as const, 'status' as const],
      registers: [this.registry],
    };
    this.#runs = new Counter({
      ...labelled,
      name: 'switchyard_application_runs_total',
      help: 'Runs that this process has ended, by application and status.',
    });
    this.#seconds = new Counter({
      ...labelled,
      name: 'switchyard_application_run_seconds_total',
      help: 'Execution time of apps that this process has ended in seconds, by application and status.',
    });
  }

  /** Counts an ended run. */
  countRun(
    { account_id, application_id }: { account_id: AccountId; application_id: ApplicationId },
    status: string,
    executionMs: number,
  ): void {
    const key = `${account_id} ${application_id}`;
    if (this.#counted.size < APPLICATIONS_MAX) this.#counted.add(key);
    const names = this.#counted.has(key) ? { account: account_id, application: application_id } : OTHER;
    this.#runs.inc({ ...names, status });
    this.#seconds.inc({ ...names, status }, executionMs / 1000);
  }
}
