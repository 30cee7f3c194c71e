/** The slots of all workers together, by execution class. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { type Capacity, createPools, findPool, type Pool } from '@switchyard/worker/execute/slots.ts';

/** The slots that serve a class on all active workers. */
export interface ClassCapacity {
  /** The number of active workers, including those that do not serve the class. */
  workers: number;
  /** The number of those that drain, and so offer no slot. */
  drainingWorkers: number;
  pools: readonly { workerId: string; pool: Pool }[];
  slots: number;
  /** The classes whose runs compete for the slots. */
  classes: readonly ExecutionClass[];
}

/** Finds the pools of the workers that have a slot for the class. */
export function computeClassCapacity(
  workers: readonly { id: string; capacity: Capacity; isDraining?: boolean }[],
  name: ExecutionClass,
): ClassCapacity {
  const pools = workers
    .map(({ id, capacity }) => ({ workerId: id, pool: findPool(createPools(capacity), name) }))
    .filter(({ pool }) => pool.slots > 0);
  return {
    workers: workers.length,
    drainingWorkers: workers.filter(({ isDraining }) => isDraining).length,
    pools,
    slots: pools.reduce((sum, { pool }) => sum + pool.slots, 0),
    classes: [...new Set([name, ...pools.flatMap(({ pool }) => pool.classes)])],
  };
}

/** The number of runs of a class that a worker executes. */
export interface BusySlotCount {
  worker_id: string | null;
  execution_class: ExecutionClass;
  count: number;
}

/** Counts the free slots, worker by worker: a full pool of one worker takes no slot from another worker. */
export function countFreeSlots(serving: ClassCapacity, busy: readonly BusySlotCount[]): number {
  let free = 0;
  for (const { workerId, pool } of serving.pools) {
    const busyCount = busy
      .filter((row) => row.worker_id === workerId && pool.classes.includes(row.execution_class))
      .reduce((sum, row) => sum + row.count, 0);
    free += Math.max(0, pool.slots - busyCount);
  }
  return free;
}
