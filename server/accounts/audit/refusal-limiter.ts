/** Limits the audit entries of refused requests, so that a caller without rights cannot fill the audit log. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.ts';

const REFUSAL_INTERVAL_MS = 60_000;
/** Bounds the memory to about 1 MB. A refusal that was evicted gets an entry again, which is harmless. */
export const REFUSALS_MAX = 10_000;

/** Allows one entry per minute for each kind of refusal. */
export class RefusalLimiter {
  readonly #clock: Clock;
  /** The time of the last entry, in milliseconds since the epoch, by kind of refusal. */
  readonly #recordedAt = new LRUCache<string, number>({ max: REFUSALS_MAX });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns true when the refusal gets an entry: its kind (key and operation) had none in the last minute. */
  allow(kind: string): boolean {
    const now = this.#clock.now();
    const last = this.#recordedAt.get(kind);
    if (last !== undefined && now - last < REFUSAL_INTERVAL_MS) return false;
    this.#recordedAt.set(kind, now);
    return true;
  }
}
