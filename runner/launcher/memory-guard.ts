/**
 * Ends the run that is most to blame when the host, or a memory cgroup that the server lives in, has hardly any memory
 * left. Limits hold each run by itself; this is for what they cannot see without a cgroup for each run (buffers of sockets
 * and pipes, shared pages nobody looks at, kernel objects) and for limits that together are more than there is. Without it
 * the kernel would choose: among the apps (`process/oom-score.ts`), but by what their processes show.
 */
import type { MemoryScope, MemoryShortage } from '../host/memory-scopes.ts';
import { formatBytes } from '../process/format.ts';

/** What was freed shows a moment after the end. */
const PAUSE_MS = 1_000;
/** To end a run that holds less would not help. */
const LEAST_HELD_BYTES = 128 * 1024 * 1024;
const LEAST_HELD_SHARE = 0.05;

export interface MemoryEstimate {
  /** What is known to be the run's. */
  knownBytes: number;
  /** What it could hold beyond that, at the very most; 0 where the kernel counts for us. */
  upperBoundBytes: number;
}

export interface MemoryConsumer {
  estimateMemory(): MemoryEstimate;
  endForMemory(error: string): void;
}

export class MemoryGuard {
  readonly #scopes: MemoryScope[];
  #nextLook = 0;

  constructor(scopes: MemoryScope[]) {
    this.#scopes = scopes;
  }

  /** Called every SAMPLE_MS with all runs. */
  sample(now: number, runs: Iterable<MemoryConsumer>): void {
    if (now < this.#nextLook) return;
    for (const scope of this.#scopes) {
      const shortage = scope.readShortage();
      if (shortage === undefined) continue;
      const least = Math.min(LEAST_HELD_BYTES, scope.totalBytes * LEAST_HELD_SHARE);
      const most = selectRunToEnd([...runs], shortage, least);
      if (most === undefined) continue;
      this.#nextLook = now + PAUSE_MS;
      most.endForMemory(
        `${scope.name} had ${formatBytes(shortage.freeBytes)} of memory left, and this app held the most: it was stopped so that the others live.`,
      );
      return;
    }
  }
}

/**
 * The run that holds most, when the memory that no process shows is shared out among the runs in proportion to what each
 * could hold of it. So a small run with a few sockets does not pay for a run that has filled thousands.
 */
export function selectRunToEnd<Run extends Pick<MemoryConsumer, 'estimateMemory'>>(
  runs: Run[],
  { unattributedBytes }: Pick<MemoryShortage, 'unattributedBytes'>,
  leastBytes: number,
): Run | undefined {
  const all = runs.map((run) => ({ run, ...run.estimateMemory() }));
  const possible = all.reduce((sum, one) => sum + one.upperBoundBytes, 0);
  const shared = Math.min(unattributedBytes, possible);
  const [most] = all
    .map(({ run, knownBytes, upperBoundBytes: possibleBytes }) => ({
      run,
      blame: knownBytes + (possible === 0 ? 0 : (shared * possibleBytes) / possible),
    }))
    .filter(({ blame }) => blame >= leastBytes)
    .sort((one, other) => other.blame - one.blame);
  return most?.run;
}
