/**
 * Ends the largest run when the host, or a memory cgroup of the server, is short of memory.
 *
 * Limits bound each run by itself. Without a cgroup for each run they miss some memory (socket and pipe buffers, shared
 * pages, kernel objects), and their sum may exceed the memory of the host. Without this guard the kernel would choose:
 * among the apps (`process/oom-score.ts`), but by resident memory alone.
 */
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { MemoryScope, MemoryShortage } from '../host/memory-scopes.ts';

/** Freed memory becomes visible with a delay after the end of a run. */
const PAUSE_MS = 1_000;
/** Ending a smaller run would not help. */
const MIN_ENDED_RUN_BYTES = 128 * 1024 * 1024;
const MIN_ENDED_RUN_SHARE = 0.05;

/** Memory of one run. */
export interface MemoryEstimate {
  /** Memory that certainly belongs to the run. */
  knownBytes: number;
  /** Largest further memory that the run can hold; 0 where a cgroup counts all of it. */
  upperBoundBytes: number;
}

interface MemoryConsumer {
  estimateMemory(): MemoryEstimate;
  endForMemory(error: string): void;
}

/** Samples memory scopes and ends one run at a time. */
export class MemoryGuard {
  readonly #scopes: MemoryScope[];
  #nextSampleAt = 0;

  constructor(scopes: MemoryScope[]) {
    this.#scopes = scopes;
  }

  /** Checks all scopes. The launcher calls it every SAMPLE_INTERVAL_MS with all runs. */
  sample(now: number, runs: Iterable<MemoryConsumer>): void {
    if (now < this.#nextSampleAt) return;
    for (const scope of this.#scopes) {
      const shortage = scope.readShortage();
      if (shortage === undefined) continue;
      const minBytes = Math.min(MIN_ENDED_RUN_BYTES, scope.totalBytes * MIN_ENDED_RUN_SHARE);
      const largest = selectRunToEnd([...runs], shortage, minBytes);
      if (largest === undefined) continue;
      this.#nextSampleAt = now + PAUSE_MS;
      largest.endForMemory(
        `${scope.name} had ${formatBytes(shortage.freeBytes)} of memory left, and this app held the most: the runner stopped it to keep the others running.`,
      );
      return;
    }
  }
}

/**
 * Returns the run that holds the most memory; undefined when none holds `minBytes`. Unattributed memory is divided among
 * the runs in proportion to their upper bounds, so that a small run with a few sockets is not blamed for thousands of others.
 */
export function selectRunToEnd<Run extends Pick<MemoryConsumer, 'estimateMemory'>>(
  runs: Run[],
  { unattributedBytes }: Pick<MemoryShortage, 'unattributedBytes'>,
  minBytes: number,
): Run | undefined {
  const estimates = runs.map((run) => ({ run, ...run.estimateMemory() }));
  const upperBoundSum = estimates.reduce((sum, { upperBoundBytes }) => sum + upperBoundBytes, 0);
  const dividedBytes = Math.min(unattributedBytes, upperBoundSum);
  const [largest] = estimates
    .map(({ run, knownBytes, upperBoundBytes }) => ({
      run,
      bytes: knownBytes + (upperBoundSum === 0 ? 0 : (dividedBytes * upperBoundBytes) / upperBoundSum),
    }))
    .filter(({ bytes }) => bytes >= minBytes)
    .sort((a, b) => b.bytes - a.bytes);
  return largest?.run;
}
