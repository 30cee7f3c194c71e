/**
 * Faults of the host. An attempt that such a fault ended does not count: the run is retried with growing delays and never
 * fails for it. A fault that the app or this program may have caused counts, because the run would be retried for ever.
 */
import { RETRY_DELAY_MAX_MS } from '../queue/claim-runs.ts';
import { isHostError } from '../results/host-errors.ts';
import type { AttemptOutcome } from './finalize.ts';

const FIRST_RETRY_DELAY_MS = 1_000;
const FIRST_CLAIM_PAUSE_MS = 500;
const CLAIM_PAUSE_MAX_MS = 30_000;

/** Returns true if a fault of the host ended the attempt. */
export function isEndedByHostFault(end: AttemptOutcome): boolean {
  if (end.kind === 'unstarted') return isHostError(end.error);
  return end.kind === 'ended' && end.hostFault === true;
}

/** Returns the delay in milliseconds before a run is retried after its n-th fault in a row, counted from 1. */
export function retryDelayMs(faults: number): number {
  return Math.min(FIRST_RETRY_DELAY_MS * 2 ** Math.min(faults - 1, 30), RETRY_DELAY_MAX_MS);
}

/** Returns how long in milliseconds a worker pauses its claims after the n-th fault in a row, counted from 1. */
export function claimPauseMs(faults: number): number {
  return Math.min(FIRST_CLAIM_PAUSE_MS * 2 ** Math.min(faults - 1, 30), CLAIM_PAUSE_MAX_MS);
}
