/**
 * The reconciler: compares what waits with what workers offer, and asks the adapter to start or stop jobs. Its state is in
 * `worker_jobs` and `provisioner_state`. A row is written before its job is submitted, so a server that is killed at any
 * moment finds the job again by its name and starts no worker twice.
 */
import { computeBackoffMs } from '@switchyard/worker/backoff.ts';
import type { Database } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { errorMessage } from '../../platform/log.ts';
import { type Random, randomText } from '../../platform/random.ts';
import type { ProvisionerSettings } from '../../platform/settings/provisioner-settings.ts';
import { listRegisteredJobs } from '../workers/registered-jobs.ts';
import { listWorkers, type WorkerDetails } from '../workers/workers.ts';
import type { ListedJob, WorkerAdapter } from './adapters/adapter.ts';
import { countDemand, isAlive, listFreeOffers } from './demand.ts';
import { expectOffer } from './expected-offer.ts';
import { createJob, listNewReasons, observeJobs } from './observe-jobs.ts';
import { planWorkers, type StopOrder, type WorkerPlan } from './plan-workers.ts';
import {
  clearMissing,
  deleteJobs,
  deleteOtherJobs,
  listJobs,
  type ProvisionerState,
  readState,
  upsertJobs,
  type WorkerJob,
  writeState,
} from './store.ts';

const INTERVAL_MS = 5000;
/** A busy queue wakes the job without a pause, and each run asks the scheduler of the cluster for all of its jobs. */
const DEBOUNCE_MS = 2500;
/** A pause between two runs from which no job may be blamed for a worker that could not register in it. */
const PAUSE_MS = 6 * INTERVAL_MS;
/** A job that SIGTERM has not ended after this time is ended by force. */
const STOP_GRACE_MS = 60_000;
const BACKOFF_MAX_MS = 5 * 60_000;
/** Without runs and jobs the cluster is asked this seldom, to adopt jobs of an earlier server. */
const QUIET_INTERVAL_MS = 60_000;
/** Submissions at the same time. */
const SUBMISSIONS = 8;
const NAME_CHARACTERS = 10;
const ERROR_CHARACTERS_MAX = 500;

export interface ProvisionerParts extends JobContext {
  database: Database;
  random: Random;
  settings: ProvisionerSettings;
  adapter: WorkerAdapter;
  /** The beginning of the names of its jobs; no other server on the cluster has it. */
  namePrefix: string;
  /** Issues a token with which a worker claims the runs of all accounts. */
  issueWorkerToken(): Promise<string>;
  publicUrl(): string;
}

/** Starts and stops workers on the cluster, as many as the queue needs. */
export function reconcileWorkersJob(parts: ProvisionerParts): Job {
  const reconciler = new WorkerReconciler(parts);
  return defineJob(parts, {
    name: 'reconcile-workers',
    intervalMs: INTERVAL_MS,
    wakeOn: ['runs-queued', 'workers-changed'],
    debounceMs: DEBOUNCE_MS,
    handle: () => reconciler.reconcile(),
  });
}

/** The facts of one run of the reconciler. */
interface Round {
  jobs: WorkerJob[];
  state: ProvisionerState;
  workers: WorkerDetails[];
  /** Names of the jobs whose worker is registered and alive. */
  registered: ReadonlySet<string>;
  now: number;
}

class WorkerReconciler {
  readonly #parts: ProvisionerParts;
  /** true after a list of jobs that failed: the next one backs off, and its success ends the error. */
  #isListFailing = false;
  #lastRound = Number.NEGATIVE_INFINITY;
  #watchingSince = 0;

  constructor(parts: ProvisionerParts) {
    this.#parts = parts;
  }

