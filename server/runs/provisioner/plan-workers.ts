/**
 * Decides how many workers the provisioner starts and which jobs it stops. A pure function of what waits, what workers offer
 * and which jobs exist, so that tests can check it over thousands of cases.
 *
 * A queued run goes to the free slots of registered workers first, then to workers that are about to register. The rest
 * needs new workers. A run that no such worker could execute is ignored. Idle workers leave by themselves; only jobs that
 * have no worker yet are stopped for lack of work.
 */
import { CLASS_LIMITS, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { findPool, type Pool } from '@switchyard/worker/execute/slots.ts';
import { canEverServe, countFitting, type Demand as RunDemand, type WorkerOffer } from '../workers/offers.ts';
import type { WorkerJobsTable } from './schema.ts';

/** Queued runs that ask the same of a worker and that a free slot would start. */
export interface Demand extends RunDemand {
  count: number;
}

/** The offer of a worker, and its runs. */
export interface FreeOffer extends WorkerOffer {
  /** The free slots; each class is in one of the pools. */
  pools: readonly Pool[];
  /** The classes of its runs. */
  running: readonly ExecutionClass[];
}

/** A registered worker that claims runs. */
export interface PlannedWorker {
  /** The job that started it; null for a worker that somebody started. */
  jobName: string | null;
  isIdle: boolean;
  free: FreeOffer;
}

/** A job, and whether its worker is registered. */
export type PlannedJob = Omit<WorkerJobsTable, 'adapter' | 'id'> & { hasWorker: boolean };

export interface PlanSettings {
  max: number;
  idleMs: number;
  /** The offer of a worker that the provisioner starts. */
  offer: FreeOffer;
  /** Failed attempts since a worker last registered. After one, a single worker is tried until it registers. */
  failures: number;
  /** No worker is started before; null for none. */
  retryAt: number | null;
  /** Since when the provisioner has seen which workers register. Time before it counts against no job. */
  watchingSince: number;
}

export interface PlanInput {
  demand: readonly Demand[];
  workers: readonly PlannedWorker[];
  jobs: readonly PlannedJob[];
  settings: PlanSettings;
  now: number;
}

export interface StopOrder {
  name: string;
  /**
   * `unregistered`: it runs without a worker for too long. `blocked`: it cannot start for too long. `unneeded`: no run needs
   * it. `surplus`: beyond the most workers.
   */
  reason: 'unregistered' | 'blocked' | 'unneeded' | 'surplus';
}

export interface WorkerPlan {
  start: number;
  stop: readonly StopOrder[];
  /** Names of the jobs without a worker that no queued run needs. */
  unneeded: readonly string[];
  /** The number of queued runs that no worker of the provisioner could execute. */
  unservableRuns: number;
}

/** Time in which the worker of a running job must register, with the start of a container and of Node in it. */
export const REGISTRATION_TIMEOUT_MS = 180_000;
/** Time for which a job may be blocked. Kubernetes tries to pull an image five times in it, after 10, 20, 40 and 80 seconds. */
export const BLOCKED_TIMEOUT_MS = 180_000;

/** Returns what to start and to stop now. The result holds for this instant: apply it, then plan again. */
export function planWorkers({ demand, workers, jobs, settings, now }: PlanInput): WorkerPlan {
  const waiting = demand.map((one) => ({ ...one })).sort(compareSize);
  for (const { free } of workers) fill(free, waiting);
  const left = waiting.filter((one) => countAccepted(settings.offer, one) > 0);
  const unservableRuns = sum(waiting) - sum(left);

  const live = jobs.filter((job) => findOverdueReason(job, settings, now) === null);
  const arriving = live
    .filter((job) => !job.hasWorker && job.stop_requested_at === null)
    .sort((one, other) => STATE_ORDER[one.state] - STATE_ORDER[other.state] || compareAge(one, other));
  const unneeded = arriving.filter(() => fill(settings.offer, left) === 0).map(({ name }) => name);

  const wanted = countNewWorkers(left, settings, jobs.length);
  // A blocked job is the attempt that shows whether a worker can start at all.
  const isTrying = settings.failures > 0 || arriving.some((job) => job.blocked_since !== null);
  const allowed = isTrying ? (arriving.length > 0 ? 0 : 1) : wanted;
  const isBackingOff = settings.retryAt !== null && now < settings.retryAt;
  const failing = jobs.flatMap((job): StopOrder[] => {
    const reason = job.stop_requested_at === null ? findOverdueReason(job, settings, now) : null;
    return reason === null ? [] : [{ name: job.name, reason }];
  });
  return {
    // The failed starts of this plan begin a back-off.
    start: isBackingOff || failing.length > 0 ? 0 : Math.min(wanted, allowed),
    stop: [
      ...failing,
      ...listUnneeded(arriving, unneeded, settings, now),
      ...listSurplus({ jobs, workers, arriving, settings }),
    ].filter((order, index, all) => all.findIndex(({ name }) => name === order.name) === index),
    unneeded,
    unservableRuns,
  };
}

/** Jobs that are closer to a worker come first, so that those which wait in the cluster are the ones found unneeded. */
const STATE_ORDER: Record<WorkerJobsTable['state'], number> = { running: 0, starting: 1, pending: 2 };

const compareAge = (one: PlannedJob, other: PlannedJob): number =>
  one.requested_at - other.requested_at || (one.name < other.name ? -1 : 1);

/** Large runs first: they fit into the fewest holes. */
const compareSize = (one: Demand, other: Demand): number =>
  CLASS_LIMITS[other.executionClass].cores - CLASS_LIMITS[one.executionClass].cores;

const sum = (demand: readonly Demand[]): number => demand.reduce((total, { count }) => total + count, 0);

/** Returns why the job is to be stopped: its worker does not register, or it cannot start. Null while it has time left. */
function findOverdueReason(
  job: PlannedJob,
  { watchingSince }: PlanSettings,
  now: number,
): 'unregistered' | 'blocked' | null {
  if (job.hasWorker) return null;
  if (job.state !== 'running')
    return job.blocked_since !== null && now - job.blocked_since >= BLOCKED_TIMEOUT_MS ? 'blocked' : null;
  const since = Math.max(job.running_since ?? job.requested_at, job.worker_seen_at ?? 0, watchingSince);
  return now - since > REGISTRATION_TIMEOUT_MS ? 'unregistered' : null;
}

/** Puts waiting runs into the offer, subtracts them from `waiting`, and returns how many they are. */
function fill(offer: FreeOffer, waiting: Demand[]): number {
  const free = {
    ...offer,
    pools: offer.pools.map((pool) => ({ ...pool })),
    running: [...offer.running],
  };
  let filled = 0;
  for (const demand of waiting) {
    const count = countAccepted(free, demand);
    if (count === 0) continue;
    findPool(free.pools, demand.executionClass).slots -= count;
    free.running = free.running.concat(Array<ExecutionClass>(count).fill(demand.executionClass));
    demand.count -= count;
    filled += count;
  }
  return filled;
}

/** Counts the runs of the demand that fit into the offer. */
function countAccepted(offer: FreeOffer, demand: Demand): number {
  if (!canEverServe(offer, demand)) return 0;
  const { slots } = findPool(offer.pools, demand.executionClass);
  return Math.max(
    0,
    Math.min(demand.count, slots, countFitting(offer, offer.running, demand.executionClass)),
  );
}

/** Counts the new workers that the runs would fill, each of them with one run at least, up to the most that are allowed. */
function countNewWorkers(left: Demand[], { offer, max }: PlanSettings, jobs: number): number {
  let count = 0;
  while (jobs + count < max && fill(offer, left) > 0) count += 1;
  return count;
}

/** Lists the jobs without a worker that no run has needed for the idle time; a job that starts ends by itself. */
function listUnneeded(
  arriving: readonly PlannedJob[],
  unneeded: readonly string[],
  { idleMs }: PlanSettings,
  now: number,
): StopOrder[] {
  return arriving
    .filter(({ name, state, unneeded_since: since }) => {
      const isDue = since !== null && now - since >= idleMs;
      return state === 'pending' && isDue && unneeded.includes(name);
    })
    .map(({ name }) => ({ name, reason: 'unneeded' }));
}

/** Lists jobs beyond the most workers, for example after the setting was lowered: first those that wait, then idle workers. */
function listSurplus({
  jobs,
  workers,
  arriving,
  settings,
}: Pick<PlanInput, 'jobs' | 'workers' | 'settings'> & { arriving: readonly PlannedJob[] }): StopOrder[] {
  const staying = jobs.filter((job) => job.stop_requested_at === null);
  const idle = new Set(workers.flatMap(({ isIdle, jobName }) => (isIdle && jobName ? [jobName] : [])));
  const candidates = [...arriving].reverse().concat(staying.filter(({ name }) => idle.has(name)));
  return candidates
    .slice(0, Math.max(0, staying.length - settings.max))
    .map(({ name }) => ({ name, reason: 'surplus' }));
}
