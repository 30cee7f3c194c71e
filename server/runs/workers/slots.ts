/** The slots of all workers together, by execution class. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { type Capacity, createPools, findPool, type Pool } from '@switchyard/worker/execute/slots.ts';
import { countFitting, SLOTS_ONLY, type WorkerOffer } from './offers.ts';

/** The slots that serve a class on all active workers. */
export interface ClassCapacity {
  /** The number of active workers, including those that do not serve the class. */
  workers: number;
  /** The number of those that drain, and so offer no slot. */
  drainingWorkers: number;
  pools: readonly { workerId: string; pool: Pool; offer: WorkerOffer }[];
  /** The class that they serve. */
  name: ExecutionClass;
  slots: number;
  /** The classes whose runs compete for the slots. */
  classes: readonly ExecutionClass[];
}

/** Finds the pools of the workers that have a slot for the class. */
export function computeClassCapacity(
  workers: readonly { id: string; capacity: Capacity; isDraining?: boolean; offer?: WorkerOffer }[],
  name: ExecutionClass,
): ClassCapacity {
  const pools = workers
    .map(({ id, capacity, offer = SLOTS_ONLY }) => ({
      workerId: id,
      pool: findPool(createPools(capacity), name),
      offer,
    }))
    .filter(({ pool }) => pool.slots > 0);
  return {
    workers: workers.length,
    drainingWorkers: workers.filter(({ isDraining }) => isDraining).length,
    pools,
    name,
    slots: pools.reduce((sum, { pool }) => sum + pool.slots, 0),
    classes: [...new Set([name, ...pools.flatMap(({ pool }) => pool.classes)])],
  };
}

/** Returns the pools of a worker, each with the number of the running runs in its slots. */
export function listPoolUse(
  capacity: Capacity,
  running: readonly { execution_class: ExecutionClass }[],
): (Pool & { busy: number })[] {
  return createPools(capacity).map((pool) => ({
    ...pool,
    busy: running.filter((run) => pool.classes.includes(run.execution_class)).length,
  }));
}

/** The number of runs of a class that a worker executes. */
export interface BusySlotCount {
  worker_id: string | null;
  execution_class: ExecutionClass;
  count: number;
}

/**
 * Counts the free slots worker by worker: a full pool of one worker takes no slot from another one.
 *
 * `fitting` counts only slots for whose runs the worker also has the cores and memory.
 */
export function countFreeSlots(
  serving: ClassCapacity,
  busy: readonly BusySlotCount[],
): { slots: number; fitting: number } {
  let [slots, fitting] = [0, 0];
  for (const { workerId, pool, offer } of serving.pools) {
    const ofWorker = busy.filter((row) => row.worker_id === workerId);
    const busyCount = ofWorker
      .filter((row) => pool.classes.includes(row.execution_class))
      .reduce((sum, row) => sum + row.count, 0);
    const free = Math.max(0, pool.slots - busyCount);
    const running = ofWorker.flatMap((row) => Array<ExecutionClass>(row.count).fill(row.execution_class));
    slots += free;
    fitting += Math.max(0, Math.min(free, countFitting(offer, running, serving.name)));
  }
  return { slots, fitting };
}
