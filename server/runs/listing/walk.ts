/** Walks an order chunk by chunk until it has found enough runs, or until its time is over. */
import { setImmediate } from 'node:timers/promises';
import type { FoundRun, RunPosition } from './run-filter.ts';

/** The found runs in their order, and the position up to which the order was read; null for its end. */
export interface Scan {
  found: FoundRun[];
  through: RunPosition | null;
}

/** The beginning of a walk, and the number of runs to find. */
export interface WalkRequest {
  after: RunPosition | null;
  count: number;
}

/**
 * Walks from the position. It reads at least one chunk, so that a client which follows the page tokens advances. Between
 * chunks it returns to the event loop, so that no filter blocks other requests.
 */
export async function walk(
  readChunk: (after: RunPosition | null) => Promise<Scan>,
  { after, count }: WalkRequest,
  isOver: () => boolean,
): Promise<Scan> {
  const found: FoundRun[] = [];
  for (let position = after; ; ) {
    const chunk = await readChunk(position);
    found.push(...chunk.found);
    if (found.length >= count) return { found: found.slice(0, count), through: found[count - 1] ?? null };
    position = chunk.through;
    if (position === null || isOver()) return { found, through: position };
    await setImmediate();
  }
}
