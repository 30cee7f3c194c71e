/** Caches compressed response bodies that do not change. */
import { LRUCache } from 'lru-cache';

/** A body of 2 MB of JSON takes 0.2 MB. */
const TOTAL_BYTES_MAX = 16 * 1024 * 1024;
/** A larger body is not cached: it would evict the others. */
export const CACHED_BODY_BYTES_MAX = TOTAL_BYTES_MAX / 8;

/**
 * The bodies by a key that names everything that they depend on. A batch of 1,000 runs is 1 to 2 MB of JSON, and its rows
 * take 30 ms of the main thread to read and format.
 */
export type CompressedBodies = LRUCache<string, Buffer>;

export function createCompressedBodies(): CompressedBodies {
  return new LRUCache({
    maxSize: TOTAL_BYTES_MAX,
    maxEntrySize: CACHED_BODY_BYTES_MAX,
    sizeCalculation: ({ length }) => length,
  });
}
