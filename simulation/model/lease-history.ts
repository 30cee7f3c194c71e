/**
 * The times at which each worker held the lease on a run. A worker that writes for an attempt must have held it between its
 * request and the answer.
 */
import type { Scheduler } from '../kernel/scheduler.ts';

interface Lease {
  worker: string;
  from: number;
  /** null while it lasts. */
  to: number | null;
}

/** A request of a worker for an attempt. */
const ATTEMPT_PATH = /^\/v1\/workers\/([^/]+)\/runs\/([^/]+)\/(\d+)\/(end|log|files)$/;

/** The leases of one simulation. */
export class LeaseHistory {
  readonly #scheduler: Scheduler;
  readonly #report: (promise: string, detail: string) => void;
  readonly #leases = new Map<string, Lease[]>();
  readonly #current = new Map<string, Lease>();

  constructor(scheduler: Scheduler, report: (promise: string, detail: string) => void) {
    this.#scheduler = scheduler;
    this.#report = report;
  }

  /** The rows of the running runs, after a change. */
  update(rows: readonly { run: string; fence: number; worker: string }[]): void {
    const { now } = this.#scheduler;
    const held = new Set<string>();
    for (const { run, fence, worker } of rows) {
      const key = `${run} ${fence} ${worker}`;
      held.add(key);
      if (this.#current.has(key)) continue;
      const lease = { worker, from: now, to: null };
      this.#current.set(key, lease);
      const known = this.#leases.get(`${run} ${fence}`) ?? [];
      this.#leases.set(`${run} ${fence}`, [...known, lease]);
    }
    for (const [key, lease] of this.#current)
      if (!held.has(key)) {
        lease.to = now;
        this.#current.delete(key);
      }
  }

  /** The server accepted what a worker sent at the time. */
  checkAccepted(path: string, sentAt: number): void {
    const [, worker, run = '', fence = '', action = ''] = ATTEMPT_PATH.exec(path) ?? [];
    if (worker === undefined) return;
    const leases = this.#leases.get(`${run} ${fence}`) ?? [];
    if (leases.some((lease) => lease.worker === worker && (lease.to ?? Number.POSITIVE_INFINITY) >= sentAt))
      return;
    this.#report(
      'only the holder of a lease writes',
      `${worker} stored the ${action} of ${run} with the fence ${fence}`,
    );
  }
}
