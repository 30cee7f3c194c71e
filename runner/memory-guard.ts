/**
 * Ends the run that holds most when the host has hardly any memory left. Limits hold each run by itself; this is for what
 * they cannot see without cgroups (buffers of sockets, shared pages nobody looks at) and for limits that together are more
 * than the host has. Without it the kernel would choose, perhaps the server.
 */
import { readProc } from './processes.ts';
import { bytesInWords } from './sentences.ts';

/** What was freed shows a moment after the end. */
const PAUSE_MS = 1_000;
/** To end a run that holds less would not help. */
const LEAST_HELD_BYTES = 128 * 1024 * 1024;

interface Holder {
  heldBytes(): number;
  giveUpMemory(error: string): void;
}

export class MemoryGuard {
  readonly #keepFreeBytes: number;
  #nextLook = 0;

  constructor(keepFreeBytes: number) {
    this.#keepFreeBytes = keepFreeBytes;
  }

  /** Called every SAMPLE_MS with all runs. */
  sample(now: number, runs: Iterable<Holder>): void {
    if (now < this.#nextLook) return;
    const free = availableBytes();
    if (free === undefined || free >= this.#keepFreeBytes) return;
    const [most] = [...runs]
      .map((run) => ({ run, held: run.heldBytes() }))
      .filter(({ held }) => held >= LEAST_HELD_BYTES)
      .sort((one, other) => other.held - one.held);
    if (most === undefined) return;
    this.#nextLook = now + PAUSE_MS;
    most.run.giveUpMemory(
      `The host had ${bytesInWords(free)} of memory left, and this app held the most: it was stopped so that the host lives.`,
    );
  }
}

/** Memory that programs can still have without others being swapped out; undefined where the kernel does not say. */
function availableBytes(): number | undefined {
  const found = /^MemAvailable:\s+(\d+) kB/m.exec(readProc('/proc/meminfo') ?? '');
  return found === null ? undefined : Number(found[1]) * 1024;
}
