/**
 * Faults of the host under a run: they are retried without being counted, with growing pauses, and never fail a run. What
 * could be the doing of the app or of this program is counted, or it would be tried for ever.
 */
import { isHostFault } from '@switchyard/runner';
import { unavailable } from '../http/unavailable.ts';
import type { AttemptEnd } from './conclude.ts';

const FIRST_PAUSE_MS = 1_000;
/** The longest pause before the next try of one run. */
export const RETRY_PAUSE_MAX_MS = 60_000;
const FIRST_REST_MS = 500;
const REST_MAX_MS = 30_000;

/** SQLite's codes for a host without memory, a database that may not be written, and one that cannot be opened. */
const SQLITE_CODES = new Set([7, 8, 14]);

/** Whether the error is one of the host, its disk, the database or the store, which will pass or be repaired. */
export function isFaultOfHost(error: unknown): boolean {
  if (isHostFault(error) || unavailable(error) !== null) return true;
  const { errcode } = (error ?? {}) as { errcode?: number };
  return typeof errcode === 'number' && SQLITE_CODES.has(errcode & 0xff);
}

/** Whether the attempt was ended by such a fault. */
export function endedByHost(end: AttemptEnd): boolean {
  if (end.kind === 'unstarted') return isFaultOfHost(end.error);
  return end.kind === 'ended' && end.hostFault === true;
}

/** How long a run waits after its n-th fault in a row, counted from 1. */
export function retryPauseMs(faults: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(faults - 1, 30), RETRY_PAUSE_MAX_MS);
}

/** How long a worker claims nothing after the n-th attempt in a row that its host ended, counted from 1. */
export function restMs(faults: number): number {
  return Math.min(FIRST_REST_MS * 2 ** Math.min(faults - 1, 30), REST_MAX_MS);
}
