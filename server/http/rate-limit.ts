/**
 * How often a key may call: a bucket per key that holds `burst` requests and fills at the rate. Kept in memory, so
 * each server process counts for itself. A refused request has had no effect.
 */
import type { Clock } from '../clock.ts';

export interface RateLimit {
  perMinute: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

export interface RateDecision {
  allowed: boolean;
  remaining: number;
  /** Seconds until one more request is allowed; 0 when it is now. */
  retryAfterSeconds: number;
}

const BUCKETS_MAX = 100_000;

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  take(key: string): RateDecision {
    const now = this.#clock.now();
    const perMs = this.#limit.perMinute / 60_000;
    const bucket = this.#buckets.get(key) ?? { tokens: this.#limit.burst, at: now };
    const filled = Math.min(this.#limit.burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
    // The rate per millisecond is rarely exact in binary; a caller who waited as long as told is let in all the same.
    const allowed = filled >= 1 - 1e-9;
    const tokens = allowed ? Math.max(0, filled - 1) : filled;
    if (this.#buckets.size >= BUCKETS_MAX) this.#buckets.clear();
    this.#buckets.set(key, { tokens, at: now });
    return {
      allowed,
      remaining: Math.floor(tokens),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - tokens) / perMs / 1000)),
    };
  }
}
