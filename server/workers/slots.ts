/**
 * Slots. Classes with slots of their own are a pool each; all others share one pool. Pure, but for the counting of what
 * is busy.
 */
import { EXECUTION_CLASSES, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { Capacity } from '../config.ts';

export interface Pool {
  classes: readonly ExecutionClass[];
  slots: number;
}

/** The pools of a capacity; together they hold every class once. */
function createPools(capacity: Capacity): Pool[] {
  const own = EXECUTION_CLASSES.flatMap((name): Pool[] => {
    const slots = capacity.perClass[name];
    return slots === undefined ? [] : [{ classes: [name], slots }];
  });
  const rest = EXECUTION_CLASSES.filter((name) => capacity.perClass[name] === undefined);
  return rest.length > 0 ? [...own, { classes: rest, slots: capacity.shared }] : own;
}

/** The pool that serves the class. */
function findPool(pools: readonly Pool[], name: ExecutionClass): Pool {
  const found = pools.find((pool) => pool.classes.includes(name));
  if (!found) throw new Error(`no pool serves the class ${name}`);
  return found;
}

/** What can take runs of a class, over all workers that are alive. */
export interface ClassCapacity {
  /** How many workers there are, whatever they serve. */
  workers: number;
  pools: readonly { workerId: string; pool: Pool }[];
  slots: number;
  /** Runs of these compete for the slots. */
  classes: readonly ExecutionClass[];
}

/** The pools of the workers that have a slot for the class. */
export function computeClassCapacity(
  workers: readonly { id: string; capacity: Capacity }[],
  name: ExecutionClass,
): ClassCapacity {
  const pools = workers
    .map(({ id, capacity }) => ({ workerId: id, pool: findPool(createPools(capacity), name) }))
    .filter(({ pool }) => pool.slots > 0);
  return {
    workers: workers.length,
    pools,
    slots: pools.reduce((sum, { pool }) => sum + pool.slots, 0),
    classes: [...new Set([name, ...pools.flatMap(({ pool }) => pool.classes)])],
  };
}

/** How many runs of a class a worker executes. */
export interface BusySlotCount {
  worker_id: string | null;
  execution_class: ExecutionClass;
  count: number;
}

/**
 * Slots that nothing executes in. Worker by worker: one that is full of runs of another class takes no slot from the next.
 */
export function countFreeSlots(serving: ClassCapacity, busy: readonly BusySlotCount[]): number {
  let free = 0;
  for (const { workerId, pool } of serving.pools) {
    const taken = busy
      .filter((one) => one.worker_id === workerId && pool.classes.includes(one.execution_class))
      .reduce((sum, one) => sum + one.count, 0);
    free += Math.max(0, pool.slots - taken);
  }
  return free;
}

/** What is busy in each pool of one worker. */
export class SlotTracker {
  readonly pools: readonly Pool[];
  readonly #busy = new Map<Pool, number>();

  constructor(capacity: Capacity) {
    this.pools = createPools(capacity);
  }

  countFree(pool: Pool): number {
    return pool.slots - (this.#busy.get(pool) ?? 0);
  }

  /** Takes a slot; the returned function gives it back, once. */
  acquire(name: ExecutionClass): () => void {
    const pool = findPool(this.pools, name);
    this.#busy.set(pool, (this.#busy.get(pool) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#busy.set(pool, (this.#busy.get(pool) ?? 0) - 1);
    };
  }

  get busyCount(): number {
    return [...this.#busy.values()].reduce((sum, one) => sum + one, 0);
  }
}
