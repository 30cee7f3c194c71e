/** Turns the samples of a watchdog into one measurement of the resources each second. */
import type { ProcessInfo } from '../process/processes.ts';
import type { ResourceUsage } from '../types.ts';

const INTERVAL_MS = 1_000;
/** Linux counts the processor time of processes in hundredths of a second, whatever its own clock rate is. */
const TICK_MS = 10;

/** Measures one run. */
export class ResourceSampler {
  #measuredAt: number;
  #ticks = 0;

  constructor(startedAt: number) {
    this.#measuredAt = startedAt;
  }

  /** Returns the use since the last measurement; undefined before a second has passed. `now` is in milliseconds. */
  measure(
    now: number,
    tree: readonly ProcessInfo[],
    held: { memoryBytes: number; writtenBytes: number },
  ): Omit<ResourceUsage, 'at'> | undefined {
    const elapsedMs = now - this.#measuredAt;
    if (elapsedMs < INTERVAL_MS) return undefined;
    // The processor time of a process that was not waited for is lost with it, so the sum may decrease.
    const ticks = tree.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
    const usedMs = Math.max(0, ticks - this.#ticks) * TICK_MS;
    this.#ticks = ticks;
    this.#measuredAt = now;
    return { cpuCores: usedMs / elapsedMs, ...held };
  }
}