  /** Observes, plans and applies once. Errors of the cluster are stored and back off; it rejects with other errors. */
  async reconcile(): Promise<undefined> {
    const { database, clock, adapter, namePrefix } = this.#parts;
    const now = clock.now();
    if (clock.elapsed() - this.#lastRound > PAUSE_MS) this.#watchingSince = now;
    this.#lastRound = clock.elapsed();
    const { listed_at, retry_at } = await readState(database.read);
    const wasListedLately = listed_at !== null && now - listed_at < QUIET_INTERVAL_MS;
    if (wasListedLately && (await this.#isQuiet())) return;
    if (this.#isListFailing && retry_at !== null && now < retry_at) return;
    let listed: ListedJob[];
    try {
      listed = await adapter.list(namePrefix);
    } catch (error) {
      this.#isListFailing = true;
      await database.transact(clearMissing);
      return this.#recordFailures([errorMessage(error)], { starts: 0 });
    }
    const round = await this.#observe(listed);
    this.#isListFailing = false;
    const plan = planWorkers({
      // After the list, which takes seconds on a busy cluster: workers claim runs meanwhile.
      demand: await countDemand(database.read, round.now),
      workers: await listFreeOffers(database.read, round.workers, round.now),
      jobs: round.jobs.map((job) => ({ ...job, hasWorker: round.registered.has(job.name) })),
      settings: this.#formatPlanSettings(round.state),
      now: round.now,
    });
    await this.#storePlan(round, plan);
    await this.#stopJobs(round, plan.stop);
    await this.#startJobs(plan.start);
  }

  /** Returns true while there is neither a job nor a run that could need one. */
  async #isQuiet(): Promise<boolean> {
    const { database, clock } = this.#parts;
    if ((await listJobs(database.read)).length > 0) return false;
    return (await countDemand(database.read, clock.now())).length === 0;
  }

  #formatPlanSettings({ failures, retry_at }: ProvisionerState) {
    const { max, idleMs } = this.#parts.settings;
    return {
      ...{ max, idleMs, failures, retryAt: retry_at, watchingSince: this.#watchingSince },
      offer: expectOffer(this.#parts.settings),
    };
  }

  /** Stores which jobs the cluster has and which of them failed. */
  async #observe(listed: readonly ListedJob[]): Promise<Round> {
    const { database, clock, adapter, log } = this.#parts;
    const now = clock.now();
    const workers = await listWorkers(database.read);
    const registered = new Set(
      workers.flatMap((worker) => (worker.jobId !== null && isAlive(worker, now) ? [worker.jobId] : [])),
    );
    const everRegistered = new Set(await listRegisteredJobs(database.read));
    const facts = { adapter: adapter.kind, listed, registered, everRegistered, now };
    const { round, failures, newReasons } = await database.transact(async (tx) => {
      await deleteOtherJobs(tx, adapter.kind);
      const rows = await listJobs(tx);
      const observed = observeJobs({ ...facts, rows });
      await upsertJobs(tx, observed.jobs);
      await deleteJobs(tx, observed.ended);
      const state: ProvisionerState = { ...(await readState(tx)), listed_at: now };
      if (observed.registrations > 0 || this.#isListFailing)
        Object.assign(state, { failures: 0, retry_at: null, last_error: null, last_error_at: null });
      addFailures(state, observed.failures, { starts: observed.failures.length, now });
      await writeState(tx, state);
      const newReasons = listNewReasons(rows, observed.jobs);
      return {
        round: { jobs: observed.jobs, state, workers, registered, now },
        failures: observed.failures,
        newReasons,
      };
    });
    for (const failure of failures) log.error({ adapter: adapter.kind, error: failure }, 'Worker job failed');
    for (const { isBlocked, ...fields } of newReasons)
      log[isBlocked ? 'warn' : 'info'](
        { adapter: adapter.kind, ...fields },
        isBlocked ? 'Worker job cannot start' : 'Worker job waits in the cluster',
      );
    return round;
  }

  async #storePlan({ jobs, state, now }: Round, { unneeded, unservableRuns }: WorkerPlan): Promise<void> {
    const names = new Set(unneeded);
    const changed = jobs.flatMap((job) => {
      const since = names.has(job.name) ? (job.unneeded_since ?? now) : null;
      return since === job.unneeded_since ? [] : [{ ...job, unneeded_since: since }];
    });
    if (changed.length === 0 && unservableRuns === state.unservable_runs) return;
    await this.#parts.database.transact(async (tx) => {
      await upsertJobs(tx, changed);
      await writeState(tx, { ...(await readState(tx)), unservable_runs: unservableRuns });
    });
  }

  /** Stops the jobs of the orders, and ends by force those that SIGTERM did not end. */
  async #stopJobs({ jobs, now }: Round, orders: readonly StopOrder[]): Promise<void> {
    const { database, adapter, log } = this.#parts;
    const failures: string[] = [];
    for (const job of jobs) {
      const order = orders.find(({ name }) => name === job.name);
      const isOverdue = job.stop_requested_at !== null && now - job.stop_requested_at >= STOP_GRACE_MS;
      if (job.id === null || !(order || isOverdue)) continue;
      try {
        await adapter.stop(job.id, { force: isOverdue });
      } catch (error) {
        await this.#recordFailures([errorMessage(error)], { starts: 0 });
        continue;
      }
      await database.transact((tx) => upsertJobs(tx, [{ ...job, stop_requested_at: now }]));
      log.info({ job: job.name, id: job.id, reason: order?.reason ?? 'overdue' }, 'Worker job stopped');
      const failure = this.#describeFailedStart(job, order);
      if (failure !== null) failures.push(failure);
    }
    await this.#recordFailures(failures, { starts: failures.length });
  }

