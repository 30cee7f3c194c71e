/**
 * Faults of the host under a run: they are retried without being counted, with growing pauses, and never fail a run. What
 * could be the doing of the app or of this program is counted, or it would be tried for ever.
 */
import { RETRY_DELAY_MAX_MS } from '../queue/claim-runs.ts';
import { isHostError } from '../results/host-errors.ts';
import type { AttemptOutcome } from './finalize.ts';

const FIRST_RETRY_DELAY_MS = 1_000;
const FIRST_CLAIM_PAUSE_MS = 500;
const CLAIM_PAUSE_MAX_MS = 30_000;

/** Whether the attempt was ended by such a fault. */
export function isEndedByHostFault(end: AttemptOutcome): boolean {
  if (end.kind === 'unstarted') return isHostError(end.error);
  return end.kind === 'ended' && end.hostFault === true;
}

/** How long a run waits after its n-th fault in a row, counted from 1. */
export function retryDelayMs(faults: number): number {
  return Math.min(FIRST_RETRY_DELAY_MS * 2 ** Math.min(faults - 1, 30), RETRY_DELAY_MAX_MS);
}

/** How long a worker claims nothing after the n-th attempt in a row that its host ended, counted from 1. */
export function claimPauseMs(faults: number): number {
  return Math.min(FIRST_CLAIM_PAUSE_MS * 2 ** Math.min(faults - 1, 30), CLAIM_PAUSE_MAX_MS);
}
