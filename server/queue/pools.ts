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
export function poolsOf(capacity: Capacity): Pool[] {
  const own = EXECUTION_CLASSES.flatMap((name): Pool[] => {
    const slots = capacity.own[name];
    return slots === undefined ? [] : [{ classes: [name], slots }];
  });
  const rest = EXECUTION_CLASSES.filter((name) => capacity.own[name] === undefined);
  return rest.length > 0 ? [...own, { classes: rest, slots: capacity.shared }] : own;
}

/** The pool that serves the class. */
export function poolFor(pools: readonly Pool[], name: ExecutionClass): Pool {
  const found = pools.find((pool) => pool.classes.includes(name));
  if (!found) throw new Error(`no pool serves the class ${name}`);
  return found;
}

/** What is busy in each pool of one worker. */
export class Slots {
  readonly pools: readonly Pool[];
  readonly #busy = new Map<Pool, number>();

  constructor(capacity: Capacity) {
    this.pools = poolsOf(capacity);
  }

  free(pool: Pool): number {
    return pool.slots - (this.#busy.get(pool) ?? 0);
  }

  /** Takes a slot; the returned function gives it back, once. */
  take(name: ExecutionClass): () => void {
    const pool = poolFor(this.pools, name);
    this.#busy.set(pool, (this.#busy.get(pool) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#busy.set(pool, (this.#busy.get(pool) ?? 0) - 1);
    };
  }

  get busy(): number {
    return [...this.#busy.values()].reduce((sum, one) => sum + one, 0);
  }
}