  /** Returns why a job that is stopped is a failed start; null when it is none. */
  #describeFailedStart({ name, id, pending_reason }: WorkerJob, order: StopOrder | undefined): string | null {
    switch (order?.reason) {
      case 'unregistered':
        return `Job ${name} (${id}) ran, but its worker did not register in time, so it was stopped. Check that the node reaches ${this.#serverUrl()}, and look at the output of the job.`;
      case 'blocked':
        return `Job ${name} (${id}) could not start in time, so it was stopped. The cluster says: ${pending_reason}`;
      default:
        return null;
    }
  }

  /** Starts jobs, a few at the same time, and none after one has failed. */
  async #startJobs(count: number): Promise<void> {
    if (count === 0) return;
    // For each round, because somebody may have revoked the one of the last.
    const token = await this.#parts.issueWorkerToken();
    for (let started = 0; started < count; started += SUBMISSIONS) {
      const submissions = Array.from({ length: Math.min(SUBMISSIONS, count - started) }, () =>
        this.#startJob(token),
      );
      const errors = (await Promise.all(submissions)).filter((error) => error !== null);
      if (errors.length === 0) continue;
      return this.#recordFailures(errors, { starts: errors.length });
    }
  }

  /** Submits one job. Returns the message of its error, or null. */
  async #startJob(token: string): Promise<string | null> {
    const { database, adapter, clock, random, settings, namePrefix, log } = this.#parts;
    const job = createJob(`${namePrefix}${randomText(random, NAME_CHARACTERS)}`, {
      adapter: adapter.kind,
      id: null,
      now: clock.now(),
    });
    await database.transact((tx) => upsertJobs(tx, [job]));
    try {
      const { labels, idleMs } = settings;
      const { size } = settings.adapter;
      const request = { name: job.name, server: this.#serverUrl(), token, labels, size, idleMs };
      const id = await adapter.start(request);
      await database.transact((tx) => upsertJobs(tx, [{ ...job, id }]));
      log.info({ job: job.name, id, adapter: adapter.kind }, 'Worker job submitted');
      return null;
    } catch (error) {
      // A job that the cluster has after the error is in its list, and is adopted.
      await database.transact((tx) => deleteJobs(tx, [job.name]));
      return errorMessage(error);
    }
  }

  #serverUrl(): string {
    return this.#parts.settings.server ?? this.#parts.publicUrl();
  }

  async #recordFailures(messages: readonly string[], { starts }: { starts: number }): Promise<undefined> {
    if (messages.length === 0) return;
    const { database, clock, adapter, log } = this.#parts;
    const retryAt = await database.transact(async (tx) => {
      const state = { ...(await readState(tx)) };
      addFailures(state, messages, { starts, now: clock.now() });
      await writeState(tx, state);
      return state.retry_at;
    });
    const retryInMs = retryAt === null ? 0 : retryAt - clock.now();
    for (const error of messages)
      log.error({ adapter: adapter.kind, error, retryInMs }, 'Provisioner failed on the cluster');
  }
}

/** Counts the failures in the state: several at the same time are one step of the back-off, which doubles from the interval. */
function addFailures(
  state: ProvisionerState,
  messages: readonly string[],
  { starts, now }: { starts: number; now: number },
): void {
  const message = messages.at(-1);
  if (message === undefined) return;
  state.failures += 1;
  state.failed_starts += starts;
  state.retry_at = now + computeBackoffMs(state.failures, INTERVAL_MS, BACKOFF_MAX_MS);
  state.last_error = message.slice(0, ERROR_CHARACTERS_MAX);
  state.last_error_at = now;
}
