/**
 * Leader election. Of all servers on a database one leads: it runs the background jobs of all. The leader renews a lease in
 * the database. A leader that is killed, suspended or cut off from the database does not, so another server gets the
 * lease when it has expired. A leader that stops releases it.
 *
 * Two servers may run jobs at the same time: one that was suspended continues until its next renewal fails. Each job is safe
 * then, because every row is one transaction that checks what it relies on (define-job.ts).
 */
import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { createLease, type Lease, type LeaseHolder, type LeaseState } from '../database/lease.ts';
import { errorMessage, type Log } from '../log.ts';
import type { Job } from './define-job.ts';

const LEASE_NAME = 'background-jobs';
/** Another server leads at most this long after the last renewal, and one interval. Promised: within 5 s. */
const LEASE_MS = 3000;
/** Two renewals may be late before the lease expires. */
const RENEWAL_INTERVAL_MS = 1000;
/** An attempt just before the end of a lease would wait a whole interval. */
const MARGIN_MS = 20;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  holder: LeaseHolder;
}

/** The part of this process in the election. */
export class Leadership {
  readonly #parts: Parts;
  readonly #lease: Lease;
  /** Jobs to start when this process leads, in this order. */
  readonly #jobs: Job[] = [];
  #state: LeaseState | null = null;
  #isLeader = false;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #isStarted = false;
  #cancelTimer = (): void => {};
  #unlisten = (): void => {};
  #attempt: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | null = null;
  /** Starts and stops of jobs, one after the other. */
  #changes: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#lease = createLease(parts.database, {
      ...{ name: LEASE_NAME, durationMs: LEASE_MS },
      holder: parts.holder,
    });
  }

  /** True while this process runs the background jobs. */
  get isLeader(): boolean {
    return this.#isLeader;
  }

  /** Takes part in the election, and resolves after the first attempt. */
  async start(): Promise<void> {
    this.#isStarted = true;
    this.#unlisten = this.#parts.database.listen('leader-left', () => this.#retry());
    await this.#acquire();
  }

  /** Adds jobs, which run while this process leads. They stop in the reverse order. */
  addJobs(jobs: readonly Job[]): void {
    this.#jobs.push(...jobs);
    if (this.#isLeader) for (const job of jobs) job.start();
  }

  /** Leaves the election and stops the jobs. Another server leads at once if this process did. */
  stop(): Promise<void> {
    this.#stopped ??= this.#leave();
    return this.#stopped;
  }

  async #leave(): Promise<void> {
    const { database, log } = this.#parts;
    this.#isStarted = false;
    this.#cancelTimer();
    this.#unlisten();
    await this.#attempt;
    const wasLeader = this.#isLeader;
    this.#setLeader(false);
    await this.#changes;
    if (!wasLeader) return;
    try {
      await this.#lease.release();
      database.notify('leader-left');
    } catch (error) {
      log.warn({ error: errorMessage(error) }, 'Lease on background jobs not released; it expires in 3 s');
    }
  }

  #retry(): void {
    if (this.#isLeader || !this.#isStarted) return;
    void this.#acquire();
  }

  /** Attempts to get or renew the lease, once at a time, and schedules the next attempt. */
  #acquire(): Promise<void> {
    this.#cancelTimer();
    this.#attempt = this.#attempt.then(async () => {
      if (!this.#isStarted) return;
      await this.#tryLease();
      this.#scheduleAttempt();
    });
    return this.#attempt;
  }

  #scheduleAttempt(): void {
    this.#cancelTimer();
    const remainingMs = this.#state?.remainingMs ?? RENEWAL_INTERVAL_MS;
    if (!this.#isStarted || remainingMs === Number.POSITIVE_INFINITY) return;
    const delayMs = this.#isLeader
      ? RENEWAL_INTERVAL_MS
      : Math.min(RENEWAL_INTERVAL_MS, Math.max(0, remainingMs) + MARGIN_MS);
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => void this.#acquire());
  }

  async #tryLease(): Promise<void> {
    const { clock, log } = this.#parts;
    const begunAt = clock.elapsed();
    try {
      this.#state = await this.#lease.acquire();
      if (this.#state.isHeld) this.#renewedAt = begunAt;
      this.#setLeader(this.#state.isHeld);
    } catch (error) {
      log.warn({ error: errorMessage(error) }, 'Lease on background jobs could not be read');
      // No server can get it while the database is unavailable, so the last leader may continue to lead afterwards.
      if (clock.elapsed() - this.#renewedAt < LEASE_MS) return;
      this.#state = null;
      this.#setLeader(false);
    }
  }

  #setLeader(isLeader: boolean): void {
    if (isLeader === this.#isLeader) return;
    this.#isLeader = isLeader;
    const { log } = this.#parts;
    const fields = { fence: this.#state?.fence, leader: this.#state?.holderName };
    if (isLeader) log.info(fields, 'This server runs the background jobs now');
    else if (this.#isStarted) log.warn(fields, 'This server does not run the background jobs any more');
    this.#changes = this.#changes.then(async () => {
      if (isLeader) for (const job of this.#jobs) job.start();
      else for (const job of this.#jobs.toReversed()) await job.stop();
    });
  }
}

/** Registers the metric that says whether this process leads. Its sum over all servers is 1. */
export function registerLeaderMetric(registry: Registry, leadership: Pick<Leadership, 'isLeader'>): void {
  new Gauge({
    name: 'switchyard_leader',
    help: '1 while this server runs the background jobs of all servers on the database, 0 while another one does.',
    registers: [registry],
    collect() {
      this.set(leadership.isLeader ? 1 : 0);
    },
  });
}
