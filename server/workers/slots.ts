/** Slots of workers. A class with its own slots has its own pool; all other classes share one pool. */
import { EXECUTION_CLASSES, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { Capacity } from '../config.ts';

export interface Pool {
  classes: readonly ExecutionClass[];
  slots: number;
}

/** Returns the pools of a capacity; each class is in exactly one of them. */
export function createPools(capacity: Capacity): Pool[] {
  const ownPools = EXECUTION_CLASSES.flatMap((name): Pool[] => {
    const slots = capacity.perClass[name];
    return slots === undefined ? [] : [{ classes: [name], slots }];
  });
  const sharedClasses = EXECUTION_CLASSES.filter((name) => capacity.perClass[name] === undefined);
  return sharedClasses.length > 0
    ? [...ownPools, { classes: sharedClasses, slots: capacity.shared }]
    : ownPools;
}

/** Returns the pool that serves the class. */
function findPool(pools: readonly Pool[], name: ExecutionClass): Pool {
  const found = pools.find((pool) => pool.classes.includes(name));
  if (!found) throw new Error(`No pool serves the execution class ${name}.`);
  return found;
}

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

/** Tracks the busy slots of one worker by pool. */
export class SlotTracker {
  readonly pools: readonly Pool[];
  readonly #busy = new Map<Pool, number>();

  constructor(capacity: Capacity) {
    this.pools = createPools(capacity);
  }

  countFree(pool: Pool): number {
    return pool.slots - (this.#busy.get(pool) ?? 0);
  }

  /** Acquires a slot and returns a function that releases it; further calls of that function do nothing. */
  acquire(name: ExecutionClass): () => void {
    const pool = findPool(this.pools, name);
    this.#busy.set(pool, (this.#busy.get(pool) ?? 0) + 1);
    let isAcquired = true;
    return () => {
      if (!isAcquired) return;
      isAcquired = false;
      this.#busy.set(pool, (this.#busy.get(pool) ?? 0) - 1);
    };
  }

  get busyCount(): number {
    return [...this.#busy.values()].reduce((sum, count) => sum + count, 0);
  }
}
