/**
 * Metrics of runs by application, in a separate registry. They name accounts and applications, so the server shows them only
 * to a caller who may know both.
 *
 * A server may have thousands of applications, and Prometheus stores each combination of labels for weeks. So the first
 * APPLICATIONS_MAX applications whose runs this process has ended have their own series, and all others share one.
 */
import type { AccountId, ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import { Counter, Registry } from 'prom-client';

/** With three statuses and two metrics, a process has at most 1,206 series by application. */
export const APPLICATIONS_MAX = 200;

const OTHER = { account: '', application: 'other' };

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
