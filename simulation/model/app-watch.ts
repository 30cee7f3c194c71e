/** Watches the apps on the workers: which attempts begin where, and how many at a time. */

import type { AppStart } from '../workers/simulated-runner.ts';
import type { WorkerSettings } from '../workers/simulated-worker.ts';
import { INSTANCES } from '../world/setup.ts';
import type { AcknowledgedRun } from './ledger.ts';

type Report = (promise: string, detail: string) => void;

/** The apps of one simulation. */
export class AppWatch {
  readonly #report: Report;
  readonly #workers = new Map<string, WorkerSettings>();
  /** The worker processes that began an attempt, by run and fencing token. */
  readonly #begun = new Map<string, string>();
  readonly #running = new Map<string, Set<string>>();
  /** True once a power cut may have undone claims: the server then gives them again, under the same fencing token. */
  mayRepeat = false;

  constructor(report: Report) {
    this.#report = report;
  }

  addWorker(settings: WorkerSettings): void {
    this.#workers.set(settings.name, settings);
  }

  /** An app begins to run on a worker, or ends. */
  note(event: 'start' | 'end', { key, worker }: AppStart): void {
    const running = this.#running.get(worker) ?? new Set();
    this.#running.set(worker, running);
    if (event === 'end') {
      running.delete(key);
      return;
    }
    const before = this.#begun.get(key);
    if (before !== undefined && !this.mayRepeat)
      this.#report('an attempt starts once', `${worker} started ${key}, which ${before} had started`);
    this.#begun.set(key, worker);
    running.add(key);
    const slots = this.#settingsOf(worker)?.slots ?? Number.POSITIVE_INFINITY;
    if (running.size > slots)
      this.#report('a worker has no more apps than slots', `${worker} runs ${[...running].join(', ')}`);
  }

  #settingsOf(process: string): WorkerSettings | undefined {
    const [name = ''] = process.split('.');
    return this.#workers.get(name);
  }

  /** Compares where attempts ran with what their runs require. */
  checkPlaces(runs: ReadonlyMap<string, AcknowledgedRun>): void {
    for (const [key, process] of this.#begun) {
      const run = runs.get(key.slice(0, key.lastIndexOf('-')));
      const settings = this.#settingsOf(process);
      if (!run || !settings) continue;
      if (run.instance === INSTANCES[3] && !settings.labels.includes('gpu'))
        this.#report('a run starts where its labels are', `${run.id} started on ${process}`);
      if (settings.account !== null && settings.account !== run.account)
        this.#report('a worker has runs of its accounts only', `${run.id} started on ${process}`);
    }
  }
}
