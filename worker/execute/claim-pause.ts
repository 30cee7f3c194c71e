/** Pauses of the claims of a worker after faults of its host. */
import { computeBackoffMs } from '../backoff.ts';

const FIRST_CLAIM_PAUSE_MS = 500;
const CLAIM_PAUSE_MAX_MS = 30_000;

/** Returns how long in milliseconds a worker pauses its claims after the n-th fault in a row, counted from 1. */
export function claimPauseMs(faults: number): number {
  return computeBackoffMs(faults, FIRST_CLAIM_PAUSE_MS, CLAIM_PAUSE_MAX_MS);
}
