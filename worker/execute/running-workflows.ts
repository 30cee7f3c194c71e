/**
 * The workflows of this worker: runs whose app has access to the API. A workflow holds a slot until its app creates the first
 * run. From then on it waits, and holds none until its end. Otherwise workflows could occupy every slot, and wait for runs
 * that no slot is left for.
 *
 * The number of workflows is bounded instead, on each depth by itself. A workflow waits only for runs below it. On the lowest
 * depth these are no workflows, and they find the slots, so they end. So the workflows of that depth end too, and by
 * induction those of every depth. One bound for all depths would let outer workflows keep the inner ones from starting.
 */
import { WORKFLOW_DEPTH_MAX, WORKFLOWS_PER_WORKER_MAX } from '@switchyard/contract/limits.ts';

interface RunningWorkflow {
  depth: number;
  /** Releases the slot; null once it is released. */
  release: (() => void) | null;
}

/** Counts the workflows of a worker by depth, and knows which of them hold a slot. */
export class RunningWorkflows {
  readonly #running = new Map<string, RunningWorkflow>();

  /** Adds an attempt, by its key. */
  start(key: string, depth: number, release: () => void): void {
    this.#running.set(key, { depth, release });
  }

  end(key: string): void {
    this.#running.delete(key);
  }

  /** True when a workflow holds a slot. */
  get hasSlots(): boolean {
    return [...this.#running.values()].some(({ release }) => release !== null);
  }

  /** The number of further workflows by depth. */
  get capacity(): number[] {
    const capacity = Array.from({ length: WORKFLOW_DEPTH_MAX }, () => WORKFLOWS_PER_WORKER_MAX);
    for (const { depth } of this.#running.values()) capacity[depth] = (capacity[depth] ?? 0) - 1;
    return capacity;
  }

  /** Releases the slots of these attempts; returns how many held one. */
  releaseSlots(keys: readonly string[]): number {
    let count = 0;
    for (const key of keys) {
      const workflow = this.#running.get(key);
      if (!workflow?.release) continue;
      workflow.release();
      workflow.release = null;
      count += 1;
    }
    return count;
  }
}
