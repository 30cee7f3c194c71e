/**
 * Metrics of the state that all servers share: the workers, their slots, and the predicted start of the next run. Every
 * process reads them from the database, so each has the same values.
 */
import { EXECUTION_CLASSES, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { WORKER_STATUSES, type WorkerStatus } from '@switchyard/contract/workers/workers.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { cacheReads, type Metrics, registerStoredGauge } from '../../platform/http/metrics.ts';
import { listNextStartable } from '../../runs/queue/places.ts';
import { findPredictedStarts } from '../../runs/queue/prediction/predicted-starts.ts';
import { listSlotHolders } from '../../runs/queue/queue-order.ts';
import { listPoolUse } from '../../runs/workers/slots.ts';
import { computeWorkerStatus } from '../../runs/workers/worker-status.ts';
import { listActiveWorkers, listWorkers } from '../../runs/workers/workers.ts';

interface PredictedStart {
  executionClass: ExecutionClass;
  /** In milliseconds since the epoch. */
  earliest: number;
  latest: number;
}

interface ServiceState {
  workers: Record<WorkerStatus, number>;
  slots: { busy: number; free: number };
  starts: PredictedStart[];
}

/** Registers the metrics. Those of a database that does not respond are absent. */
export function registerStateMetrics(
  metrics: Pick<Metrics, 'registry'>,
  { clock, db }: { clock: Clock; db: Reader },
): void {
  const read = cacheReads(clock, () => readState(db, clock.now()));
  registerStoredGauge(metrics, read, {
    name: 'switchyard_workers',
    help: 'Registered workers in the database, by status.',
    labelNames: ['status'],
    list: ({ workers }) => WORKER_STATUSES.map((status) => [{ status }, workers[status]]),
  });
  registerStoredGauge(metrics, read, {
    name: 'switchyard_worker_slots',
    help: 'Slots of all workers: busy ones, and free ones of active workers.',
    labelNames: ['state'],
    list: ({ slots }) => Object.entries(slots).map(([state, count]) => [{ state }, count]),
  });
  registerStoredGauge(metrics, read, {
    name: 'switchyard_queue_predicted_start_seconds',
    help: 'Seconds until the predicted start of the next queued run, by execution class: the bounds of its 80 % range; absent without one.',
    labelNames: ['execution_class', 'bound'],
    list: ({ starts }) => {
      // One moment for both bounds, so that the latest start is never before the earliest.
      const now = clock.now();
      return starts.flatMap(({ executionClass: execution_class, earliest, latest }) =>
        Object.entries({ earliest, latest }).map(
          ([bound, at]) => [{ execution_class, bound }, Math.max(0, (at - now) / 1000)] as const,
        ),
      );
    },
  });
}

async function readState(db: Reader, now: number): Promise<ServiceState> {
  const holders = await listSlotHolders(db);
  const state: ServiceState = {
    workers: { active: 0, draining: 0, stopping: 0, unresponsive: 0 },
    slots: { busy: holders.length, free: 0 },
    starts: await readPredictedStarts(db, now),
  };
  for (const worker of await listWorkers(db)) {
    const status = computeWorkerStatus(worker, now);
    state.workers[status] += 1;
    if (status !== 'active') continue;
    const own = holders.filter((holder) => holder.worker_id === worker.id);
    for (const { slots, busy } of listPoolUse(worker.capacity, own))
      state.slots.free += Math.max(0, slots - busy);
  }
  return state;
}

/** Returns the predicted starts of the queued run of each class that is next. */
async function readPredictedStarts(db: Reader, now: number): Promise<PredictedStart[]> {
  const workers = await listActiveWorkers(db, now);
  const next = [];
  for (const name of EXECUTION_CLASSES)
    next.push(...(await listNextStartable(db, { classes: [name], workers, limit: 1 }, now)));
  const starts = await findPredictedStarts(db, next, now);
  return next.flatMap(({ id, execution_class: executionClass }) => {
    const range = starts.get(id);
    return typeof range === 'object' ? [{ executionClass, ...range }] : [];
  });
}
