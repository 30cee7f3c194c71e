/** Slots of a worker. A class with its own slots has its own pool; all other classes share one pool. */
import { EXECUTION_CLASSES, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';

/** Slots for runs on one worker. A class without its own slots uses the shared ones. */
export interface Capacity {
  shared: number;
  perClass: Partial<Record<ExecutionClass, number>>;
}

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
export function findPool(pools: readonly Pool[], name: ExecutionClass): Pool {
  const found = pools.find((pool) => pool.classes.includes(name));
  if (!found) throw new Error(`No pool serves the execution class ${name}.`);
  return found;
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
