/** Delays that double after each failure in a row. */

/** Keeps the power of two finite, whatever the number of failures. */
const DOUBLINGS_MAX = 30;

/** Returns the delay in milliseconds after the n-th failure in a row, counted from 1: `firstMs`, twice that, up to `maxMs`. */
export function computeBackoffMs(failures: number, firstMs: number, maxMs: number): number {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, DOUBLINGS_MAX), maxMs);
}
