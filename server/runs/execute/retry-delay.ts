/** The delay before a run is retried after a fault of its host. */
import { computeBackoffMs } from '@switchyard/worker/backoff.ts';
import { RETRY_DELAY_MAX_MS } from '../queue/order/retry-times.ts';

const FIRST_RETRY_DELAY_MS = 1_000;

/** Returns the delay in milliseconds before a run is retried after its n-th fault in a row, counted from 1. */
export function retryDelayMs(faults: number, firstMs = FIRST_RETRY_DELAY_MS): number {
  return computeBackoffMs(faults, firstMs, RETRY_DELAY_MAX_MS);
}
